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
import { nameOf } from "../repo/commit/commit.ts";
import type { ChainEnd } from "../sync/summary.ts";

const KEY_CHARACTERS = 32;

/**
 * Cuts that let everything stand that was accepted of a session, as far as none
 * in force does: what stands here came before they did, or a crash came between
 * the records of one revocation. `undefined` when what is in force says it all.
 *
 * @param replica the server's
 * @param sessionKey whose commits
 * @param accepted what else is known to have been accepted, by chain
 */
export function cutsToIssue(
  { graph, loaded: { credentials: { revocations } } }: Replica,
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
  return isRevoked && cuts.size === 0 ? undefined : cuts;
}
