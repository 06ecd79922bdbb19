/**
 * Characters of every kind for generated text.
 *
 * fast-check's own unit "binary" gives the same, but takes seconds and hundreds
 * of megabytes for a table of them all.
 *
 * @module
 */

import fc from "fast-check";

const SURROGATES_FROM = 0xd800;
const SURROGATES = 2_048;
const CODE_POINTS = 0x110000;

/** Any character but half a surrogate pair; every other one of the first few hundred, controls among them. */
export const anyCharacter: fc.Arbitrary<string> = fc.oneof(
  fc.nat(0x2ff),
  fc.nat(CODE_POINTS - SURROGATES - 1),
).map((at) =>
  String.fromCodePoint(at < SURROGATES_FROM ? at : at + SURROGATES)
);
