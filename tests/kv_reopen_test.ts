/**
 * A store that was closed and is opened again: what it reads, and what it does
 * not have to.
 */

import { deepEqual, equal, match, ok } from "node:assert/strict";
import { defineSchema, field } from "../mod.ts";
import { replicaOf } from "../src/db/internals.ts";
import { ManualWorld } from "./kit/replica_place.ts";
import { Device } from "./kv_device.ts";

/** How many items of the store are in memory. */
function itemsMade(device: Device): number {
  const table = replicaOf(device.repository).state.table("kv");
  return table.picture().items().length;
}

async function reopened(device: Device): Promise<void> {
  await device.checkpoint();
  await device.close();
  await device.open();
}

/** Every kind of past: created, written over, deleted, expired, will expire. */
function fill({ kv }: Device, world: ManualWorld): void {
  kv.setMany(Array.from({ length: 300 }, (_, i) => [`key ${999 - i}`, i]));
  world.advance(1);
  for (let i = 0; i < 100; i++) kv.set(`key ${999 - i * 2}`, `again ${i}`);
  for (let i = 0; i < 50; i++) kv.delete(`key ${999 - i * 3}`);
  kv.set("short", 1, { ttlMs: 10 });
  kv.set("long", new Map([[1, 2]]), { ttlMs: 1_000 });
  world.advance(20);
}

Deno.test("the first scan, count or subscription after reopening makes no item, and a page only its own", async () => {
  const world = new ManualWorld();
  await using device = await new Device(world).open();
  fill(device, world);
  const { kv } = device;
  const keys = kv.keys();
  const list = kv.list();
  equal(keys.length, 251);
  await reopened(device);
  equal(itemsMade(device), 0);
  deepEqual(device.kv.get("key 700"), 299);
  equal(itemsMade(device), 1, "a get reads one");
  await reopened(device);
  equal(device.kv.size, keys.length);
  deepEqual(device.kv.keys(), keys);
  device.kv.subscribe({}, () => {});
  equal(itemsMade(device), 0);
  equal(device.kv.list({ limit: 9 }).entries.length, 9);
  equal(itemsMade(device), 10);
  deepEqual(device.kv.list(), list);
  // Entries that are written over, or read first, after reopening count as well.
  await reopened(device);
  device.kv.delete(keys[0]!);
  device.kv.set("new", 1);
  deepEqual(device.kv.keys(), [...keys.slice(1), "new"]);
  world.advance(1_000);
  equal(device.kv.size, keys.length - 1);
});

const Stranger = defineSchema("kv", {
  value: field.json().optional(),
  data: field.bytes().optional(),
  expiresAt: field.date().optional(),
  expected: field.string().optional(),
});

Deno.test("what a stranger wrote without a value or with an odd end is the same before and after reopening", async () => {
  const world = new ManualWorld();
  await using me = await new Device(world).open();
  await using stranger = await new Device(world, [Stranger]).open();
  const theirs = stranger.repository.collection(Stranger);
  theirs.create({ id: "date", value: 1, expiresAt: new Date(1) });
  theirs.create({ id: "nothing" });
  await stranger.tell(me);
  for (let round = 0; round < 2; round++) {
    const { kv } = me;
    // Only a number ends an entry.
    deepEqual(kv.keys(), ["date", "nothing"]);
    equal(kv.get("date"), 1);
    equal(kv.get("nothing"), undefined);
    match(kv.entry("nothing")!.unreadable!, /no value/);
    equal(kv.compareAndSet("nothing", undefined, 1).result, false);
    await reopened(me);
  }
  world.advance(1);
  ok(me.kv.delete("nothing").result);
  me.kv.set("date", 2, { ttlMs: 5 });
  for (let round = 0; round < 2; round++) {
    deepEqual(me.kv.keys(), ["date"]);
    ok(me.kv.compareAndSet("nothing", undefined, 1, { ttlMs: 1 }).result);
    await reopened(me);
    me.kv.delete("nothing");
  }
  world.advance(5);
  equal(me.kv.size, 0);
});
