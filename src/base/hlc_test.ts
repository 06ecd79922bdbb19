/**
 * The order of moments: part of the format, for every device must see the same
 * writer as the last one.
 *
 * @module
 */

import { deepEqual, equal, ok } from "node:assert/strict";
import fc from "fast-check";
import {
  compareHlc,
  compareStamps,
  countMax,
  nextHlc,
  type Stamp,
} from "./hlc.ts";

const anyStamp = fc.record({
  wall: fc.nat(3),
  count: fc.nat(3),
  chain: fc.constantFrom("", "a", "b", "\u00ff"),
});

Deno.test("compareStamps() orders by wall, then by count, then by the greater chain", () => {
  const ascending: Stamp[] = [
    { wall: 1, count: 9, chain: "z" },
    { wall: 2, count: 0, chain: "z" },
    { wall: 2, count: 1, chain: "\u0001" },
    { wall: 2, count: 1, chain: "a" },
    { wall: 2, count: 1, chain: "\u00ff" },
  ];
  deepEqual(ascending.toReversed().sort(compareStamps), ascending);
});

Deno.test("compareStamps() is a total order", () => {
  fc.assert(
    fc.property(anyStamp, anyStamp, anyStamp, (a, b, c) => {
      equal(Math.sign(compareStamps(a, b)), -Math.sign(compareStamps(b, a)));
      const isSame = a.wall === b.wall && a.count === b.count &&
        a.chain === b.chain;
      equal(compareStamps(a, b) === 0, isSame);
      if (compareStamps(a, b) <= 0 && compareStamps(b, c) <= 0) {
        ok(compareStamps(a, c) <= 0);
      }
    }),
    { seed: 7, numRuns: 2_000 },
  );
});

Deno.test("nextHlc() is later than the last one, wherever the wall clock stands", () => {
  const any = fc.record({ wall: fc.nat(9), count: fc.nat(countMax) });
  fc.assert(
    fc.property(any, fc.nat(9), (last, nowMs) => {
      const next = nextHlc(last, nowMs);
      ok(compareHlc(next, last) > 0);
      ok(next.wall >= nowMs && next.count <= countMax);
    }),
    { seed: 7, numRuns: 1_000 },
  );
  const full = { wall: 5, count: countMax };
  deepEqual(nextHlc(full, 3), { wall: 6, count: 0 });
});
