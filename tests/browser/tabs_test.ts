import assert from "node:assert/strict";
import { browserTest, type Tab, until } from "./kit/mod.ts";
import type * as TabsPage from "./tabs_page.ts";

/** Of each page: long enough to lose two owners in the midst of it. */
const WRITES = 100;
/** Ten thousand come in commits of so many, and the page's clock says that each of them takes a whole slice. */
const CARDS_IN_A_SLICE = 50;
/** The clock is looked at after 8 KiB of them: five such commits, if so many have come. */
const CARDS_AT_A_STRETCH_MAX = 5 * CARDS_IN_A_SLICE;

const entries = {
  page: new URL("tabs_page.ts", import.meta.url),
  worker: new URL("../../src/browser/worker.ts", import.meta.url),
};

/** Waits until so many of a page's writes are durable. */
async function durable(tab: Tab<typeof TabsPage>, writes: number) {
  await until(
    async () => (await tab.call("report")).durable.length >= writes,
    `${writes} durable writes of ${tab.name}`,
  );
}

browserTest(
  "two tabs share one board, whoever of them is closed",
  { entries },
  async (place) => {
    const one = await place.open<typeof TabsPage>("page");
    const { role, backend } = await one.call("open");
    assert.equal(backend, "opfs");
    assert.equal(role, "owner");
    const two = await place.open<typeof TabsPage>("page");
    assert.equal((await two.call("open")).role, "follower");
    await one.call("vote");
    await until(
      async () => (await two.call("report")).titles.length === 1,
      "the follower to show what the owner wrote",
    );
    await two.call("vote");
    await until(
      async () => (await one.call("report")).votes === 1,
      "the owner to show what the follower wrote",
    );
    await two.call("write", "b", 100, 5);
    await durable(two, 10);
    await one.close();
    await durable(two, 100);
    const report = await two.call("report");
    assert.equal(report.role, "owner");
    assert.deepEqual(report.failures, []);
    assert.equal(report.titles.length, 101);
    const three = await place.open<typeof TabsPage>("page");
    await three.call("open");
    assert.deepEqual((await three.call("report")).titles, report.titles);
  },
);

browserTest(
  "five tabs write at once while owners are closed and killed; nothing is lost or doubled",
  { entries },
  async (place) => {
    const tabs = await place.openMany<typeof TabsPage>("page", 5);
    for (const tab of tabs) await tab.call("open");
    for (const [i, tab] of tabs.entries()) {
      await tab.call("write", `tab${i}`, WRITES, 10);
    }
    await durable(tabs[0]!, 10);
    const first = (await tabs[0]!.call("report")).durable;
    await tabs[0]!.close();
    await durable(tabs[1]!, 20);
    const second = (await tabs[1]!.call("report")).durable;
    await tabs[1]!.kill();
    const alive = tabs.slice(2);
    for (const tab of alive) await durable(tab, WRITES);
    const [a] = alive;
    const { titles, failures } = await a!.call("report");
    assert.deepEqual(failures, []);
    assert.equal(new Set(titles).size, titles.length, "none is there twice");
    for (const title of [...first, ...second]) {
      assert.ok(titles.includes(title), `${title} was acknowledged`);
    }
    for (const tab of alive) {
      await until(
        async () =>
          String((await tab.call("report")).titles) === String(titles),
        `${tab.name} to show the same as the others`,
      );
    }
  },
);

browserTest(
  "a page stays free to draw while another one writes ten thousand cards",
  { entries },
  async (place) => {
    const one = await place.open<typeof TabsPage>("page");
    await one.call("open");
    const two = await place.open<typeof TabsPage>("page");
    await two.call("open");
    await two.call("measure", CARDS_IN_A_SLICE);
    await one.call("bulk", 200, CARDS_IN_A_SLICE);
    await until(
      async () => await two.call("count") === 10_000,
      "the other page to have all of them",
    );
    const most = await two.call("mostAtAStretch");
    console.log(
      `  most cards that came at a stretch: ${most}`,
    );
    assert.ok(most > 0 && most <= CARDS_AT_A_STRETCH_MAX, `${most} cards`);
  },
);
