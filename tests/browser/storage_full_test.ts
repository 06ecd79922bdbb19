/**
 * The browser's storage gets full, or is taken away.
 *
 * @module
 */

import { deepEqual, equal, ok } from "node:assert/strict";
import { browserTest, until } from "./kit/mod.ts";
import { ask, entries, type StorageTab } from "./storage_ask.ts";

type Page = typeof import("./storage_page.ts");

const MiB = 1024 * 1024;

async function setQuota(tab: StorageTab, bytes: number): Promise<void> {
  const session = await tab.cdp();
  const origin = new URL(tab.page.url()).origin;
  const quotaSize = bytes;
  await session.send("Storage.overrideQuotaForOrigin", { origin, quotaSize });
}

browserTest(
  "a full OPFS refuses writes, keeps what it has, and closes in order",
  {
    entries,
  },
  async (place) => {
    const tab = await place.open<Page>("page");
    const used = async () => (await ask(tab, "a", "usage")).usedBytes ?? 0;
    await ask(tab, "a", "open", "full", "opfs");
    for (
      const [i, bytesEach] of [1, 700, 4096, 65_536, 300_000, 4 * MiB].entries()
    ) {
      const room = bytesEach === 1 ? 20_000 : 3 * MiB + i * 1_234;
      const name = `file${i}`;
      await setQuota(tab, await used() + room);
      const { written, code } = await ask(
        tab,
        "a",
        "fill",
        name,
        bytesEach,
      );
      equal(code, "storage-full", `${bytesEach} bytes each`);
      ok(written <= room + MiB, `${written} of ${room}`);
      await ask(tab, "a", "append", "small", new Uint8Array(1));
      await ask(tab, "a", "closeInOrder", name, written);
      await setQuota(tab, 1000 * MiB);
      await ask(tab, "a", "open", "full", "opfs");
      const kept = await ask(tab, "a", "read", name);
      equal(kept?.length, written);
      ok(kept.subarray(0, -10).every((byte) => byte === 7));
      equal(
        typeof await ask(tab, "a", "append", name, new Uint8Array(10)),
        "number",
      );
    }
  },
);

browserTest("a storage that is nearly full says so before it is full", {
  entries,
}, async (place) => {
  const tab = await place.open<Page>("page");
  await ask(tab, "a", "open", "nearly", "opfs");
  const { usedBytes = 0, isNearlyFull } = await ask(tab, "a", "usage");
  equal(isNearlyFull, false);
  deepEqual(await ask(tab, "a", "incidents"), []);
  await setQuota(tab, usedBytes + 8 * MiB);
  await ask(tab, "a", "append", "more", new Uint8Array(10));
  await until(
    async () => (await ask(tab, "a", "incidents")).length > 0,
    "the first incident",
  );
  const [first] = await ask(tab, "a", "incidents");
  equal(first?.code, "storage-nearly-full");
  equal((await ask(tab, "a", "usage")).isNearlyFull, true);
  const more = await ask(tab, "a", "append", "more", new Uint8Array(1000));
  equal(more, 1010, "there is room for small things yet");
});

async function evict(tab: StorageTab): Promise<void> {
  const session = await tab.cdp();
  await session.send("Storage.clearDataForOrigin", {
    origin: new URL(tab.page.url()).origin,
    storageTypes: "file_systems,indexeddb",
  });
}

async function codesOf(tab: StorageTab): Promise<string[]> {
  return (await ask(tab, "a", "incidents")).map(({ code }) => code);
}

for (const backend of ["opfs", "indexeddb"] as const) {
  browserTest(
    `${backend} that was evicted under load is noticed, and said by a code`,
    { entries, mayThrow: true },
    async (place) => {
      const tab = await place.open<Page>("page");
      const before = await ask(tab, "a", "open", "evicted", backend);
      await tab.call("startLoad", "a");
      await until(
        async () => await tab.call("durableCount") > 20,
        "twenty durable records",
      );
      await evict(tab);
      await until(
        async () => (await codesOf(tab)).includes("storage-evicted"),
        "the eviction to be told",
      );
      deepEqual(await codesOf(tab), ["storage-evicted"], "and nothing else");
      equal(
        await ask(tab, "a", "append", "x", new Uint8Array(1)),
        "storage-evicted",
      );
      const after = await ask(tab, "b", "open", "evicted", backend);
      deepEqual(await ask(tab, "b", "list"), []);
      ok(after.term > before.term, "terms grow on");
      ok(after.identity !== before.identity, "it is another one");
    },
  );
}

browserTest(
  "indexeddb that was evicted in the midst of a write says so, and not that it failed",
  { entries, mayThrow: true },
  async (place) => {
    for (let round = 0; round < 5; round++) {
      const tab = await place.open<Page>("page");
      await ask(tab, "a", "open", "cut", "indexeddb");
      await tab.call("startHeavyLoad", "a");
      await until(
        async () => await tab.call("durableCount") > round,
        "a durable record",
      );
      await evict(tab);
      await until(
        async () => await tab.call("heavyLoadEnd") !== undefined,
        "the end of the load",
      );
      equal(await tab.call("heavyLoadEnd"), "storage-evicted");
      deepEqual(await codesOf(tab), ["storage-evicted"]);
      await tab.close();
    }
  },
);

browserTest(
  "indexeddb that fails though it is there says that it failed, and later that another has it",
  { entries },
  async (place) => {
    const tab = await place.open<Page>("page");
    const { identity } = await ask(tab, "a", "open", "broken", "indexeddb");
    equal(await ask(tab, "a", "append", "x", new Uint8Array(10)), 10);
    await ask(tab, "a", "breakWrites");
    const append = () => ask(tab, "a", "append", "x", new Uint8Array(10));
    equal(await append(), "storage-failed");
    equal(await append(), "storage-readonly", "no retry pretends");
    deepEqual(await codesOf(tab), ["storage-failed"]);
    const again = await ask(tab, "b", "open", "broken", "indexeddb");
    equal(again.identity, identity);
    equal(
      (await ask(tab, "b", "read", "x"))?.length,
      10,
      "what it had is kept",
    );
    await until(
      async () => (await codesOf(tab)).includes("database-locked"),
      "the incident of the one that lost the files",
    );
    equal(await append(), "database-locked", "another storage has it now");
  },
);

browserTest(
  "indexeddb that failed is looked after: an eviction is noticed nevertheless",
  { entries, mayThrow: true },
  async (place) => {
    const tab = await place.open<Page>("page");
    await ask(tab, "a", "open", "broken", "indexeddb");
    await ask(tab, "a", "breakWrites");
    const append = () => ask(tab, "a", "append", "x", new Uint8Array(10));
    equal(await append(), "storage-failed");
    await evict(tab);
    await until(
      async () => await append() === "storage-evicted",
      "the eviction to be noticed",
    );
    deepEqual(await codesOf(tab), ["storage-failed", "storage-evicted"]);
  },
);

browserTest(
  "standingOf() finds nothing where there is nothing, and leaves it so",
  { entries },
  async (place) => {
    const tab = await place.open<Page>("page");
    equal(await ask(tab, "a", "standingOfNone"), "evicted");
    deepEqual(await ask(tab, "a", "databases"), []);
  },
);
