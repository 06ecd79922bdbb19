/**
 * The state digest as docs/format.md defines it, in as few words as can be: slow,
 * and told everything each time.
 *
 * @module
 */

import { sha256 } from "../../crypto/mod.ts";
import { encodeText, toHex } from "../../src/base/bytes.ts";
import type { ItemName } from "../../repo/state/state.ts";

/** An item; a half-byte is a digit of its place. */
export interface OracleLeaf {
  readonly place: string;
  readonly digest: Uint8Array;
}

/** An item whose cell says this. */
export function oracleLeaf(
  { collection, id }: ItemName,
  cell: Uint8Array,
): OracleLeaf {
  return {
    place: toHex(sha256(encodeText(`${collection}\0${id}`))),
    digest: sha256(encodeText("sheaf leaf 1\n"), cell),
  };
}

/** The digest of those below a prefix. */
export function oracleDigest(
  leaves: readonly OracleLeaf[],
  prefix = "",
): Uint8Array {
  const below = leaves.filter(({ place }) => place.startsWith(prefix));
  if (below.length === 0) return new Uint8Array(32);
  if (below.length === 1) return below[0]!.digest;
  return nodeDigest(
    digits.map((digit) => oracleDigest(below, prefix + digit)),
  );
}

/** The digest of a node, by the 16 below it. */
export function nodeDigest(below: readonly Uint8Array[]): Uint8Array {
  return sha256(encodeText("sheaf node 1\n"), ...below);
}

/** A prefix of digits as the tree takes it. */
export function halfBytesOf(digits: string): number[] {
  return [...digits].map((digit) => parseInt(digit, 16));
}

const digits = [..."0123456789abcdef"];
