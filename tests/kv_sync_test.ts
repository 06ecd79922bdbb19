/**
 * Stores on several devices: the last writer wins for an entry as a whole, a
 * delete never beats a newer write, and what a liar writes harms nobody.
 */

import { deepEqual, equal, match, ok } from "node:assert/strict";
import fc from "fast-check";
import { defineSchema, field, memoryStorage, openDatabase } from "../mod.ts";
import { openKv } from "../src/kv/mod.ts";
import { MemoryServer } from "./kit/memory_server.ts";
import { ManualWorld } from "./kit/replica_place.ts";
import { sized } from "./kit/tier.ts";
import { Device } from "./kv_device.ts";

interface Act {
  readonly by: number;
  readonly key: string;
  readonly what: "set" | "ttl" | "delete" | "swap";
}

const actIn: fc.Arbitrary<Act> = fc.record({
  by: fc.nat(2),
  key: fc.constantFrom("a", "b"),
  what: fc.constantFrom("set", "ttl", "delete", "swap"),
});

/** Does it, and says whether anything was written. */
function act({ kv }: Device, { key, what }: Act, value: number): boolean {
  switch (what) {
    case "set":
      return kv.set(key, value) !== undefined;
    case "ttl":
      return kv.set(key, new Date(value), { ttlMs: 40 }) !== undefined;
    case "delete":
      return kv.delete(key).result;
    case "swap":
      return kv.compareAndSet(key, kv.get(key), value).result;
  }
}

Deno.test("devices that wrote apart from each other agree: the last writer wins for the whole entry, whatever it did", async () => {
  const property = async (
    rounds: { acts: Act[]; tells: [number, number][] }[],
  ) => {
    const world = new ManualWorld();
    const devices = await Promise.all(
      [1, 2, 3].map(() => new Device(world).open()),
    );
    const last = new Map<string, { act: Act; value: number; at: number }>();
    let value = 0;
    for (const { acts, tells } of rounds) {
      for (const one of acts) {
        world.advance(10);
        const device = devices[one.by]!;
        const at = world.time;
        if (!act(device, one, ++value)) continue;
        last.set(one.key, { act: one, value, at });
      }
      for (const [from, to] of tells) {
        await devices[from]!.tell(devices[to]!);
      }
    }
    for (const from of devices) {
      for (const to of devices) if (from !== to) await from.tell(to);
    }
    for (const { kv } of devices) {
      for (const [key, { act: { what }, value, at }] of last) {
        const isGone = what === "delete" ||
          what === "ttl" && at + 40 <= world.time;
        const expected = what === "ttl" ? new Date(value) : value;
        deepEqual(kv.get(key), isGone ? undefined : expected);
        deepEqual(kv.entry(key), devices[0]!.kv.entry(key));
      }
      deepEqual(kv.list(), devices[0]!.kv.list());
    }
    for (const device of devices) await device.close();
  };
  const round = fc.record({
    acts: fc.array(actIn, { maxLength: 6 }),
    tells: fc.array(fc.tuple(fc.nat(2), fc.nat(2)), { maxLength: 3 }),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(round, { maxLength: 5 }), property),
    { seed: 7, numRuns: sized(20, 600) },
  );
});

Deno.test("a set that was made after a delete it did not know of is there", async () => {
  const world = new ManualWorld();
  await using a = await new Device(world).open();
  await using b = await new Device(world).open();
  a.kv.set("k", "first");
  await a.tell(b);
  world.advance(10);
  a.kv.delete("k");
  world.advance(10);
  b.kv.set("k", "newer");
  await a.tell(b);
  await b.tell(a);
  deepEqual([a.kv.get("k"), b.kv.get("k")], ["newer", "newer"]);
});

Deno.test("who listens hears what others wrote, once for each of their commits' arrival", async () => {
  const world = new ManualWorld();
  await using a = await new Device(world).open();
  await using b = await new Device(world).open();
  const heard: string[][] = [];
  using _ = b.kv.subscribe({ prefix: "x/" }, (changes) => {
    heard.push(changes.map(({ key, why }) => `${key} ${why}`));
  });
  a.kv.setMany([["x/1", 1], ["y/1", 1], ["x/2", 2]], { ttlMs: 100 });
  await a.tell(b);
  world.advance(100);
  deepEqual(heard, [["x/1 set", "x/2 set"], ["x/1 expired", "x/2 expired"]]);
});

/** What a liar may write: entries of every kind but ours. */
const Lie = defineSchema("kv", {
  value: field.list(field.string()),
  data: field.bytes().optional(),
  expiresAt: field.string().optional(),
  expected: field.date().optional(),
});

/** The same with registers, so that they merge with ours. */
const Garbage = defineSchema("kv", {
  value: field.date().optional(),
  data: field.bytes().optional(),
  expiresAt: field.string().optional(),
});

Deno.test("an entry of somebody who writes no values of ours is reported, harms no scan, and can be written over", async () => {
  const world = new ManualWorld();
  await using me = await new Device(world).open();
  await using liar = await new Device(world, [Lie]).open();
  await using other = await new Device(world, [Garbage]).open();
  me.kv.set("good", 1);
  liar.repository.collection(Lie).create({ id: "list", value: ["a"] });
  const garbage = other.repository.collection(Garbage);
  garbage.create({ id: "date", value: new Date(0), expiresAt: "soon" });
  garbage.create({ id: "bytes", data: Uint8Array.of(1, 2, 3) });
  garbage.create({ id: "huge", data: Uint8Array.of(1, 15, 255, 255, 127) });
  const heard: string[] = [];
  using _ = me.kv.subscribe({}, (changes) => {
    heard.push(...changes.map(({ key }) => key));
  });
  await liar.tell(me);
  await other.tell(me);
  deepEqual(heard.sort(), ["bytes", "date", "huge", "list"]);
  const { entries } = me.kv.list();
  deepEqual(entries.map(({ key, value }) => [key, value]), [
    ["bytes", undefined],
    ["date", undefined],
    ["good", 1],
    ["huge", undefined],
    ["list", ["a"]],
  ]);
  match(me.kv.entry("bytes")!.unreadable!, /Cannot decode value/);
  match(me.kv.entry("date")!.unreadable!, /not JSON/);
  equal(me.kv.compareAndSet("huge", undefined, 1).result, false);
  world.advance(1);
  for (const { key } of entries) me.kv.set(key, `mine ${key}`, { ttlMs: 50 });
  await me.tell(other);
  await other.tell(me);
  for (const { key } of entries) equal(me.kv.get(key), `mine ${key}`);
  world.advance(50);
  equal(me.kv.size, 0);
});

Deno.test("an item that somebody deleted as such can be set again", async () => {
  const world = new ManualWorld();
  await using me = await new Device(world).open();
  await using other = await new Device(world, [Garbage]).open();
  me.kv.set("k", 1);
  await me.tell(other);
  other.repository.collection(Garbage).delete("k");
  await other.tell(me);
  equal(me.kv.get("k"), undefined);
  equal(me.kv.size, 0);
  me.kv.set("k", 2);
  equal(me.kv.get("k"), 2);
  await me.tell(other);
  equal(other.repository.collection(Garbage).has("k"), true);
});

Deno.test("two devices and a server without a schema converge: sets, deletes, dates, expiry", async () => {
  await using server = new MemoryServer({ users: { a: "ann", b: "bob" } });
  const { rootKey, connector, login } = server;
  const open = async (token: string) => {
    const db = await openDatabase({ rootKey, storage: memoryStorage() });
    db.connect(connector, { session: { token }, login });
    return { db, kv: openKv(await db.repository("team/a")) };
  };
  const [a, b] = [await open("a"), await open("b")];
  await using _a = a.db;
  await using _b = b.db;
  const { promise, resolve } = Promise.withResolvers<void>();
  using _ = b.kv.subscribe({ key: "end" }, () => resolve());
  a.kv.set("date", new Date(5));
  a.kv.set("gone", 1);
  a.kv.set("old", 1, { expiresAt: 5 });
  a.kv.delete("gone");
  const swap = a.kv.compareAndSet("date", new Date(5), new Map([["k", 1n]]));
  ok(swap.result);
  const end = a.kv.set("end", true);
  await end.synced;
  await promise;
  deepEqual(b.kv.list(), a.kv.list());
  deepEqual(b.kv.keys(), ["date", "end"]);
  deepEqual(b.kv.get("date"), new Map([["k", 1n]]));
  deepEqual(b.kv.entry("date"), a.kv.entry("date"));
});

Deno.test("what a reader does to a value that it was given changes nothing", async () => {
  await using me = await new Device(new ManualWorld()).open();
  const { kv } = me;
  const given = { list: [1], bytes: Uint8Array.of(1), map: new Map([[1, 2]]) };
  kv.set("k", given);
  given.list.push(2);
  given.bytes[0] = 9;
  given.map.clear();
  const got = kv.get("k") as typeof given;
  deepEqual(got, {
    list: [1],
    bytes: Uint8Array.of(1),
    map: new Map([[1, 2]]),
  });
  got.bytes[0] = 7;
  got.map.clear();
  deepEqual(kv.get("k"), {
    list: [1],
    bytes: Uint8Array.of(1),
    map: new Map([[1, 2]]),
  });
  kv.set("json", { list: [1] });
  ok(Object.isFrozen((kv.get("json") as typeof given).list));
});
