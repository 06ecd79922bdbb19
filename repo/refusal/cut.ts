/**
 * Cutting: the end of a chain that cannot go on under its name is taken out,
 * with all that descends from it.
 *
 * Own commits in it become refusals first, which wait to be written again
 * (`reissue.ts`): a crash before the cut leaves them to the next opening, and
 * one behind it, too. What others wrote comes again from who has it. Batches go
 * whole, so that nothing has to be sealed again.
 *
 * Architecture invariant: it takes out what cannot go on and nothing else
 * (law 11); what stays is the same as where the rest never was (law 4).
 */

import { getOrMake } from "../../src/base/collections.ts";
import {
  type Batch,
  type BatchCommit,
  type LoggedBatch,
  patchOf,
} from "../commit/batch.ts";
import type { Position } from "../commit/commit.ts";
import { Graph } from "../graph/graph.ts";
import type { CommitReader } from "../history/commit_reader.ts";
import type { LoadedReplica } from "../loaded_replica.ts";
import { recordKind } from "../log/format.ts";
import { foldAnew, Touched } from "./refold.ts";
import {
  type Cut,
  encodeCut,
  encodeRefusal,
  type Refusal,
  type RefusedRecord,
  REISSUED,
} from "./void_commits.ts";

export interface VoidParts {
  readonly loaded: LoadedReplica;
  /** Runs when the record is in the log: nothing behind it leaves before it is durable. */
  readonly fence?: () => void;
  /** Hears from which log address on commits are void. */
  readonly outdate?: (address: number) => void;
}

export interface CutRequest {
  readonly cuts: readonly Cut[];
  /** Is it a key of ours? As the first 32 characters of its chains' names. */
  readonly isOwn: (key: string) => boolean;
  /** Is a commit of such a key written again? */
  readonly isReissued: (chain: string, number: number) => boolean;
  /**
   * Does what others built on it go as well? Otherwise a commit that somebody
   * else's descends from is in other hands already: it stays, and so does what
   * is before it.
   */
  readonly isForAll: boolean;
  /** Runs before the cut is noted: chains that are cut do not go on. */
  readonly leave?: (cuts: readonly Cut[]) => void;
}

export interface CutDone {
  readonly cuts: readonly Cut[];
  /** Log addresses of batches of which commits are to be written again. */
  readonly lost: ReadonlySet<number>;
  readonly tell: () => void;
}

/** Takes out what is asked for; `undefined` where nothing of it is here. */
export function cut(
  { loaded, fence, outdate }: VoidParts,
  request: CutRequest,
): CutDone | undefined {
  const { graph, log, commits, voided, genesisId } = loaded;
  const isHere = request.cuts.some(({ chain, from }) =>
    graph.lengthOf(chain) > from
  );
  if (!isHere) return undefined;
  const plan = planOf(commits, genesisId, request);
  if (plan.address === Infinity) return undefined;
  const { cuts, touched, refusals } = plan;
  for (const refusal of refusals) {
    const at = log.append(recordKind.refusal, [encodeRefusal(refusal)]);
    voided.refuse(at, refusal);
  }
  request.leave?.(cuts);
  voided.cut(log.append(recordKind.cut, [encodeCut(cuts)]), cuts);
  fence?.();
  commits.cut(cuts);
  graph.become(plan.graph);
  // What comes again is judged by the ids before it.
  commits.hashFrom(0, new Set(cuts.map(({ chain }) => chain)));
  outdate?.(plan.address);
  const tell = foldAnew(touched, loaded);
  const lost = new Set(
    refusals.flatMap(({ refused }) => refused.map(({ address }) => address)),
  );
  return { cuts, lost, tell };
}

interface Plan {
  readonly cuts: readonly Cut[];
  /** Log address of the first batch that goes; `Infinity` when none does. */
  readonly address: number;
  readonly graph: Graph;
  readonly touched: Touched;
  readonly refusals: readonly Refusal[];
}

/** Plans in passes over the log, until what goes is batches and all that descends from them. */
function planOf(
  reader: CommitReader,
  genesisId: Uint8Array,
  request: CutRequest,
): Plan {
  const floors = new Map<string, number>();
  let cuts = askedOf(request, floors);
  for (;;) {
    const sift = new Sift(genesisId, request, cuts, floors);
    reader.each((logged) => sift.take(logged));
    if (sift.isRaised) cuts = askedOf(request, floors);
    else if (sift.isLowered) cuts = sift.asked;
    else return sift.finish();
  }
}

function askedOf(
  { cuts }: CutRequest,
  floors: ReadonlyMap<string, number>,
): Map<string, number> {
  const asked = new Map<string, number>();
  for (const { chain, from } of cuts) {
    const first = Math.min(from, asked.get(chain) ?? Infinity);
    asked.set(chain, Math.max(first, floors.get(chain) ?? 0));
  }
  return asked;
}

/** Tells apart, in the order of the log, what stays and what goes. */
class Sift {
  /** Does less go than was asked for, since others have seen it? */
  isRaised = false;
  /** Do earlier batches go than was known? */
  isLowered = false;
  /** What was asked for, and whole batches that turned out to go. */
  readonly asked: Map<string, number>;
  readonly #request: CutRequest;
  /** How many commits of chains somebody else has seen: kept from pass to pass. */
  readonly #floors: Map<string, number>;
  readonly #cuts: Map<string, number>;
  /** For each cut that was not asked for, the commit that it comes from. */
  readonly #causes = new Map<string, Position>();
  readonly #graph: Graph;
  readonly #touched = new Touched();
  readonly #gone = new Set<string>();
  readonly #refused = new Map<string, RefusedRecord[]>();
  #address = Infinity;

  constructor(
    genesisId: Uint8Array,
    request: CutRequest,
    asked: ReadonlyMap<string, number>,
    floors: Map<string, number>,
  ) {
    this.#graph = new Graph(genesisId);
    this.#request = request;
    this.asked = new Map(asked);
    this.#floors = floors;
    this.#cuts = new Map(asked);
  }

  take({ batch, address, from }: LoggedBatch): void {
    if (!this.#goes(batch, from)) return this.#graph.addBatch(batch);
    this.#address = Math.min(this.#address, address);
    this.#gone.add(batch.chain);
    const { commits, chain, first } = batch;
    for (let i = from; i < commits.length; i++) {
      this.#void(batch, commits[i]!, { chain, number: first + i }, address);
    }
  }

  /** Does a batch go, all of it? What descends from what goes, goes too. */
  #goes({ chain, first, commits }: Batch, from: number): boolean {
    const end = first + commits.length;
    const cut = this.#cuts.get(chain);
    if (cut !== undefined) {
      if (end <= cut) return false;
      if (cut <= first) return true;
      if (first < (this.#floors.get(chain) ?? 0)) {
        this.#cuts.set(chain, end);
        return false;
      }
      this.#lower(chain, first);
      return true;
    }
    for (const { parents } of commits.slice(from)) {
      const parent = parents.find((one) => this.#isGone(one));
      if (parent === undefined) continue;
      const cause = this.#causes.get(parent.chain) ?? parent;
      this.#seen(chain, cause);
      this.#causes.set(chain, cause);
      this.#lower(chain, first);
      return true;
    }
    return false;
  }

  #isGone({ chain, number }: Position): boolean {
    return number >= (this.#cuts.get(chain) ?? Infinity);
  }

  /** A commit that descends from one that goes is not ours: that one stays. */
  #seen(chain: string, { chain: cause, number }: Position): void {
    const { isOwn, isForAll } = this.#request;
    if (isForAll || isOwn(chain.slice(0, 32))) return;
    if (number < (this.#floors.get(cause) ?? 0)) return;
    this.#floors.set(cause, number + 1);
    this.isRaised = true;
  }

  /** A chain goes from a batch on, which may say again what stood in earlier ones. */
  #lower(chain: string, first: number): void {
    this.#cuts.set(chain, first);
    if (this.#graph.lengthOf(chain) <= first) return;
    this.asked.set(chain, first);
    this.isLowered = true;
  }

  #void(
    batch: Batch,
    commit: BatchCommit,
    { chain, number }: Position,
    address: number,
  ): void {
    if (commit.isVoid) return;
    const { isOwn, isReissued } = this.#request;
    const { operations } = patchOf(batch, commit);
    this.#touched.add(operations);
    const isLost = operations.length > 0 && isOwn(chain.slice(0, 32)) &&
      isReissued(chain, number);
    if (!isLost) return;
    const { wall, count } = commit;
    const told = { reason: REISSUED, rule: "", detail: "", kept: false };
    getOrMake(this.#refused, chain, () => [])
      .push({ number, wall, count, address, ...told });
  }

  finish(): Plan {
    return {
      cuts: [...this.#gone].map((chain) => ({
        chain,
        from: this.#cuts.get(chain)!,
      })),
      address: this.#address,
      graph: this.#graph,
      touched: this.#touched,
      refusals: [...this.#refused].map(([chain, refused]) => ({
        chain,
        refused,
      })),
    };
  }
}
