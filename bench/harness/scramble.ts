/**
 * Numbers and names that look random and are the same on every run.
 *
 * @module
 */

/** Scrambles a number and a salt into 32 bits (the finalizer of MurmurHash3). */
export function scramble(index: number, salt: number): number {
  let h = Math.imul(index + 1, 0x9e3779b1) ^ Math.imul(salt + 1, 0x85ebca6b);
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b);
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35);
  return (h ^ (h >>> 16)) >>> 0;
}

/**
 * Letters for item `index`: they look random, so that no engine profits from
 * order, and are one flat text, as ids are that were parsed.
 */
export function lettersOf(
  index: number,
  length: number,
  letters: string,
): string {
  const codes = new Array<number>(length);
  let bits = 0;
  for (let at = 0; at < length; at++) {
    if ((at & 3) === 0) bits = scramble(index, at);
    codes[at] = letters.charCodeAt(
      ((bits >>> ((at & 3) * 8)) & 0xff) % letters.length,
    );
  }
  return String.fromCharCode(...codes);
}

/** A number in `[0, 1)`, another one each time. */
export type Dice = () => number;

/** Dice that fall alike for alike seeds (sfc32, with 53 bits a throw). */
export function dice(seed: number): Dice {
  let a = 0x9e3779b9;
  let b = 0x243f6a88;
  let c = 0xb7e15162 ^ seed;
  let counter = 1;
  const next = (): number => {
    const sum = (a + b + counter) | 0;
    counter = (counter + 1) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = ((c << 21) | (c >>> 11)) + sum | 0;
    return sum >>> 0;
  };
  for (let turn = 0; turn < 12; turn++) next();
  return () => ((next() >>> 5) * 67_108_864 + (next() >>> 6)) / 2 ** 53;
}

/** Whole numbers in `[0, end)`, alike for alike seeds. */
export function numbers(seed: number): (end: number) => number {
  const roll = dice(seed);
  return (end) => Math.floor(roll() * end);
}
