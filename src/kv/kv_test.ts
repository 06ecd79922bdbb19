import {
  deepEqual,
  equal,
  match,
  notEqual,
  ok,
  throws,
} from "node:assert/strict";
import {
  defineSchema,
  field,
  memoryStorage,
  openDatabase,
  type World,
} from "../../mod.ts";
import { type ExpiryOptions, type KvValue, openKv } from "./mod.ts";

async function place() {
  const db = await openDatabase({ storage: memoryStorage() });
  const repository = await db.repository("team");
  return {
    kv: openKv(repository),
    repository,
    [Symbol.asyncDispose]: () => db.close(),
  };
}

Deno.test("what is set is there at once, and durable when awaited", async () => {
  await using at = await place();
  const { kv } = at;
  const write = kv.set("a", { n: 1 });
  deepEqual(kv.get("a"), { n: 1 });
  await write;
  kv.set("a", "again");
  equal(kv.get("a"), "again");
  ok(kv.exists("a"));
  equal(kv.exists("b"), false);
  equal(kv.delete("a").result, true);
  equal(kv.delete("a").result, false);
  equal(kv.get("a"), undefined);
  deepEqual(kv.getMany(["a", "b"]), [undefined, undefined]);
});

Deno.test("each write of an entry leaves nothing of the one before, here and after opening again", async () => {
  const storage = memoryStorage();
  const expiresAt = Date.now() + 3_600_000;
  const writes: [KvValue, ExpiryOptions?][] = [
    [1],
    [new Date(5), { expiresAt }],
    [{ n: 2 }],
    [new Uint8Array([1, 2])],
    ["text", { expiresAt }],
    [null],
  ];
  const steps = writes.length;
  // One key for each step: it has seen the writes up to that one.
  {
    await using db = await openDatabase({ storage });
    const kv = openKv(await db.repository("team"));
    for (const [at, [value, options]] of writes.entries()) {
      for (let key = at; key < steps; key++) kv.set(`${key}`, value, options);
      deepEqual(kv.get(`${at}`), value);
    }
  }
  await using db = await openDatabase({ storage });
  const kv = openKv(await db.repository("team"));
  for (const [at, [value, options]] of writes.entries()) {
    const entry = kv.entry(`${at}`)!;
    deepEqual(entry.value, value);
    equal(entry.expiresAt, options?.expiresAt);
    equal(entry.unreadable, undefined);
  }
});

Deno.test("keys come in order, by prefix, range, page, and backwards", async () => {
  await using at = await place();
  const { kv } = at;
  kv.setMany(["b/2", "a/1", "b/1", "c", "b/3"].map((key) => [key, key]));
  equal(kv.size, 5);
  deepEqual(kv.keys(), ["a/1", "b/1", "b/2", "b/3", "c"]);
  deepEqual(kv.keys({ prefix: "b/" }), ["b/1", "b/2", "b/3"]);
  deepEqual(kv.keys({ prefix: "b/", reverse: true, limit: 2 }), ["b/3", "b/2"]);
  deepEqual(kv.keys({ from: "b/2", to: "c" }), ["b/2", "b/3"]);
  const page = kv.list({ prefix: "b/", limit: 2 });
  deepEqual(page.entries.map(({ key, value }) => [key, value]), [
    ["b/1", "b/1"],
    ["b/2", "b/2"],
  ]);
  equal(page.cursor, "b/2");
  const rest = kv.list({ prefix: "b/", limit: 2, after: page.cursor! });
  deepEqual(rest.entries.map(({ key }) => key), ["b/3"]);
  equal(rest.cursor, undefined);
  kv.delete("b/2");
  kv.set("b/0", 0);
  deepEqual(kv.keys({ prefix: "b/" }), ["b/0", "b/1", "b/3"]);
  throws(() => kv.keys({ limit: -1 }), { code: "invalid-option" });
});

/** A clock by hand, whose timers run when it is told so. */
class Clock implements World {
  time = 1_800_000_000_000;
  readonly tasks = new Map<() => void, number>();
  now = () => this.time;
  monotonic = () => this.time;
  random = (target: Uint8Array) =>
    void crypto.getRandomValues(target as Uint8Array<ArrayBuffer>);
  after = (delayMs: number, task: () => void) => {
    this.tasks.set(task, this.time + delayMs);
    return () => void this.tasks.delete(task);
  };

  pass(ms: number): void {
    this.time += ms;
    for (const [task, at] of this.tasks) {
      if (at > this.time) continue;
      this.tasks.delete(task);
      task();
    }
  }
}

Deno.test("an entry is there until its moment, and not at it, without anybody sweeping", async () => {
  const world = new Clock();
  await using db = await openDatabase({ storage: memoryStorage(), world });
  const kv = openKv(await db.repository("team"));
  kv.set("ttl", 1, { ttlMs: 1_000 });
  kv.set("date", 2, { expiresAt: new Date(world.time + 1_000) });
  kv.set("stays", 3);
  world.time += 999;
  deepEqual([kv.get("ttl"), kv.get("date"), kv.size], [1, 2, 3]);
  equal(kv.entry("ttl")!.expiresAt, world.time + 1);
  world.time += 1;
  deepEqual(kv.getMany(["ttl", "date", "stays"]), [undefined, undefined, 3]);
  deepEqual([kv.keys(), kv.size, kv.exists("ttl")], [["stays"], 1, false]);
  equal(kv.delete("ttl").result, false);
  ok(kv.compareAndSet("ttl", undefined, "new").result);
  kv.set("date", 4);
  world.time += 1e12;
  deepEqual(kv.getMany(["ttl", "date"]), ["new", 4]);
});

Deno.test("a delete of what has expired finds and writes nothing: a clock that is set back gives it back", async () => {
  const world = new Clock();
  await using db = await openDatabase({ storage: memoryStorage(), world });
  const kv = openKv(await db.repository("team"));
  kv.set("one", 1, { ttlMs: 1 });
  kv.set("two", 2, { ttlMs: 1 });
  world.time += 1;
  equal(kv.delete("one").result, false);
  equal(kv.deleteMany(["one", "two"]).result, 0);
  world.time -= 1;
  deepEqual([kv.getMany(["one", "two"]), kv.size], [[1, 2], 2]);
  equal(kv.deleteMany(["one", "two"]).result, 2);
  equal(kv.history("one").length, 2);
});

Deno.test("an entry that is written after its end is not there, until the clock is set back before it", async () => {
  const world = new Clock();
  await using db = await openDatabase({ storage: memoryStorage(), world });
  const kv = openKv(await db.repository("team"));
  equal(kv.size, 0);
  const heard: string[] = [];
  using _ = kv.subscribe({}, (changes) => {
    heard.push(...changes.map(({ key, why }) => `${key} ${why}`));
  });
  kv.set("late", 1, { expiresAt: world.time - 10 });
  kv.set("over", 1);
  kv.set("over", 2, { expiresAt: world.time - 10 });
  deepEqual([kv.keys(), kv.get("late")], [[], undefined]);
  deepEqual(heard, ["over set", "over expired"]);
  world.time -= 11;
  deepEqual([kv.keys(), kv.getMany(["late", "over"])], [["late", "over"], [
    1,
    2,
  ]]);
  equal(heard.length, 2, "what a clock gives back is not told");
});

Deno.test("what expires is told, whoever finds it first: a write over it, a read, or the timer", async () => {
  const world = new Clock();
  await using db = await openDatabase({ storage: memoryStorage(), world });
  const kv = openKv(await db.repository("team"));
  const heard: unknown[] = [];
  using _ = kv.subscribe({}, (changes) => {
    heard.push(...changes.map(({ before, why }) => [why, before]));
  });
  kv.set("k", 1, { ttlMs: 10 });
  world.time += 10;
  kv.set("k", 2, { ttlMs: 10 });
  const soFar = [["set", undefined], ["expired", 1], ["set", undefined]];
  deepEqual(heard, soFar);
  world.time += 10;
  equal(kv.size, 0);
  deepEqual(heard, soFar);
  world.pass(0);
  deepEqual(heard, [...soFar, ["expired", 2]]);
});

Deno.test("an end that is further off than a timer can wait is waited for, with one timer, while somebody listens", async () => {
  const world = new Clock();
  await using db = await openDatabase({ storage: memoryStorage(), world });
  const kv = openKv(await db.repository("team"));
  const before = world.tasks.size;
  kv.setMany([["a", 1], ["b", 2]], { ttlMs: 2 ** 31 + 5 });
  await kv.set("c", 3, { ttlMs: 2 ** 40 }).durable;
  equal(world.tasks.size, before);
  const heard: unknown[] = [];
  const subscription = kv.subscribe({}, (changes) => heard.push(...changes));
  equal(world.tasks.size, before + 1);
  world.pass(2 ** 31 + 4);
  deepEqual(heard, []);
  equal(world.tasks.size, before + 1);
  world.pass(1);
  const value = undefined;
  deepEqual(heard, [
    { key: "a", value, before: 1, why: "expired" },
    { key: "b", value, before: 2, why: "expired" },
  ]);
  subscription[Symbol.dispose]();
  equal(world.tasks.size, before);
});

const Task = defineSchema("task", { title: field.string() });

Deno.test("several keys and items of collections are one commit, or none", async () => {
  await using db = await openDatabase({
    storage: memoryStorage(),
    schemas: [Task],
  });
  const repository = await db.repository("team");
  const kv = openKv(repository);
  kv.set("count", 1);
  const commits = repository.status().commits;
  const write = repository.transact((tx) => {
    const inside = kv.within(tx);
    tx.collection(Task).create({ id: "t", title: "Ship it" });
    inside.set("count", Number(inside.get("count")) + 1);
    inside.set("count", Number(inside.get("count")) + 1);
    ok(inside.compareAndSet("last", undefined, "t"));
    equal(inside.delete("none"), false);
    return inside.get("count");
  });
  equal(write.result, 3);
  equal(repository.status().commits, commits + 1);
  throws(() =>
    repository.transact((tx) => {
      kv.within(tx).set("count", 100);
      throw new Error("no");
    }), /no/);
  deepEqual([kv.get("count"), kv.get("last")], [3, "t"]);
  const other = openKv(await db.repository("other"));
  throws(() => repository.transact((tx) => other.within(tx).set("a", 1)), {
    code: "invalid-option",
  });
  equal(other.size, 0);
  equal(kv.history("count").length, 2);
  equal(kv.history("last")[0]!.operations[0]!.id, "last");
});

Deno.test("compare-and-set compares whole values of any type, and says whether it wrote", async () => {
  await using at = await place();
  const { kv } = at;
  equal(kv.compareAndSet("k", 1, 2).result, false);
  ok(kv.compareAndSet("k", undefined, { a: 1, b: [new Date(5)] }).result);
  equal(kv.compareAndSet("k", undefined, 1).result, false);
  equal(kv.compareAndSet("k", { a: 1, b: [5] }, 1).result, false);
  const version = kv.entry("k")!.version;
  ok(kv.compareAndSet("k", { b: [new Date(5)], a: 1 }, "next").result);
  notEqual(kv.entry("k")!.version, version);
  ok(kv.compareAndSet("k", "next", undefined).result);
  equal(kv.exists("k"), false);
  equal(kv.update("n", (n) => Number(n ?? 0) + 1).result, 1);
  equal(kv.update("n", (n) => Number(n ?? 0) + 1).result, 2);
  equal(kv.update("n", () => undefined).result, undefined);
  equal(kv.exists("n"), false);
});

Deno.test("what was compared is part of the commit, and of no write that compared nothing", async () => {
  await using at = await place();
  const { kv, repository } = at;
  const expected = () =>
    repository.storedCollection("kv").get("k") as { expected?: string };
  kv.compareAndSet("k", undefined, 1);
  equal(expected().expected, "absent");
  kv.compareAndSet("k", 1, 2);
  match(expected().expected!, /^[0-9a-f]{32}$/);
  kv.set("k", 3);
  equal(expected().expected, undefined);
  ok(kv.compareAndSet("k", 3, 4).result);
  kv.delete("k");
  equal(expected().expected, undefined);
});

Deno.test("what is written here is no step of undo, nor are steps of undo lost by it", async () => {
  await using db = await openDatabase({
    storage: memoryStorage(),
    schemas: [Task],
  });
  const repository = await db.repository("team");
  const { undo } = repository;
  await undo.ready;
  const kv = openKv(repository);
  repository.transact((tx) => {
    tx.collection(Task).create({ id: "t", title: "Ship it" });
    kv.within(tx).set("k", 1);
  });
  kv.set("k", 2);
  const { leftAlone, changed } = undo.undo()!.result;
  deepEqual([leftAlone, changed], [[], 1]);
  equal(repository.collection(Task).has("t"), false);
  equal(kv.get("k"), 2);
  equal(undo.undo(), undefined);
});

Deno.test("stores of one repository are apart; what cannot be is said with a code", async () => {
  const storage = memoryStorage();
  const db = await openDatabase({ storage, schemas: [Task] });
  const repository = await db.repository("team");
  const kv = openKv(repository);
  equal(openKv(repository), kv);
  const named = openKv(repository, { name: "sessions" });
  equal(named.collection, "kv-sessions");
  kv.set("k", 1);
  equal(named.get("k"), undefined);
  const faults: [string, () => unknown][] = [
    ["invalid-name", () => openKv(repository, { name: "a b" })],
    ["invalid-option", () => openKv({} as never)],
    ["invalid-id", () => kv.set("", 1)],
    ["invalid-id", () => kv.set("a\n", 1)],
    ["invalid-id", () => kv.get(5 as never)],
    ["invalid-value", () => kv.set("a", undefined as never)],
    ["value-too-large", () => kv.set("a", new Uint8Array(2 ** 20))],
    ["invalid-option", () => kv.set("a", 1, { ttlMs: 0 })],
    ["invalid-option", () => kv.set("a", 1, { ttlMs: NaN })],
    ["invalid-option", () => kv.set("a", 1, { ttlMs: 1, expiresAt: 1 })],
    ["invalid-option", () => kv.set("a", 1, { expiresAt: new Date(NaN) })],
    ["invalid-option", () => kv.keys({ prefix: 1 as never })],
    ["invalid-option", () => kv.subscribe({}, undefined as never)],
    ["invalid-option", () => kv.subscribe({ key: "a", prefix: "a" }, () => {})],
    [
      "invalid-value",
      () => kv.setMany([["ok", 1], ["bad", (() => 1) as never]]),
    ],
  ];
  for (const [code, run] of faults) throws(run, { code });
  deepEqual(kv.keys(), ["k"]);
  kv.subscribe({}, () => {});
  await db.close();
  throws(() => kv.get("k"), { code: "closed" });
  throws(() => kv.keys(), { code: "closed" });
  throws(() => openKv(repository), { code: "closed" });
  const Own = defineSchema("kv", { title: field.string() });
  await using again = await openDatabase({ storage, schemas: [Own] });
  const reopened = await again.repository("team");
  throws(() => openKv(reopened), { code: "invalid-schema" });
});
