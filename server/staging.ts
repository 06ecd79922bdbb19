/**
 * Staging: pieces of a chain that was accepted before the server lost it, until
 * the commit has come whose id a witness proves. One piece alone shows nothing:
 * its author could put any other commits in its place.
 *
 * Architecture invariant: nothing staged is part of the repository, nor judged.
 * Whoever holds it bounds its bytes, and drops it with the peer.
 *
 * @module
 */

import { equalBytes } from "../src/base/bytes.ts";
import type { Arrival } from "../repo/admission/arrival.ts";
import { type Batch, decodeBatch, hashBatch } from "../repo/commit/batch.ts";
import type { Replica } from "../repo/mod.ts";
import type { Staging } from "../sync/conversation.ts";
import type { RestoreReport } from "./restore_report.ts";
import type { ChainEnd } from "../sync/summary.ts";
import { recordKind } from "../repo/mod.ts";

/** What staging asks and tells of restores. */
export type StagingRestores = Pick<
  RestoreReport,
  "accepted" | "isAwaited" | "prove" | "cameBack"
>;

/** The pieces of a chain that have come, one behind the other. */
interface Staged {
  /** Where they end, by how many commits there are. */
  readonly ends: Map<number, ChainEnd>;
  /** The last of these. */
  readonly end: ChainEnd;
  readonly arrivals: Arrival[];
}

/** What a peer has brought of chains whose proved ends have not come. */
export class ChainStaging implements Staging {
  readonly #replica: Replica;
  readonly #restores: StagingRestores;
  readonly #chains = new Map<string, Staged>();

  /**
   * @param replica the server's
   * @param restores knows which ends are proved, and hears of more
   */
  constructor(replica: Replica, restores: StagingRestores) {
    this.#replica = replica;
    this.#restores = restores;
  }

  take(arrival: Arrival): readonly Arrival[] {
    const batch = this.#batchOf(arrival);
    const end = batch && this.#endOf(batch);
    if (batch === undefined || end === undefined) return [arrival];
    const { chain, first } = batch;
    const staged = this.#chains.get(chain);
    const { graph, name } = this.#replica;
    const length = graph.lengthOf(chain);
    const { count, id } = staged?.end ??
      { count: length, id: graph.idBefore(chain, length) };
    const to = first + batch.commits.length;
    const isFirst = staged === undefined;
    if (first > count || id === undefined || isFirst && to >= end.count) {
      return [arrival]; // The door says what is wrong, or that it is whole.
    }
    const last = Math.max(count, Math.min(to, end.count));
    const lastId = hashBatch(batch, id, count - first, last - first);
    this.#restores.cameBack(name);
    const ends = staged?.ends ?? new Map<number, ChainEnd>();
    const arrivals = staged?.arrivals ?? [];
    arrivals.push(arrival);
    if (to < end.count) {
      const next = { count: Math.max(count, to), id: lastId };
      this.#chains.set(chain, { ends, arrivals, end: next });
      ends.set(next.count, next);
      return [];
    }
    if (equalBytes(lastId, end.id)) this.#restores.prove(name, chain, ends);
    return this.drop(chain);
  }

  drop(chain: string): readonly Arrival[] {
    const arrivals = this.#chains.get(chain)?.arrivals ?? [];
    this.#chains.delete(chain);
    return arrivals;
  }

  #batchOf({ kind, bytes }: Arrival): Batch | undefined {
    const { mode, name } = this.#replica;
    const isOf = kind === recordKind.signedBatch && mode === "default";
    if (!isOf || !this.#restores.isAwaited(name)) return undefined;
    try {
      return decodeBatch(bytes, true);
    } catch (error) {
      if (error instanceof SyntaxError) return undefined;
      throw error;
    }
  }

  /** The proved end that it waits for. */
  #endOf({ chain, first, commits }: Batch): ChainEnd | undefined {
    const { graph, name } = this.#replica;
    const to = first + commits.length;
    const end = this.#restores.accepted(name, chain, to);
    const isBack = end === undefined ||
      graph.lengthOf(chain) >= Math.min(to, end.count);
    return isBack || end.count === to && !this.#chains.has(chain)
      ? undefined
      : end;
  }
}
