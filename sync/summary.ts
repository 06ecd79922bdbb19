/**
 * Summaries: the chains of a repository, how long each is, and its last id.
 *
 * `summary = (chain {40} | length u48 | last id {32})*`, chains ascending: what
 * a digest is the hash of. Derived, and compared, never admitted.
 *
 * @module
 */

import {
  chainBytesLength,
  chainName,
  idLength,
} from "../repo/commit/commit.ts";
import { ByteReader } from "../src/base/bytes.ts";

/** Bytes of one chain in a summary. */
export const summaryEntryBytes: number = chainBytesLength + 6 + idLength;

/** How far a chain went. */
export interface ChainEnd {
  readonly count: number;
  /** The id of its last commit: of all of them, because ids are chained. */
  readonly id: Uint8Array;
}

/** Where the chains of a summary end that is known to be sound; half an entry is left alone. */
export function chainEndsOf(summary: Uint8Array): Map<string, ChainEnd> {
  const reader = new ByteReader(summary);
  const ends = new Map<string, ChainEnd>();
  while (reader.at + summaryEntryBytes <= summary.length) {
    const chain = chainName(reader.take(chainBytesLength));
    ends.set(chain, { count: reader.u48(), id: reader.take(idLength) });
  }
  return ends;
}

/** Reads a summary; `SyntaxError` when the bytes are none. */
export function readSummary(bytes: Uint8Array): Map<string, ChainEnd> {
  const chains = chainEndsOf(bytes);
  let last = "";
  for (const [chain, { count }] of chains) {
    if (chain <= last || count === 0) {
      throw new SyntaxError(
        "Cannot decode summary: its chains are not in order",
      );
    }
    last = chain;
  }
  if (chains.size * summaryEntryBytes !== bytes.length) {
    throw new SyntaxError("Cannot decode summary: its size is not allowed");
  }
  return chains;
}
