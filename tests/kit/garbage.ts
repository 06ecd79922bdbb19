/**
 * Damaged and random bytes for decoders: they throw `SyntaxError` and nothing
 * else.
 *
 * @module
 */

import assert from "node:assert/strict";
import fc from "fast-check";
import { isTried, sized } from "./tier.ts";

const SEED = 20_260_101;
const RUNS = sized(70, 500);

function attempt(bytes: Uint8Array, decode: (bytes: Uint8Array) => void): void {
  try {
    decode(bytes);
  } catch (error) {
    if (error instanceof SyntaxError) return;
    throw error;
  }
}

/**
 * Gives `decode` every cut and every flipped bit of sound bytes (in the quick
 * tier one of seven), splices of them, and random bytes. `decode` may return, or
 * throw `SyntaxError`.
 */
export function throwsOnlySyntaxError(
  sound: Uint8Array,
  decode: (bytes: Uint8Array) => void,
): void {
  assert.ok(sound.length > 0);
  for (let length = 0; length < sound.length; length++) {
    assert.throws(
      () => decode(sound.slice(0, length)),
      SyntaxError,
      `cut to ${length} bytes`,
    );
  }
  for (let bit = 0; bit < sound.length * 8; bit++) {
    if (!isTried(bit, 7)) continue;
    const flipped = sound.slice();
    flipped[bit >> 3]! ^= 1 << (bit & 7);
    attempt(flipped, decode);
  }
  const garbage = fc.uint8Array({ maxLength: 300 });
  fc.assert(
    fc.property(garbage, (bytes) => attempt(bytes, decode)),
    { seed: SEED, numRuns: RUNS },
  );
  const splices = fc.tuple(fc.nat(sound.length), fc.nat(20), garbage);
  fc.assert(
    fc.property(splices, ([at, removed, added]) => {
      fc.pre(removed + added.length > 0);
      const spliced = new Uint8Array([
        ...sound.subarray(0, at),
        ...added,
        ...sound.subarray(at + removed),
      ]);
      fc.pre(spliced.toHex() !== sound.toHex());
      attempt(spliced, decode);
    }),
    { seed: SEED, numRuns: RUNS },
  );
}
