/** Pages that are reloaded in the midst of something: nothing that was seen is forgotten. */

import { deepEqual, equal, ok } from "node:assert/strict";
import { browserTest, eventually, until } from "./kit/mod.ts";
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
    await owner.call("keep", "seen");
    await until(
      async () => (await page.call("report")).titles.length === 1,
      "the follower to show what the owner wrote",
    );
    await owner.stop();
    await page.call("write", "under way");
    ok(await page.call("unsyncedBytes") > 0);
    await page.reload();
    await owner.kill();
    await page.call("open");
    await page.call("write", "after");
    await eventually(async () => {
      const { titles } = await page.call("report");
      deepEqual(titles, ["after", "seen", "under way"]);
      // What is shown may be on its way to the files still.
      equal(await page.page.evaluate<number>("localStorage.length"), 0);
      equal(await page.call("unsyncedBytes"), 0);
    });
  },
);

browserTest(
  "what can be undone is not forgotten by a reload right after it was written",
  options,
  async (place) => {
    const page = await place.open<typeof LeftPage>("page");
    await page.call("open");
    await page.call("keep", "one"); // Steps are written down 100 ms after a change.
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
    await page.call("keep", "card");
    await page.call("bind", "card");
    await page.page.locator("textarea").pressSequentially("typed just now");
    await page.reload();
    await page.call("open");
    await eventually(async () => {
      const { titles } = await page.call("report");
      deepEqual(titles, ["card", "pagehide", "visibilitychange"]);
      equal(await page.call("note", "card"), "typed just now");
      equal(await page.page.evaluate("localStorage.length"), 0);
    });
  },
);
