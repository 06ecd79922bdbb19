/** Pages that are reloaded in the midst of something: nothing that was seen is forgotten. */

import { deepEqual, equal, ok } from "node:assert/strict";
import { browserTest } from "./kit/mod.ts";
import type * as LeftPage from "./left_page.ts";

const entries = {
  page: new URL("left_page.ts", import.meta.url),
  worker: new URL("../../src/browser/worker.ts", import.meta.url),
};
const options = { entries };

browserTest(
  "what a page wrote while its owner stood still is there after a reload, once",
  options,
  async (place) => {
    const owner = await place.open<typeof LeftPage>("page");
    equal(await owner.call("open"), "owner");
    const page = await place.open<typeof LeftPage>("page");
    equal(await page.call("open"), "follower");
    await owner.pid();
    await page.pid();
    await owner.call("write", "seen");
    while ((await page.call("report")).titles.length < 1) {
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    await owner.stop();
    equal(await page.call("write", "under way"), false);
    ok(await page.call("unsyncedBytes") > 0);
    await page.reload();
    await owner.kill();
    await page.call("open");
    await page.call("write", "after");
    const end = Date.now() + 60_000;
    let titles: string[] = [];
    let open = 1; // What is shown may be on its way to the files still.
    while (Date.now() < end && (titles.length < 3 || open > 0)) {
      ({ titles } = await page.call("report"));
      const kept = await page.page.evaluate<number>("localStorage.length");
      open = kept + await page.call("unsyncedBytes");
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    deepEqual(titles, ["after", "seen", "under way"]);
    equal(open, 0);
  },
);

browserTest(
  "what can be undone is not forgotten by a reload right after it was written",
  options,
  async (place) => {
    const page = await place.open<typeof LeftPage>("page");
    await page.call("open");
    await page.call("write", "one"); // 20 ms; steps are written down 100 ms after a change.
    await page.reload();
    await page.call("open");
    deepEqual(await page.call("report"), { titles: ["one"], canUndo: true });
  },
);

browserTest(
  "what is typed, and what an app writes, while the page goes is there after a reload",
  options,
  async (place) => {
    const page = await place.open<typeof LeftPage>("page");
    await page.call("open");
    await page.call("write", "card");
    await page.call("bind", "card");
    await page.page.locator("textarea").pressSequentially("typed just now");
    await page.reload();
    await page.call("open");
    const end = Date.now() + 60_000;
    let titles: string[] = [];
    let kept = 1;
    while (Date.now() < end && (titles.length < 3 || kept > 0)) {
      ({ titles } = await page.call("report"));
      kept = await page.page.evaluate("localStorage.length");
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    deepEqual(titles, ["card", "pagehide", "visibilitychange"]);
    equal(await page.call("note", "card"), "typed just now");
    equal(kept, 0);
  },
);
