import { deepEqual, equal, notDeepEqual, ok } from "node:assert/strict";
import { faultyStorage } from "../../tests/kit/faulty_storage.ts";
import { ManualWorld, Place } from "../../tests/kit/replica_place.ts";
import { memoryStorage } from "../../src/storage/memory_storage.ts";
import type { Storage } from "../../src/storage/storage.ts";
import { type EpochFacts, epochFactsOf, openEpoch } from "./epoch.ts";

const FOLDER = "place";
const world = new ManualWorld();

function factsOf(end: number, seed = 1): EpochFacts {
  return { end, digest: new Uint8Array(32).fill(seed) };
}

function place(): Storage {
  const storage = memoryStorage();
  storage.makeFolder(FOLDER);
  return storage;
}

Deno.test("an epoch goes on over a clean close of the same log", async () => {
  const storage = place();
  const first = openEpoch(storage, FOLDER, world, factsOf(100));
  const check = first.check(64);
  await first.close(factsOf(300));
  const second = openEpoch(storage, FOLDER, world, factsOf(300));
  deepEqual(second.epoch, first.epoch);
  ok(second.isIssued(64, check));
});

Deno.test("a new epoch begins after a crash, and with a log that is another one", async () => {
  const storage = place();
  const first = openEpoch(storage, FOLDER, world, factsOf(100));
  const crashed = openEpoch(storage, FOLDER, world, factsOf(100));
  notDeepEqual(crashed.epoch, first.epoch, "nobody closed it");
  for (const other of [factsOf(301), factsOf(300, 2), undefined]) {
    const before = openEpoch(storage, FOLDER, world, factsOf(300));
    await before.close(factsOf(300));
    const after = openEpoch(storage, FOLDER, world, other);
    notDeepEqual(after.epoch, before.epoch);
    equal(after.isIssued(64, before.check(64)), false);
  }
});

Deno.test("an epoch goes on once: the second opening has to be after a close of its own", async () => {
  const storage = place();
  const first = openEpoch(storage, FOLDER, world, factsOf(100));
  await first.close(factsOf(100));
  const second = openEpoch(storage, FOLDER, world, factsOf(100));
  deepEqual(second.epoch, first.epoch);
  const third = openEpoch(storage, FOLDER, world, factsOf(100));
  notDeepEqual(third.epoch, first.epoch);
});

Deno.test("a file that is damaged, or of another place, begins a new epoch and is gone", async () => {
  const storage = place();
  const first = openEpoch(storage, FOLDER, world, factsOf(100));
  await first.close(factsOf(100));
  const file = storage.open(`${FOLDER}/sync`)!;
  const bytes = new Uint8Array(file.size());
  file.readAt(bytes, 0);
  const put = (target: Storage, content: Uint8Array) => {
    const copy = target.open(`${FOLDER}/sync`, { create: true })!;
    copy.truncate(0);
    copy.writeAt(content, 0);
  };
  for (let i = 0; i < bytes.length; i++) {
    const spoiled = bytes.slice();
    spoiled[i]! ^= 1;
    put(storage, spoiled);
    const { epoch } = openEpoch(storage, FOLDER, world, factsOf(100));
    notDeepEqual(epoch, first.epoch);
    equal(storage.open(`${FOLDER}/sync`), undefined);
  }
  for (let length = 0; length < bytes.length; length++) {
    put(storage, bytes.subarray(0, length));
    const { epoch } = openEpoch(storage, FOLDER, world, factsOf(100));
    notDeepEqual(epoch, first.epoch);
  }
  const elsewhere = place();
  put(elsewhere, bytes);
  const { epoch } = openEpoch(elsewhere, FOLDER, world, factsOf(100));
  notDeepEqual(epoch, first.epoch, "a copied folder is another server");
});

Deno.test("only positions that were given out are issued", () => {
  const storage = place();
  const { check, isIssued } = openEpoch(storage, FOLDER, world, factsOf(0));
  const shown = check(4096);
  equal(shown.length, 8);
  ok(isIssued(4096, shown));
  equal(isIssued(4097, shown), false);
  equal(isIssued(4096 + 2 ** 32, shown), false);
  for (const none of [-1, 0.5, NaN, 2 ** 48, 2 ** 60]) {
    equal(isIssued(none, shown), false);
  }
  equal(isIssued(4096, shown.subarray(0, 7)), false);
});

Deno.test("no power cut lets an epoch go on that gave out positions after its close", async () => {
  const start = faultyStorage();
  start.makeFolder(FOLDER);
  start.syncFolder("");
  await openEpoch(start, FOLDER, world, factsOf(1)).close(factsOf(1));
  const second = openEpoch(start, FOLDER, world, factsOf(1));
  // It is open, and positions are given out: whatever the medium kept of it.
  for (const kept of ["synced", 1, 2, 3] as const) {
    const after = openEpoch(start.powerCut(kept), FOLDER, world, factsOf(1));
    notDeepEqual(after.epoch, second.epoch);
  }
});

Deno.test("the facts of a replica are those of a later opening, in every mode", async () => {
  for (const mode of ["default", "trusted", "fast"] as const) {
    const first = await Place.open({ mode });
    void first.write("a", "one");
    equal(epochFactsOf(first.replica), undefined, "not durable yet");
    await first.replica.durable();
    const before = openEpoch(first.storage, first.folder, world, undefined);
    const facts = epochFactsOf(first.replica)!;
    await first.replica.close();
    await before.close(facts);
    const second = await first.reopen();
    const now = epochFactsOf(second.replica);
    deepEqual(now, facts);
    const after = openEpoch(second.storage, second.folder, world, now);
    deepEqual(after.epoch, before.epoch);
    await second.write("b", "two");
    await second.replica.durable();
    notDeepEqual(epochFactsOf(second.replica), facts);
    await second.replica.close();
  }
});

Deno.test("a replica's epoch goes on over its close, and ends with a crash", async () => {
  for (const mode of ["default", "fast"] as const) {
    const first = await Place.open({ mode });
    const { epoch, check } = first.replica.epoch();
    equal(first.replica.epoch().epoch, epoch, "one life, one epoch");
    await first.write("a", "one");
    const other = await Place.open({ mode, seed: 2 });
    await other.write("b", "two");
    first.replica.receive(await other.arrivals());
    await first.replica.close();
    const second = await first.reopen();
    const life = second.replica.epoch();
    deepEqual(life.epoch, epoch);
    ok(life.isIssued(64, check(64)));
    await second.write("a", "three");
    const third = await second.reopen();
    notDeepEqual(third.replica.epoch().epoch, epoch);
  }
});

Deno.test("a repository that nobody served leaves no epoch behind", async () => {
  const place = await Place.open();
  await place.write("a", "one");
  await place.replica.close();
  equal(place.storage.open(`${place.folder}/sync`), undefined);
});
