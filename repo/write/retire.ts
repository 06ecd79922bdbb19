/**
 * Retiring: own chains that nobody goes on with are over, once a server has all of
 * them. So a device that begins a new one after each accident may live for ever.
 *
 * Architecture invariant: a chain is retired at the length that it has everywhere,
 * and never one that a tab may still write.
 */

import type { SessionSigner } from "../../crypto/keys.ts";
import { concatBytes } from "../../src/base/bytes.ts";
import { limits } from "../../src/base/limits.ts";
import { chainBytes } from "../commit/commit.ts";
import { hasRoomToRetire } from "../admission/credential_check.ts";
import { retirementLayout } from "../commit/retirement.ts";
import type { LoadedReplica } from "../loaded_replica.ts";
import { recordKind } from "../log/format.ts";

/**
 * Ends all chains that are idle; says whether there was one.
 *
 * @param isIdle of the key that signs: may nobody write it any more? Asked again before it is said
 * @param isOver may nothing be written any more?
 */
export async function retire(
  loaded: LoadedReplica,
  signer: SessionSigner,
  isIdle: (chain: string) => boolean,
  isOver: () => boolean,
): Promise<boolean> {
  const { mode, graph, genesisId, log, credentials } = loaded;
  const { retirements } = credentials;
  if (mode !== "default") return false;
  const chains = [...graph.chains()]
    .filter(({ name }) => !retirements.isRetired(name) && isIdle(name))
    .slice(0, limits.retiredAtOnceMax)
    .map(({ name, length }) => ({ name, length }))
    .sort((a, b) => a.name < b.name ? -1 : 1);
  if (chains.length === 0) return false;
  const ends = chains.map(({ name, length }) => ({
    incarnation: chainBytes(name).slice(-8),
    commits: length,
  }));
  const said = { genesisId, ends };
  const { unsigned, message } = retirementLayout.begin(said, signer.publicKey);
  const bytes = concatBytes(unsigned, await signer.sign(message));
  const areIdle = chains.every(({ name, length }) =>
    isIdle(name) && graph.lengthOf(name) === length
  );
  const one = retirementLayout.decode(bytes);
  if (isOver() || !areIdle || !hasRoomToRetire(retirements, one)) return false;
  log.append(recordKind.retirement, [bytes]);
  retirements.add(one);
  return true;
}
