/**
 * A stable sort by numbers, in time proportional to how many there are: an
 * index over a large collection is built without a comparison.
 *
 * Radix sort over the two words of a double, 11 bits a pass from the lowest, so
 * that the counters stay in the cache; a pass in which all agree is left out.
 * The bits of a double order like an integer once the sign is flipped, and all
 * bits of negative ones (Herf, "Radix Tricks", 2001).
 */

import { inSteps } from "../base/steps.ts";

const BUCKETS = 1 << 11;
const SHIFTS = [0, 11, 22] as const;

/**
 * Sorts `keys` upwards, and `ordinals` with them, in place and in steps: both are
 * in order at the end, and as they were until the last pass. Equal keys keep
 * their order; none may be NaN.
 */
export function* sortByNumber(
  ordinals: Uint32Array,
  keys: Float64Array,
): Generator<void> {
  if (yield* isAscending(keys)) return;
  const count = keys.length;
  const words = [new Uint32Array(count), new Uint32Array(count)] as const;
  const counts = [0, 1].map(() => SHIFTS.map(() => new Uint32Array(BUCKETS)));
  let from = new Uint32Array(count);
  let to = new Uint32Array(count);
  yield* inSteps(count, (start, end) => {
    fillWords(words[0], words[1], keys, start, end);
    for (let i = start; i < end; i++) from[i] = i;
    for (const [at, word] of words.entries()) {
      countDigits(counts[at]!, word, start, end);
    }
  });
  for (const [at, word] of words.entries()) {
    for (const [digit, shift] of SHIFTS.entries()) {
      const starts = counts[at]![digit]!;
      if (!startsOf(starts, count)) continue;
      yield* inSteps(count, (start, end) => {
        spread(from, to, starts, word, shift, start, end);
      });
      [from, to] = [to, from];
    }
  }
  yield* arrange(ordinals, from);
  yield* arrange(keys, from);
}

/** One pass: each place goes to where its digit's keys start. */
function spread(
  from: Uint32Array,
  to: Uint32Array,
  starts: Uint32Array,
  word: Uint32Array,
  shift: number,
  start: number,
  end: number,
): void {
  for (let i = start; i < end; i++) {
    const place = from[i]!;
    to[starts[word[place]! >>> shift & BUCKETS - 1]!++] = place;
  }
}

/** Puts values in the order of their places. */
function* arrange(
  values: Uint32Array | Float64Array,
  places: Uint32Array,
): Generator<void> {
  const { length } = values;
  const unsorted = values instanceof Uint32Array
    ? new Uint32Array(length)
    : new Float64Array(length);
  yield* inSteps(length, (from, to) => {
    unsorted.set(values.subarray(from, to), from);
  });
  yield* inSteps(length, (from, to) => {
    for (let i = from; i < to; i++) values[i] = unsorted[places[i]!]!;
  });
}

/** The two words of each key, so turned that they order like integers. */
function fillWords(
  lows: Uint32Array,
  highs: Uint32Array,
  keys: Float64Array,
  from: number,
  to: number,
): void {
  const number = new Float64Array(1);
  const bits = new Uint32Array(number.buffer);
  for (let i = from; i < to; i++) {
    number[0] = keys[i]! + 0; // -0 is 0.
    const isNegative = bits[1]! >>> 31 === 1;
    lows[i] = isNegative ? ~bits[0]! : bits[0]!;
    highs[i] = isNegative ? ~bits[1]! : bits[1]! ^ 1 << 31;
  }
}

/** Are they in order already, as what was written in order is? */
function* isAscending(keys: Float64Array): Generator<void, boolean> {
  let isSorted = true;
  for (
    const _ of inSteps(keys.length - 1, (from, to) => {
      for (let i = from; i < to && isSorted; i++) {
        isSorted = keys[i]! <= keys[i + 1]!;
      }
    })
  ) {
    if (!isSorted) return false;
    yield;
  }
  return isSorted;
}

function countDigits(
  counts: readonly Uint32Array[],
  word: Uint32Array,
  from: number,
  to: number,
): void {
  const [low, middle, high] = counts as [Uint32Array, Uint32Array, Uint32Array];
  for (let i = from; i < to; i++) {
    const bits = word[i]!;
    low[bits & BUCKETS - 1]!++;
    middle[bits >>> SHIFTS[1] & BUCKETS - 1]!++;
    high[bits >>> SHIFTS[2]]!++;
  }
}

/** Turns counts into where each digit's keys start; `false` when all of `length` keys have the same digit. */
function startsOf(counts: Uint32Array, length: number): boolean {
  let start = 0;
  for (let digit = 0; digit < BUCKETS; digit++) {
    const count = counts[digit]!;
    if (count === length) return false;
    counts[digit] = start;
    start += count;
  }
  return true;
}
