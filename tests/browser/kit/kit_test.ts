/**
 * The kit itself: what tests in browsers stand on.
 *
 * @module
 */

import assert from "node:assert/strict";
import type * as KitPage from "./kit_page.ts";
import { browserTest, type Tab, until } from "./mod.ts";

const entries = {
  kit: new URL("kit_page.ts", import.meta.url),
  kit_worker: new URL("kit_worker.ts", import.meta.url),
};
type Page = typeof KitPage;

browserTest(
  "open() gives a page in a secure context with workers",
  { entries },
  async (place) => {
    const tab = await place.open<Page>("kit");
    assert.equal((await tab.call("place")).secure, true);
    assert.equal(await tab.call("double", 21), 42);
  },
);

browserTest("killAndRestart() brings a browser with the same files", {
  entries,
}, async (place) => {
  const tab = await place.open<Page>("kit");
  assert.deepEqual(await tab.call("kept"), []);
  await tab.call("keep", "a");
  const { pid } = place.running;
  await place.killAndRestart();
  assert.notEqual(place.running.pid, pid);
  const again = await place.open<Page>("kit");
  assert.deepEqual(await again.call("kept"), ["a"]);
  const device = await place.device();
  const other = await place.open<Page>("kit", { device });
  assert.deepEqual(await other.call("kept"), []);
});

browserTest(
  "stop() halts one page, and no other",
  { entries },
  async (place) => {
    const [first, second] = await place.openMany<Page>("kit", 2);
    assert.ok(first && second);
    assert.notEqual(await first.pid(), await second.pid());
    const goOn = await first.stop();
    let isAnswered = false;
    const asked = first.call("place").then(() => isAnswered = true);
    await runsOn(second, 20);
    assert.equal(isAnswered, false);
    goOn();
    await asked;
  },
);

browserTest(
  "freeze() halts a hidden page until thaw()",
  { entries, focus: "front" },
  async (place) => {
    const [first, second] = await place.openMany<Page>("kit", 2);
    assert.ok(first && second);
    await second.show();
    await first.freeze();
    const { ticks } = await first.call("place");
    // A hidden page that is not frozen has a turn each second.
    await runsOn(second, 150);
    assert.equal((await first.call("place")).ticks, ticks);
    await first.thaw();
    await first.show();
    await runsOn(first);
    await assert.rejects(first.freeze(), /Only a hidden page/);
  },
);

browserTest(
  "kill() ends one page's process, and no other",
  { entries },
  async (place) => {
    const [first, second] = await place.openMany<Page>("kit", 2);
    assert.ok(first && second);
    await first.kill();
    await runsOn(second);
  },
);

browserTest(
  "mayThrow lets pages throw",
  { entries, mayThrow: true },
  async (place) => {
    const tab = await place.open<Page>("kit");
    const thrown = tab.page.waitForEvent("pageerror");
    await tab.call("throwLater", "on purpose");
    await thrown;
    assert.deepEqual(place.diary.uncaught, ["on purpose"]);
    const error = place.diary.attachTo(new Error("found"));
    assert.match(
      String(error),
      /found\nwhat the pages said:\n.*uncaught: Error: on purpose/,
    );
  },
);

/** Waits until a page's timer, of 10 ms, has run a few times more. */
async function runsOn(tab: Tab<Page>, times = 5): Promise<void> {
  const { ticks } = await tab.call("place");
  const hasRun = async () => (await tab.call("place")).ticks >= ticks + times;
  await until(hasRun, `${times} turns of ${tab.name}`);
}
