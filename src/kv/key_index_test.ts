import { deepEqual, equal } from "node:assert/strict";
import fc from "fast-check";
import { endOfPrefix, KeyIndex } from "./key_index.ts";
import { Moments } from "./keys_kept.ts";

/** Keys with their ordinals, as scans give them. */
function scan(
  index: KeyIndex,
  from: string,
  to: string | undefined,
  limit: number,
  isReverse: boolean,
) {
  const found: [string, number][] = [];
  index.scan({ from, to, limit, isReverse }, (keys, ordinals) => {
    const part = keys.map((key, i): [string, number] => [key, ordinals[i]!]);
    found.push(...isReverse ? part.reverse() : part);
  });
  return found;
}

Deno.test("an index of many chunks scans as a sorted array does, while keys come and go", () => {
  const textOf = (n: number) => n.toString(36);
  const change = fc.record({
    from: fc.nat(4_000),
    count: fc.nat(1_500),
    step: fc.integer({ min: 1, max: 7 }),
    isAdd: fc.boolean(),
  });
  const ask = fc.tuple(
    fc.nat(5_000),
    fc.option(fc.nat(5_000)),
    fc.nat(2_000),
    fc.boolean(),
  );
  const property = (
    isFilled: boolean,
    changes: { from: number; count: number; step: number; isAdd: boolean }[],
    asks: [number, number | null, number, boolean][],
  ) => {
    const index = new KeyIndex();
    const known = new Map<string, number>();
    if (isFilled) {
      const keys = Array.from({ length: 1_000 }, (_, n) => textOf(n * 3))
        .sort();
      index.fill(keys, keys.map((key) => parseInt(key, 36)));
      for (const key of keys) known.set(key, parseInt(key, 36));
    }
    for (const { from, count, step, isAdd } of changes) {
      for (let n = from; n < from + count; n += step) {
        const key = textOf(n);
        if (isAdd === known.has(key)) continue;
        if (isAdd) index.add(key, n);
        else index.remove(key);
        if (isAdd) known.set(key, n);
        else known.delete(key);
      }
    }
    equal(index.size, known.size);
    const sorted = [...known].sort(([a], [b]) => a < b ? -1 : 1);
    for (const [low, high, limit, isReverse] of asks) {
      const [from, to] = [
        textOf(low),
        high === null ? undefined : textOf(high),
      ];
      const meant = sorted.filter(([key]) =>
        key >= from && (to === undefined || key < to)
      );
      if (isReverse) meant.reverse();
      deepEqual(scan(index, from, to, limit, isReverse), meant.slice(0, limit));
    }
    deepEqual(scan(index, "", undefined, Infinity, false), sorted);
  };
  fc.assert(
    fc.property(
      fc.boolean(),
      fc.array(change, { maxLength: 6 }),
      fc.array(ask, { maxLength: 8 }),
      property,
    ),
    { seed: 7, numRuns: 60 },
  );
});

Deno.test("the end of a prefix is the first text behind all that begin with it", () => {
  equal(endOfPrefix("a/"), "a0");
  equal(endOfPrefix(""), undefined);
  equal(endOfPrefix("a\uffff"), "b");
  equal(endOfPrefix("\uffff\uffff"), undefined);
});

Deno.test("moments come in order, each ordinal once, whatever was set before", () => {
  const step = fc.tuple(fc.nat(20), fc.option(fc.nat(50), { nil: undefined }));
  fc.assert(
    fc.property(fc.array(step, { maxLength: 80 }), (steps) => {
      const moments = new Moments();
      const known = new Map<number, number>();
      for (const [ordinal, moment] of steps) {
        moments.set(ordinal, moment);
        if (moment === undefined) known.delete(ordinal);
        else known.set(ordinal, moment);
        equal(moments.size, known.size);
        equal(moments.next, Math.min(Infinity, ...known.values()));
        equal(moments.get(ordinal), moment);
      }
      for (const expected of [...known.values()].sort((a, b) => a - b)) {
        equal(moments.next, expected);
        equal(known.get(moments.shift()!), expected);
      }
      equal(moments.shift(), undefined);
    }),
    { seed: 7 },
  );
});
