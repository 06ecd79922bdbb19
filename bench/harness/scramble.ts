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
