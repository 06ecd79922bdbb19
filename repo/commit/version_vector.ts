/**
 * Version vectors: chain → how many of its commits are here.
 *
 * Chains have no gaps, so a vector names a set of commits exactly.
 * `vector = count varint | (chain {40} | commits varint)*`, chains ascending.
 */

import { type ByteReader, ByteWriter } from "../../src/base/bytes.ts";
import { chainBytes, readChain } from "./commit.ts";

/** Chain → how many of its commits; chains without commits do not stand in it. */
export type VersionVector = ReadonlyMap<string, number>;

/**
 * At most `max` chains of a vector, those that are asked for first before others.
 * Who is told less than there is sends, or is sent, what both have: it is known.
 */
export function boundVector(
  vector: VersionVector,
  max: number,
  first: Iterable<string>,
): VersionVector {
  if (vector.size <= max) return vector;
  const bounded = new Map<string, number>();
  for (const chain of [...first, ...vector.keys()]) {
    if (bounded.size === max) break;
    const count = vector.get(chain);
    if (count !== undefined) bounded.set(chain, count);
  }
  return bounded;
}

export function encodeVector(vector: VersionVector): Uint8Array<ArrayBuffer> {
  const writer = new ByteWriter(8 + vector.size * 48);
  writer.varint(vector.size);
  for (const chain of [...vector.keys()].sort()) {
    writer.bytes(chainBytes(chain));
    writer.varint(vector.get(chain)!);
  }
  return writer.view();
}

export function readVector(reader: ByteReader): VersionVector {
  const size = reader.varint();
  const vector = new Map<string, number>();
  let last = "";
  for (let i = 0; i < size; i++) {
    const chain = readChain(reader);
    const count = reader.varint();
    if (chain <= last || count === 0) {
      throw new SyntaxError(
        "Cannot decode vector: its chains are not in order",
      );
    }
    vector.set(chain, count);
    last = chain;
  }
  return vector;
}
