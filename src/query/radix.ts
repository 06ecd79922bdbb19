/**
 * A stable sort by numbers, in time proportional to how many there are: an
 * index over a large collection is built without a comparison.
 *
 * Radix sort over the two words of a double, 11 bits a pass from the lowest, so
 * that the counters stay in the cache; a pass in which all agree is left out.
 * The bits of a double order like an integer once the sign is flipped, and all
 * bits of negative ones (Herf, "Radix Tricks", 2001).
 *
 * @module
 */

const BUCKETS = 1 << 11;
const SHIFTS = [0, 11, 22] as const;

/**
 * Sorts `ordinals` in place by `numbers[ordinal]`, upwards, pass by pass: they are
 * in order at the end, and as they were until then. Equal numbers keep their order;
 * no number may be NaN.
 */
export function* sortByNumber(
  ordinals: Uint32Array,
  numbers: Float64Array,
): Generator<void> {
  if (isAscending(ordinals, numbers)) return;
  yield;
  const count = ordinals.length;
  const words = [new Uint32Array(count), new Uint32Array(count)] as const;
  fillWords(words[0], words[1], ordinals, numbers);
  yield;
  let from = new Uint32Array(count);
  countUp(from);
  let to = new Uint32Array(count);
  for (const word of words) {
    const counts = SHIFTS.map(() => new Uint32Array(BUCKETS));
    countDigits(counts[0]!, counts[1]!, counts[2]!, word);
    for (const [digit, shift] of SHIFTS.entries()) {
      const starts = counts[digit]!;
      if (!startsOf(starts, count)) continue;
      spread(from, to, starts, word, shift);
      [from, to] = [to, from];
      yield;
    }
  }
  arrange(ordinals, from);
}

// Loops stand in functions of their own: V8 does not replace a generator that
// runs by its compiled form, and the first index of a process would be sorted
// by the interpreter.

/** One pass: each place goes to where its digit's keys start. */
function spread(
  from: Uint32Array,
  to: Uint32Array,
  starts: Uint32Array,
  word: Uint32Array,
  shift: number,
): void {
  for (let i = 0; i < from.length; i++) {
    const place = from[i]!;
    to[starts[word[place]! >>> shift & BUCKETS - 1]!++] = place;
  }
}

function countUp(places: Uint32Array): void {
  for (let i = 0; i < places.length; i++) places[i] = i;
}

/** Puts the ordinals in the order of their places. */
function arrange(ordinals: Uint32Array, places: Uint32Array): void {
  const unsorted = ordinals.slice();
  for (let i = 0; i < places.length; i++) ordinals[i] = unsorted[places[i]!]!;
}

/** The two words of each key, so turned that they order like integers. */
function fillWords(
  lows: Uint32Array,
  highs: Uint32Array,
  ordinals: Uint32Array,
  numbers: Float64Array,
): void {
  const number = new Float64Array(1);
  const bits = new Uint32Array(number.buffer);
  for (let i = 0; i < ordinals.length; i++) {
    number[0] = numbers[ordinals[i]!]! + 0; // -0 is 0.
    const isNegative = bits[1]! >>> 31 === 1;
    lows[i] = isNegative ? ~bits[0]! : bits[0]!;
    highs[i] = isNegative ? ~bits[1]! : bits[1]! ^ 1 << 31;
  }
}

/** Are they in order already, as what was written in order is? */
function isAscending(ordinals: Uint32Array, numbers: Float64Array): boolean {
  for (let i = 1; i < ordinals.length; i++) {
    if (numbers[ordinals[i - 1]!]! > numbers[ordinals[i]!]!) return false;
  }
  return true;
}

/** How often each digit has each value. */
function countDigits(
  low: Uint32Array,
  middle: Uint32Array,
  high: Uint32Array,
  word: Uint32Array,
): void {
  for (let i = 0; i < word.length; i++) {
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
