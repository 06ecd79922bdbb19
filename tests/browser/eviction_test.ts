/**
 * The browser removes all files of an origin while a page writes.
 *
 * @module
 */

import { deepEqual, ok } from "node:assert/strict";
import type * as EvictionPage from "./eviction_page.ts";
import { browserTest } from "./kit/mod.ts";

type Page = typeof EvictionPage;

const entries = {
  page: new URL("eviction_page.ts", import.meta.url),
  worker: new URL("../../src/browser/worker.ts", import.meta.url),
};

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

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
    await pause(300);
    const { root } = await one.call("found");
    const session = await one.cdp();
    await session.send("Storage.clearDataForOrigin", {
      origin: new URL(one.page.url()).origin,
      storageTypes: "file_systems,indexeddb",
    });
    const noticedMs = await two.call("noticed");
    ok(noticedMs < 5_000, `noticed after ${noticedMs} ms`);
    await pause(300);
    const cards = await one.call("end") + await two.call("end");
    ok(cards > 20, `${cards} cards`);
    const expected = { cards, commits: cards, root };
    await pause(300);
    deepEqual(await one.call("found"), expected);
    deepEqual(await two.call("found"), expected);
    await one.close();
    await two.close();
    const three = await place.open<Page>("page");
    await three.call("open", "board");
    deepEqual(await three.call("found"), expected);
  },
);
