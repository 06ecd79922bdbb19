/**
 * Ids of the commits of a replica, by chain and number: as many commits with
 * other ids are other commits.
 *
 * They are hashed here, from the bytes in the log, and kept beside the replica:
 * what it knows of its own ids is not asked, nor changed.
 *
 * @module
 */

import { ChainIds } from "../../../repo/chain_ids.ts";
import type { Replica } from "../../../repo/replica.ts";
import { toHex } from "../../../src/base/bytes.ts";

const known = new WeakMap<Replica, Map<string, string[]>>();

/** The id of a commit that is there, hexadecimal. */
export function idAt(replica: Replica, chain: string, number: number): string {
  const ids = idsOf(replica, chain);
  if (number >= ids.length) {
    const length = number + 1 - ids.length;
    const numbers = Array.from({ length }, (_, i) => ids.length + i);
    const hashes = new ChainIds(replica.commits, replica.loaded.genesisId);
    for (const id of hashes.at(chain, numbers)) ids.push(toHex(id));
  }
  return ids[number]!;
}

/** Those that were hashed before, as far as the chain still goes. */
function idsOf(replica: Replica, chain: string): string[] {
  let chains = known.get(replica);
  if (chains === undefined) known.set(replica, chains = new Map());
  let ids = chains.get(chain);
  if (ids === undefined) chains.set(chain, ids = []);
  ids.length = Math.min(ids.length, replica.graph.lengthOf(chain));
  return ids;
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
