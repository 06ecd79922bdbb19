/**
 * The browser's storages, in a browser.
 *
 * @module
 */

import { deepEqual, equal, ok } from "node:assert/strict";
import type * as StoragePage from "./storage_page.ts";
import { browserTest } from "./kit/mod.ts";
import { ask, entries } from "./storage_ask.ts";

type Page = typeof StoragePage;

for (const backend of ["opfs", "indexeddb"] as const) {
  browserTest(
    `openBrowserStorage() over ${backend} keeps every rule of a storage`,
    { entries },
    async (place) => {
      const tab = await place.open<Page>("page");
      const { ran, failed } = await ask(
        tab,
        "a",
        "conformance",
        backend,
      );
      deepEqual(failed, []);
      ok(ran > 20);
    },
  );

  browserTest(`${backend} keeps files of many pages over a reload`, {
    entries,
  }, async (place) => {
    const tab = await place.open<Page>("page");
    await ask(tab, "a", "open", "db", backend);
    const bytes = Uint8Array.from({ length: 200_000 }, (_, i) => i * 7 % 255);
    equal(await ask(tab, "a", "append", "big", bytes), bytes.length);
    equal(await ask(tab, "a", "append", "big", bytes), 2 * bytes.length);
    await tab.reload();
    await ask(tab, "a", "open", "db", backend);
    const kept = await ask(tab, "a", "read", "big");
    equal(kept?.length, 2 * bytes.length);
    deepEqual(kept.subarray(bytes.length), bytes);
    deepEqual(kept.subarray(0, bytes.length), bytes);
    await ask(tab, "a", "closeInOrder", "big", 70_000);
    await ask(tab, "a", "open", "db", backend);
    deepEqual(await ask(tab, "a", "list"), ["big"]);
    const cut = await ask(tab, "a", "read", "big");
    deepEqual(cut?.subarray(0, 69_990), bytes.subarray(0, 69_990));
    equal(cut.length, 70_000);
  });

  browserTest(`${backend} acknowledges nothing after it was taken over`, {
    entries,
  }, async (place) => {
    const [one, two] = await place.openMany<Page>("page", 2);
    ok(one && two);
    const first = await ask(one, "a", "open", "db", backend);
    equal(await ask(one, "a", "append", "x", new Uint8Array(10)), 10);
    const second = await ask(two, "b", "open", "db", backend, true);
    ok(second.term > first.term);
    const late = await ask(one, "a", "append", "x", new Uint8Array(5));
    equal(late, "database-locked");
    equal(await ask(two, "b", "append", "x", new Uint8Array(10)), 20);
    const told = await ask(one, "a", "incidents");
    deepEqual(told.map(({ code }) => code), ["database-locked"]);
    await ask(two, "b", "close");
    await ask(one, "c", "open", "db", backend);
    equal((await ask(one, "c", "read", "x"))?.length, 20);
  });
}

browserTest(
  "a durable append to OPFS is one write and one flush of one handle",
  {
    entries,
  },
  async (place) => {
    const tab = await place.open<Page>("page");
    const { canBeStolen } = await ask(tab, "a", "open", "db", "opfs");
    equal(canBeStolen, true);
    const { write, flush } = await ask(tab, "a", "appendCalls", 100);
    deepEqual({ write, flush }, { write: 100, flush: 100 });
  },
);
