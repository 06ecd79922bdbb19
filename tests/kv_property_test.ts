/**
 * The key-value face beside a plain `Map` and a clock by hand: whatever is
 * written, waited for, closed and opened again, both answer alike.
 */

import { deepEqual, equal } from "node:assert/strict";
import fc from "fast-check";
import type { Kv, KvChange, KvValue, ScanOptions } from "../src/kv/mod.ts";
import { ManualWorld } from "./kit/replica_place.ts";
import { Device } from "./kv_device.ts";

interface Kept {
  readonly value: KvValue;
  readonly expiresAt: number;
}

/** What a store is, as simply as it can be said. */
class Oracle {
  readonly entries = new Map<string, Kept>();
  readonly #world: ManualWorld;

  constructor(world: ManualWorld) {
    this.#world = world;
  }

  get(key: string): KvValue | undefined {
    const kept = this.entries.get(key);
    return kept && kept.expiresAt > this.#world.time ? kept.value : undefined;
  }

  set(key: string, value: KvValue, ttlMs = Infinity): void {
    this.entries.set(key, { value, expiresAt: this.#world.time + ttlMs });
  }

  /** What has expired is not there to be taken away: its clock may give it back. */
  delete(key: string): void {
    if (this.get(key) !== undefined) this.entries.delete(key);
  }

  keys(options: ScanOptions = {}): string[] {
    const { prefix = "", from = "", to, after, limit, reverse } = options;
    const found = [...this.entries.keys()].sort().filter((key) =>
      this.get(key) !== undefined && key.startsWith(prefix) && key >= from &&
      (to === undefined || key < to) &&
      (after === undefined || (reverse ? key < after : key > after))
    );
    if (reverse) found.reverse();
    return found.slice(0, limit);
  }

  /** All that is there. */
  get all(): [string, KvValue][] {
    return this.keys().map((key) => [key, this.get(key)!]);
  }
}

const words = ["a", "a/", "a/b", "a/b/c", "ab", "b", "é", "😀", "\ue000", "z"];
const keyIn = fc.constantFrom(...words);
const textIn = fc.option(fc.constantFrom("", ...words), { nil: undefined });
const valueIn = fc.oneof(
  fc.constantFrom<KvValue>(null, true, 1, -2.5, "text", "é"),
  fc.constant<KvValue>({ n: [1, { deep: "x" }] }),
  fc.bigInt({ min: -(2n ** 70n), max: 2n ** 70n }),
  fc.date({ noInvalidDate: true }),
  fc.uint8Array({ maxLength: 5 }),
  fc.constant<KvValue>(new Map<string, KvValue>([["k", new Set([1, NaN])]])),
);
const ttlIn = fc.option(fc.constantFrom(1, 50, 100, 3e9), { nil: undefined });
const scanIn = fc.record({
  prefix: textIn,
  from: textIn,
  to: textIn,
  after: textIn,
  limit: fc.option(fc.nat(6), { nil: undefined }),
  reverse: fc.boolean(),
});

type Command =
  | { what: "set"; key: string; value: KvValue; ttlMs: number | undefined }
  | { what: "setMany"; keys: string[]; value: KvValue }
  | { what: "delete"; key: string }
  | { what: "deleteMany"; keys: string[] }
  | { what: "swap"; key: string; isRight: boolean; value: KvValue }
  | { what: "wait"; ms: number }
  | { what: "scan"; options: Partial<ScanOptions> }
  | { what: "other" | "reopen" | "checkpoint" };

const commandIn: fc.Arbitrary<Command> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      what: fc.constant("set" as const),
      key: keyIn,
      value: valueIn,
      ttlMs: ttlIn,
    }),
  },
  fc.record({
    what: fc.constant("setMany" as const),
    keys: fc.array(keyIn, { maxLength: 5 }),
    value: valueIn,
  }),
  {
    weight: 2,
    arbitrary: fc.record({ what: fc.constant("delete" as const), key: keyIn }),
  },
  fc.record({
    what: fc.constant("deleteMany" as const),
    keys: fc.array(keyIn, { maxLength: 3 }),
  }),
  fc.record({
    what: fc.constant("swap" as const),
    key: keyIn,
    isRight: fc.boolean(),
    value: valueIn,
  }),
  {
    weight: 3,
    arbitrary: fc.record({
      what: fc.constant("wait" as const),
      ms: fc.constantFrom(1, 49, 50, 100, 3e9),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      what: fc.constant("scan" as const),
      options: scanIn as fc.Arbitrary<Partial<ScanOptions>>,
    }),
  },
  fc.record({
    what: fc.constantFrom(
      "other" as const,
      "reopen" as const,
      "checkpoint" as const,
    ),
  }),
);

function run(command: Command, kv: Kv, oracle: Oracle): void {
  switch (command.what) {
    case "set": {
      const { key, value, ttlMs } = command;
      kv.set(key, value, ttlMs === undefined ? {} : { ttlMs });
      return oracle.set(key, value, ttlMs);
    }
    case "setMany": {
      const { keys, value } = command;
      equal(kv.setMany(keys.map((key) => [key, value])).result, keys.length);
      for (const key of keys) oracle.set(key, value);
      return;
    }
    case "delete": {
      const { key } = command;
      equal(kv.delete(key).result, oracle.get(key) !== undefined);
      oracle.delete(key);
      return;
    }
    case "deleteMany":
      kv.deleteMany(command.keys);
      return command.keys.forEach((key) => oracle.delete(key));
    case "swap": {
      const { key, isRight, value } = command;
      const expected = isRight ? oracle.get(key) : "never written";
      equal(kv.compareAndSet(key, expected, value).result, isRight);
      if (isRight) oracle.set(key, value);
      return;
    }
    case "scan":
      return deepEqual(kv.keys(command.options), oracle.keys(command.options));
    default:
      return;
  }
}

function compare(kv: Kv, oracle: Oracle): void {
  for (const key of words) {
    deepEqual(kv.get(key), oracle.get(key));
    equal(kv.exists(key), oracle.get(key) !== undefined);
  }
}

/** All of it, through the keys in order. */
function compareAll(kv: Kv, oracle: Oracle): void {
  const { entries } = kv.list();
  deepEqual(entries.map(({ key, value }) => [key, value]), oracle.all);
  equal(kv.size, oracle.all.length);
}

Deno.test("a store is what a Map with a clock is, over waits, restarts, checkpoints and other devices", async () => {
  const property = async (commands: Command[]) => {
    const world = new ManualWorld();
    const oracle = new Oracle(world);
    let mine = await new Device(world).open();
    let other = await new Device(world).open();
    for (const command of commands) {
      world.advance(command.what === "wait" ? command.ms : 1);
      if (command.what === "reopen") {
        await mine.close();
        await mine.open();
      } else if (command.what === "checkpoint") await mine.checkpoint();
      else if (command.what === "other") {
        await mine.tell(other);
        await other.tell(mine);
        [mine, other] = [other, mine];
      } else run(command, mine.kv, oracle);
      compare(mine.kv, oracle);
    }
    compareAll(mine.kv, oracle);
    await mine.tell(other);
    compareAll(other.kv, oracle);
    await mine.close();
    await other.close();
  };
  const commands = fc.array(commandIn, { maxLength: 25 });
  await fc.assert(fc.asyncProperty(commands, property), {
    seed: 7,
    numRuns: 150,
  });
});

Deno.test("who listens can keep a copy: every change is told once, with what was there before", async () => {
  const property = async (commands: Command[]) => {
    const world = new ManualWorld();
    const oracle = new Oracle(world);
    const { kv, close } = await open(world);
    const copy = new Map<string, KvValue>();
    const follow = (changes: readonly KvChange[]) => {
      for (const { key, value, before, why } of changes) {
        deepEqual(before, copy.get(key));
        equal(why === "set", value !== undefined);
        if (value === undefined) copy.delete(key);
        else copy.set(key, value);
      }
    };
    using _all = kv.subscribe({}, follow);
    for (const command of commands) {
      run(command, kv, oracle);
      if (command.what === "wait") {
        // Timers are looked at once a minute at least.
        for (let ms = command.ms; ms > 0; ms -= 6e8) {
          world.advance(Math.min(ms, 6e8));
        }
      }
      // What a read found expired is told by the timer.
      world.advance(0);
      deepEqual([...copy].sort(byKey), oracle.all);
      compareAll(kv, oracle);
    }
    await close();
    equal(world.timers, 0);
  };
  const commands = fc.array(commandIn, { maxLength: 30 });
  await fc.assert(fc.asyncProperty(commands, property), {
    seed: 7,
    numRuns: 150,
  });
});

function byKey([a]: [string, KvValue], [b]: [string, KvValue]): number {
  return a < b ? -1 : 1;
}

async function open(world: ManualWorld) {
  const device = await new Device(world).open();
  return { kv: device.kv, close: () => device.close() };
}

Deno.test("a clock that is set back gives back what had expired, in scans as in reads", async () => {
  const property = async (steps: (Command | number)[]) => {
    const world = new ManualWorld();
    const oracle = new Oracle(world);
    const { kv, close } = await open(world);
    for (const step of steps) {
      if (typeof step === "number") world.time += step;
      else run(step, kv, oracle);
      compare(kv, oracle);
      compareAll(kv, oracle);
    }
    await close();
  };
  const steps = fc.array(
    fc.oneof(
      { weight: 2, arbitrary: commandIn },
      fc.integer({ min: -120, max: 120 }),
    ),
    { maxLength: 30 },
  );
  await fc.assert(fc.asyncProperty(steps, property), { seed: 7, numRuns: 150 });
});
