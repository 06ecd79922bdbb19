/**
 * Which of its own chains a device may go on with: those of which it can prove
 * that nobody else has more of them.
 */

import { compareHlc } from "../../src/base/hlc.ts";
import type { Storage } from "../../src/storage/storage.ts";
import type { Chain } from "./graph.ts";
import type { LoadedReplica } from "../loaded_replica.ts";

export interface LentChain {
  /** Its name; absent: the tab begins one. */
  readonly chain?: string | undefined;
  /** The id of its last commit, where it is at hand. */
  readonly lastId?: Uint8Array | undefined;
}

/** Fast mode may have told others what a crash took back; the signed modes never do. */
export function provesContinuity({ mode, recovery }: LoadedReplica): boolean {
  if (recovery.quarantine !== undefined) return false;
  return mode !== "fast" || recovery.clean;
}

/** Does a chain go on no more: was it cut here, or did its author end it? */
export function isOver(
  { voided, credentials: { retirements } }: Pick<
    LoadedReplica,
    "voided" | "credentials"
  >,
  chain: string,
): boolean {
  return voided.isEnded(chain) || retirements.isRetired(chain);
}

/** Which chain a replica goes on with, and whether it must note that it begins another. */
export function continuityOf(
  loaded: LoadedReplica,
  { isOriginal, lent }: {
    readonly isOriginal: boolean;
    readonly lent?: LentChain | "new" | undefined;
  },
): { readonly continues: boolean | string; readonly isMarkDue: boolean } {
  if (typeof lent === "object") {
    return { continues: lent.chain ?? false, isMarkDue: false };
  }
  const isProved = isOriginal && provesContinuity(loaded);
  return {
    continues: isProved && lent === undefined,
    isMarkDue: !isProved && loaded.graph.commits > 0,
  };
}

/**
 * The chains of a key that may be lent. Where there ever was a doubt, only the
 * latest one: it began after the doubt was noted, and the others are older.
 *
 * @param key as the first 32 characters of its chains' names
 * @param taken the chain that this replica writes itself
 * @param isSpotless was there never a repair?
 */
export function lendableChains(
  loaded: LoadedReplica,
  key: string,
  taken: string,
  isSpotless: boolean,
): LentChain[] {
  const { graph, voided, mode } = loaded;
  const own: Chain[] = [...graph.chains()].filter(({ name }) =>
    name.startsWith(key) && !isOver(loaded, name)
  );
  own.sort((a, b) => compareHlc(b.last, a.last));
  const isSure = mode !== "fast" && isSpotless;
  const { begun } = voided;
  const isBegun = begun !== undefined && graph.lengthOf(begun) === 0;
  if (!isSure && isBegun) return [];
  return (isSure ? own : own.slice(0, 1))
    .filter(({ name }) => name !== taken)
    .map(({ name, length }) => ({
      chain: name,
      lastId: graph.idBefore(name, length),
    }));
}

/** Was nothing in this folder ever set aside? A repair leaves its traces in names. */
export function isSpotless(
  storage: Storage,
  { folder }: LoadedReplica,
): boolean {
  return !storage.list(folder).some((name) => name.startsWith("quarantine-"));
}

/** What the owner knows of the chain that it lends: the tab goes on from there. */
export function noteLent(
  { graph, commits }: LoadedReplica,
  { chain, lastId }: LentChain,
): void {
  if (chain === undefined) return;
  const length = graph.lengthOf(chain);
  if (graph.idBefore(chain, length) !== undefined) return;
  if (lastId === undefined) commits.hashLazily();
  else graph.setHashed(chain, length, lastId);
}
