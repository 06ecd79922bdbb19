/**
 * The past of a store beside a plain `Map` that was put aside then.
 */

import { deepEqual, equal, throws } from "node:assert/strict";
import fc from "fast-check";
import { defineSchema, field, memoryStorage, openDatabase } from "../mod.ts";
import { openKv, type ReadableKv } from "../src/kv/mod.ts";
import { ManualWorld } from "./kit/replica_place.ts";
import { sized } from "./kit/tier.ts";
import { Device } from "./kv_device.ts";
import {
  type Command,
  commandIn,
  compare,
  compareAll,
  type Kept,
  Oracle,
  run,
  scanIn,
} from "./kv_oracle.ts";

/** What was put aside after each step. */
class Diary {
  readonly #pages: { time: number; entries: [string, Kept][] }[] = [];

  write(time: number, { entries }: Oracle): void {
    this.#pages.push({ time, entries: [...entries] });
  }

  /** What a store was at a moment, as it was known then, by the clock of then. */
  at(time: number): Oracle {
    const page = this.#pages.findLast((page) => page.time <= time);
    return new Oracle({ time }, page?.entries ?? []);
  }

  /** Every moment at which something was done, and others between and around them. */
  get moments(): number[] {
    const times = this.#pages.map(({ time }) => time);
    return [...times, ...times.map((time) => time + 49), times[0]! - 1];
  }
}

function alike(past: ReadableKv, oracle: Oracle, scans: object[]): void {
  compare(past, oracle);
  compareAll(past, oracle);
  for (const scan of scans) deepEqual(past.keys(scan), oracle.keys(scan));
}

Deno.test("the past is what was put aside then, at every moment and commit, and stays so", async () => {
  const property = async (commands: Command[], scans: object[]) => {
    const world = new ManualWorld();
    const oracle = new Oracle(world);
    const diary = new Diary();
    diary.write(world.time, oracle);
    let mine = await new Device(world).open();
    let other = await new Device(world).open();
    const taken: [ReadableKv, number][] = [];
    for (const command of commands) {
      world.advance(command.what === "wait" ? command.ms : 1);
      if (command.what === "reopen") {
        await mine.close();
        await mine.open();
      } else if (command.what === "checkpoint") {
        await mine.checkpoint();
        taken.push([mine.kv.at(new Date(world.time)), world.time]);
      } else if (command.what === "other") {
        await mine.tell(other);
        await other.tell(mine);
        [mine, other] = [other, mine];
      } else run(command, mine.kv, oracle);
      diary.write(world.time, oracle);
    }
    for (const time of diary.moments) {
      alike(mine.kv.at(new Date(time)), diary.at(time), scans);
    }
    const commits = mine.repository.history({ limit: Infinity });
    for (const { commit, at } of commits) {
      alike(mine.kv.at(commit), diary.at(at.getTime()), scans);
    }
    await mine.close();
    await other.close();
    for (const [past, time] of taken) alike(past, diary.at(time), scans);
  };
  await fc.assert(
    fc.asyncProperty(
      fc.array(commandIn, { maxLength: 16 }),
      fc.array(scanIn, { maxLength: 3 }),
      property,
    ),
    { numRuns: sized(30, 1_000), seed: 1 },
  );
});

Deno.test("the past at a commit is what its author had seen, and what had ended by the commit's clock is not there", async () => {
  const world = new ManualWorld();
  await using a = await new Device(world).open();
  await using b = await new Device(world).open();
  a.kv.set("ends", 1, { ttlMs: 10 });
  a.kv.set("a", 1);
  await a.tell(b);
  world.advance(9);
  a.kv.set("a", 2);
  world.advance(1);
  b.kv.set("b", 1);
  world.advance(1_000);
  await a.tell(b);
  await b.tell(a);
  for (const { kv } of [a, b]) {
    const [first, second] = kv.history("a").map(({ commit }) => kv.at(commit));
    deepEqual(first!.keys(), ["a", "ends"]);
    deepEqual([second!.get("a"), second!.get("ends")], [2, 1]);
    const apart = kv.at(kv.history("b")[0]!.commit);
    deepEqual(apart.list().entries.map(({ key, value }) => [key, value]), [
      ["a", 1],
      ["b", 1],
    ]);
    equal(apart.exists("ends"), false);
    deepEqual(apart.entry("b"), kv.entry("b"));
  }
});

const Task = defineSchema("task", { title: field.string() });

Deno.test("stores of the past are apart, beside items, typed, and read-only; a later moment is judged by itself", async () => {
  const world = new ManualWorld();
  await using db = await openDatabase({
    storage: memoryStorage(),
    schemas: [Task],
    world,
  });
  const repository = await db.repository("team");
  const [plain, named] = [
    openKv(repository),
    openKv<{ user: string }>(repository, { name: "sessions" }),
  ];
  repository.collection(Task).create({ id: "k", title: "Ship it" });
  named.set("k", { user: "ada" }, { ttlMs: 50 });
  const then = new Date(world.time);
  world.advance(100);
  plain.set("k", 1);
  deepEqual([plain.at(then).size, named.at(then).size], [0, 1]);
  equal(named.at(then).get("k")?.user, "ada");
  equal(named.at(then).collection, "kv-sessions");
  const later = new Date(world.time + 1_000);
  deepEqual([plain.at(later).size, named.at(later).size], [1, 0]);
  equal("set" in named.at(then), false);
  throws(() => plain.at("nothing:1"), { code: "commit-missing" });
  for (const no of [new Date(NaN), null, 5] as never[]) {
    throws(() => plain.at(no), { code: "invalid-option" });
  }
  throws(() => openKv(repository.at(then) as never), {
    code: "invalid-option",
    message: /kv\.at/,
  });
  const past = plain.at(later);
  await db.close();
  equal(past.get("k"), 1);
  throws(() => plain.at(then), { code: "closed" });
});
