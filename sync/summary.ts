/**
 * Summaries: the chains of a repository, how long each is, its last id, and which
 * of its commits are void.
 *
 * `summary = (chain {40} | length u48 | last id {32} | ranges)*`, chains
 * ascending: what a digest is the hash of. Where commits of a chain are void, 2^47
 * is added to its length, and the ranges of their numbers follow; else nothing.
 * Derived, and compared, never admitted.
 */

import {
  chainBytes,
  chainBytesLength,
  chainName,
  idLength,
} from "../repo/commit/commit.ts";
import {
  type ChainEnd,
  SAYS_VOIDS,
  SUMMARY_ENTRY_BYTES,
  writeChainEnd,
} from "../repo/graph/graph.ts";
import { ByteReader, ByteWriter, equalBytes } from "../src/base/bytes.ts";
import { NumberRanges } from "../src/base/number_ranges.ts";

export type { ChainEnd };

/** Do two ends of a chain say the same? */
export function isSameEnd(one: ChainEnd, other: ChainEnd): boolean {
  return one.count === other.count && equalBytes(one.id, other.id) &&
    String([...one.voids ?? []]) === String([...other.voids ?? []]);
}

/** The summary of some chains. */
export function encodeSummary(
  ends: ReadonlyMap<string, ChainEnd>,
): Uint8Array<ArrayBuffer> {
  const writer = new ByteWriter(ends.size * SUMMARY_ENTRY_BYTES);
  for (const [chain, end] of [...ends].sort(([a], [b]) => a < b ? -1 : 1)) {
    writeChainEnd(writer, chainBytes(chain), end);
  }
  return writer.copy();
}

/** Where the chains of a summary end that is known to be sound; half an entry is left alone. */
export function chainEndsOf(summary: Uint8Array): Map<string, ChainEnd> {
  const reader = new ByteReader(summary);
  const ends = new Map<string, ChainEnd>();
  while (reader.at + SUMMARY_ENTRY_BYTES <= summary.length) {
    ends.set(chainName(reader.take(chainBytesLength)), readEnd(reader));
  }
  return ends;
}

function readEnd(reader: ByteReader): ChainEnd {
  const length = reader.u48();
  const count = length % SAYS_VOIDS;
  const id = reader.take(idLength);
  if (length === count) return { count, id };
  const voids = NumberRanges.read(reader, count);
  if (voids.size > 0) return { count, id, voids };
  throw new SyntaxError("Cannot decode summary: nothing of a chain is void");
}

/** Reads a summary; `SyntaxError` when the bytes are none. */
export function readSummary(bytes: Uint8Array): Map<string, ChainEnd> {
  const reader = new ByteReader(bytes);
  const ends = new Map<string, ChainEnd>();
  let last = "";
  while (!reader.done) {
    const chain = chainName(reader.take(chainBytesLength));
    const end = readEnd(reader);
    if (chain <= last || end.count === 0) {
      throw new SyntaxError(
        "Cannot decode summary: its chains are not in order",
      );
    }
    ends.set(last = chain, end);
  }
  return ends;
}

/** As many chains of a summary as fit so many bytes, and of how many chains it is. */
export function cutSummary(
  summary: Uint8Array,
  bytesMax: number,
): { readonly chains: number; readonly bytes: Uint8Array } {
  const reader = new ByteReader(summary);
  let chains = 0;
  let end = 0;
  for (; !reader.done; chains++) {
    reader.at += chainBytesLength;
    readEnd(reader);
    if (reader.at <= bytesMax) end = reader.at;
  }
  return { chains, bytes: summary.subarray(0, end) };
}
