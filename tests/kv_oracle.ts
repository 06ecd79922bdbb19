/**
 * What a key-value store is, as simply as it can be said: a plain `Map` and a
 * clock, and what may be done to both, for property tests.
 */

import { deepEqual, equal } from "node:assert/strict";
import fc from "fast-check";
import type { Kv, KvValue, ReadableKv, ScanOptions } from "../src/kv/mod.ts";

export interface Kept {
  readonly value: KvValue;
  readonly expiresAt: number;
}

/** What a store is, as simply as it can be said. */
export class Oracle {
  readonly entries: Map<string, Kept>;
  readonly #world: { readonly time: number };

  constructor(
    world: { readonly time: number },
    entries?: Iterable<[string, Kept]>,
  ) {
    this.#world = world;
    this.entries = new Map(entries);
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

export const words = [
  "a",
  "a/",
  "a/b",
  "a/b/c",
  "ab",
  "b",
  "é",
  "😀",
  "\ue000",
  "z",
];
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
export const scanIn = fc.record({
  prefix: textIn,
  from: textIn,
  to: textIn,
  after: textIn,
  limit: fc.option(fc.nat(6), { nil: undefined }),
  reverse: fc.boolean(),
});

export type Command =
  | { what: "set"; key: string; value: KvValue; ttlMs: number | undefined }
  | { what: "setMany"; keys: string[]; value: KvValue }
  | { what: "delete"; key: string }
  | { what: "deleteMany"; keys: string[] }
  | { what: "swap"; key: string; isRight: boolean; value: KvValue }
  | { what: "wait"; ms: number }
  | { what: "scan"; options: Partial<ScanOptions> }
  | { what: "other" | "reopen" | "checkpoint" };

export const commandIn: fc.Arbitrary<Command> = fc.oneof(
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

export function run(command: Command, kv: Kv, oracle: Oracle): void {
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

export function compare(kv: ReadableKv, oracle: Oracle): void {
  for (const key of words) {
    deepEqual(kv.get(key), oracle.get(key));
    equal(kv.exists(key), oracle.get(key) !== undefined);
  }
}

/** All of it, through the keys in order. */
export function compareAll(kv: ReadableKv, oracle: Oracle): void {
  const { entries } = kv.list();
  deepEqual(entries.map(({ key, value }) => [key, value]), oracle.all);
  equal(kv.size, oracle.all.length);
}
