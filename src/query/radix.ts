/**
 * A stable sort by numbers, in time proportional to how many there are: an
 * index over a large collection is built without a comparison.
 *
 * Radix sort over the 64 bits of a double, 16 bits a pass from the lowest; a
 * pass in which all agree is left out. The bits of a double order like an
 * integer once the sign is flipped, and all bits of negative ones (Herf,
 * "Radix Tricks", 2001).
 *
 * @module
 */

const DIGIT_BITS = 16;
const BUCKETS = 1 << DIGIT_BITS;
const PASSES = 4;

/**
 * Sorts `ordinals` in place by `numbers[ordinal]`, upwards; equal numbers keep
 * their order. No number may be NaN.
 */
export function sortByNumber(
  ordinals: number[],
  numbers: Float64Array,
): void {
  const count = ordinals.length;
  const keys = new Uint16Array(count * PASSES);
  fillKeys(keys, ordinals, numbers);
  let from = Uint32Array.from({ length: count }, (_, i) => i);
  let to = new Uint32Array(count);
  const starts = new Uint32Array(BUCKETS);
  for (let pass = 0; pass < PASSES; pass++) {
    if (!countDigits(starts, keys, pass)) continue;
    for (let i = 0; i < count; i++) {
      const place = from[i]!;
      to[starts[keys[place * PASSES + pass]!]!++] = place;
    }
    [from, to] = [to, from];
  }
  const unsorted = Uint32Array.from(ordinals);
  for (let i = 0; i < count; i++) ordinals[i] = unsorted[from[i]!]!;
}

/** The four digits of each key, lowest first. */
function fillKeys(
  keys: Uint16Array,
  ordinals: readonly number[],
  numbers: Float64Array,
): void {
  const number = new Float64Array(1);
  const bits = new Uint32Array(number.buffer);
  for (let i = 0; i < ordinals.length; i++) {
    number[0] = numbers[ordinals[i]!]! + 0; // -0 is 0.
    let [low, high] = [bits[0]!, bits[1]!];
    if (high >>> 31 === 1) [low, high] = [~low, ~high];
    else high ^= 1 << 31;
    const at = i * PASSES;
    keys[at] = low;
    keys[at + 1] = low >>> DIGIT_BITS;
    keys[at + 2] = high;
    keys[at + 3] = high >>> DIGIT_BITS;
  }
}

/** Where each digit's keys start; `false` when all keys have the same digit. */
function countDigits(
  starts: Uint32Array,
  keys: Uint16Array,
  pass: number,
): boolean {
  starts.fill(0);
  for (let at = pass; at < keys.length; at += PASSES) starts[keys[at]!]!++;
  const count = keys.length / PASSES;
  if (count === 0 || starts[keys[pass]!] === count) return false;
  let start = 0;
  for (let digit = 0; digit < BUCKETS; digit++) {
    const length = starts[digit]!;
    starts[digit] = start;
    start += length;
  }
  return true;
}
