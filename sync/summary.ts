/**
 * Summaries: the chains of a repository, how long each is, and its last id.
 *
 * `summary = (chain {40} | length u48 | last id {32})*`, chains ascending: what
 * a digest is the hash of. Derived, and compared, never admitted.
 *
 * @module
 */

import { chainBytesLength, chainName, idLength } from "../repo/commit.ts";
import { ByteReader } from "../src/base/bytes.ts";

/** Bytes of one chain in a summary. */
export const summaryEntryBytes: number = chainBytesLength + 6 + idLength;

/** How a chain ends. */
export interface ChainEnd {
  readonly length: number;
  readonly lastId: Uint8Array;
}

/** Reads a summary; `SyntaxError` when the bytes are none. */
export function readSummary(bytes: Uint8Array): Map<string, ChainEnd> {
  const count = bytes.length / summaryEntryBytes;
  if (!Number.isInteger(count)) {
    throw new SyntaxError("Cannot decode summary: its size is not allowed");
  }
  const reader = new ByteReader(bytes);
  const chains = new Map<string, ChainEnd>();
  let last = "";
  for (let i = 0; i < count; i++) {
    const chain = chainName(reader.take(chainBytesLength));
    const length = reader.u48();
    if (chain <= last || length === 0) {
      throw new SyntaxError(
        "Cannot decode summary: its chains are not in order",
      );
    }
    chains.set(chain, { length, lastId: reader.take(idLength) });
    last = chain;
  }
  return chains;
}
