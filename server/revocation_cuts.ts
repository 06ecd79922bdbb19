/**
 * What stands of a revoked session: the commits that are here, and those that a
 * true witness saw, which is proof that they were accepted before a log was
 * lost.
 *
 * Architecture invariant: cuts only ever rise, so that nobody who took a commit
 * from this server, in any life of its log, holds one that it refuses (law 7).
 *
 * @module
 */

import type { Replica } from "../repo/mod.ts";
import { nameOf } from "../repo/commit.ts";
import { ByteReader } from "../src/base/bytes.ts";

const CHAIN_BYTES = 40;
const KEY_CHARACTERS = 32;
const ID_BYTES = 32;
const ENTRY_BYTES = CHAIN_BYTES + 6 + ID_BYTES;

/** How far a chain went. */
export interface ChainEnd {
  readonly count: number;
  /** The id of its last commit: of all of them, because ids are chained. */
  readonly id: Uint8Array;
}

/** Where the chains of a summary end that is known to be sound; half an entry is left alone. */
export function chainEndsOf(summary: Uint8Array): Map<string, ChainEnd> {
  const ends = new Map<string, ChainEnd>();
  const entries = Math.floor(summary.length / ENTRY_BYTES);
  for (let i = 0; i < entries; i++) {
    const start = i * ENTRY_BYTES;
    const chain = nameOf(summary, start, start + CHAIN_BYTES);
    const reader = new ByteReader(summary, start + CHAIN_BYTES);
    ends.set(chain, { count: reader.u48(), id: reader.take(ID_BYTES) });
  }
  return ends;
}

/**
 * Cuts that let everything stand that was accepted of a session, as far as none
 * in force does: what stands here came before they did, or a crash came between
 * the records of one revocation. `undefined` when there are none to issue.
 *
 * @param replica the server's
 * @param sessionKey whose commits
 * @param accepted what else is known to have been accepted, by chain
 */
export function cutsToIssue(
  { graph, loaded: { revocations } }: Replica,
  sessionKey: Uint8Array,
  accepted: ReadonlyMap<string, Pick<ChainEnd, "count">>,
): Map<string, number> | undefined {
  const key = nameOf(sessionKey, 0, KEY_CHARACTERS);
  const isRevoked = revocations.of(key).length > 0;
  const cuts = new Map<string, number>();
  const raise = (chain: string, count: number) => {
    const incarnation = chain.slice(KEY_CHARACTERS);
    const inForce = isRevoked ? revocations.cutOf(chain) : 0;
    if (count > Math.max(inForce, cuts.get(incarnation) ?? 0)) {
      cuts.set(incarnation, count);
    }
  };
  for (const { name, length } of graph.chains()) {
    if (name.startsWith(key)) raise(name, length);
  }
  for (const [chain, { count }] of accepted) {
    if (chain.startsWith(key)) raise(chain, count);
  }
  return cuts.size === 0 ? undefined : cuts;
}
