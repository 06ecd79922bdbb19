/**
 * Ids of the commits of a replica, by chain and number: as many commits with
 * other ids are other commits.
 *
 * They are hashed here, from the bytes in the log, and kept beside the replica:
 * what it knows of its own ids is not asked, nor changed.
 *
 * @module
 */

import { bytesOf } from "../../../repo/commit/batch_parts.ts";
import { ChainHash, chainStart } from "../../../repo/commit/commit.ts";
import type { Replica } from "../../../repo/replica.ts";
import { toHex } from "../../../src/base/bytes.ts";

/** Ids of a chain's commits, and the last of them as bytes. */
interface Known {
  readonly ids: string[];
  last: Uint8Array;
}

const known = new WeakMap<Replica, Map<string, Known>>();

/** The id of a commit that is there, hexadecimal. */
export function idAt(replica: Replica, chain: string, number: number): string {
  const { ids } = knownOf(replica, chain);
  if (number >= ids.length) hashTo(replica, chain, number);
  return ids[number]!;
}

/** Hashes on from the last id that is known. */
function hashTo(replica: Replica, chain: string, to: number): void {
  const known = knownOf(replica, chain);
  const { ids } = known;
  const hash = new ChainHash().start(known.last);
  while (ids.length <= to) {
    const { commit, logged: { batch } } = replica.commits
      .read(chain, ids.length)!;
    const { at, headerEnd, payloadAt } = commit;
    const bytes = bytesOf(batch, commit);
    hash.next(
      bytes.subarray(0, headerEnd - at),
      bytes.subarray(payloadAt - at),
    );
    ids.push(toHex(hash.id));
  }
  known.last = hash.id.slice();
}

/** What was hashed before, anew where the chain became shorter. */
function knownOf(replica: Replica, chain: string): Known {
  let chains = known.get(replica);
  if (chains === undefined) known.set(replica, chains = new Map());
  const found = chains.get(chain);
  const length = replica.graph.lengthOf(chain);
  if (found !== undefined && found.ids.length <= length) return found;
  const start = chainStart(replica.loaded.genesisId, chain);
  const fresh = { ids: [], last: start };
  chains.set(chain, fresh);
  return fresh;
}

/** Has a replica this very commit of another one? */
export function hasCommit(
  replica: Replica,
  other: Replica,
  chain: string,
  number: number,
): boolean {
  return replica.graph.lengthOf(chain) > number &&
    idAt(replica, chain, number) === idAt(other, chain, number);
}
