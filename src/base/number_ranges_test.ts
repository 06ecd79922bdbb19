import { deepEqual, equal, throws } from "node:assert/strict";
import { seededRandom } from "../../tests/kit/random.ts";
import { ByteReader, ByteWriter } from "./bytes.ts";
import { NumberRanges } from "./number_ranges.ts";

const MAX = 40;

function bytesOf(ranges: NumberRanges): Uint8Array<ArrayBuffer> {
  const writer = new ByteWriter();
  ranges.write(writer);
  return writer.copy();
}

const read = (...bytes: number[]) =>
  NumberRanges.read(new ByteReader(Uint8Array.from(bytes)), MAX);

function numbersIn(ranges: Iterable<readonly [number, number]>): number[] {
  return [...ranges].flatMap(([first, end]) =>
    Array.from({ length: end - first }, (_, i) => first + i)
  );
}

Deno.test("NumberRanges is a set of numbers, whatever is added in whatever order", () => {
  const random = seededRandom(7);
  const below = (max: number) => Math.floor(random() * max);
  for (let run = 0; run < 200; run++) {
    const ranges = new NumberRanges();
    const numbers = new Set<number>();
    for (let step = below(12); step >= 0; step--) {
      const first = below(MAX);
      const end = Math.min(MAX, first + below(6));
      const all = Array.from({ length: MAX }, (_, i) => i);
      const meant = all.filter((one) => one >= first && one < end);
      const fresh = meant.filter((one) => !numbers.has(one));
      deepEqual(numbersIn(ranges.gaps(first, end)), fresh);
      equal(ranges.covers(first, end), fresh.length === 0);
      ranges.add(first, end);
      for (const one of meant) numbers.add(one);
      equal(ranges.size, numbers.size);
      deepEqual(all.filter((one) => ranges.has(one)), [...numbers].sort(up));
      deepEqual(numbersIn(ranges), [...numbers].sort(up));
    }
    const bytes = bytesOf(ranges);
    const again = NumberRanges.read(new ByteReader(bytes), MAX);
    deepEqual([bytesOf(again), again.size], [bytes, ranges.size]);
    const fresh = new NumberRanges();
    for (const one of [...numbers].reverse()) fresh.add(one);
    deepEqual(bytesOf(fresh), bytes, "one set has one encoding");
  }
});

const up = (a: number, b: number) => a - b;

Deno.test("NumberRanges.read() takes ranges in order that do not touch, below a bound", () => {
  deepEqual([...read(2, 0, 3, 1, 2)], [[0, 3], [4, 6]]);
  deepEqual([...read(0)], []);
  for (const bytes of [[1], [1, 0, 0], [2, 0, 1, 0, 1], [1, 39, 2], [1, 0]]) {
    throws(() => read(...bytes), SyntaxError, `${bytes}`);
  }
});
