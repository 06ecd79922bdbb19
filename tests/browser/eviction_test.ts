/**
 * The browser removes all files of an origin while a page writes.
 *
 * @module
 */

import { deepEqual, ok } from "node:assert/strict";
import type * as EvictionPage from "./eviction_page.ts";
import { browserTest, eventually, type Tab, until } from "./kit/mod.ts";

type Page = typeof EvictionPage;

const entries = {
  page: new URL("eviction_page.ts", import.meta.url),
  worker: new URL("../../src/browser/worker.ts", import.meta.url),
};

/** Waits until a page has written so many cards more. */
async function writes(tab: Tab<Page>, cards: number): Promise<void> {
  const wanted = await tab.call("written") + cards;
  const hasWritten = async () => await tab.call("written") >= wanted;
  await until(hasWritten, `${wanted} durable cards of ${tab.name}`);
}

browserTest(
  "a database whose files were removed is written again from what its tabs have",
  {
    entries,
  },
  async (place) => {
    const one = await place.open<Page>("page");
    await one.call("open", "board");
    const two = await place.open<Page>("page");
    await two.call("open", "board");
    await one.call("begin");
    await two.call("begin");
    for (const tab of [one, two]) await writes(tab, 10);
    const { root } = await one.call("found");
    const session = await one.cdp();
    await session.send("Storage.clearDataForOrigin", {
      origin: new URL(one.page.url()).origin,
      storageTypes: "file_systems,indexeddb",
    });
    await until(() => two.call("hasNoticed"), "the other page to notice");
    for (const tab of [one, two]) await writes(tab, 10);
    const cards = await one.call("end") + await two.call("end");
    ok(cards >= 40, `${cards} cards`);
    const expected = { cards, commits: cards, root };
    for (const tab of [one, two]) {
      await eventually(async () =>
        deepEqual(await tab.call("found"), expected)
      );
    }
    await one.close();
    await two.close();
    const three = await place.open<Page>("page");
    await three.call("open", "board");
    deepEqual(await three.call("found"), expected);
  },
);
