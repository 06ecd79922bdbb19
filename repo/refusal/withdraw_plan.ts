/**
 * Planning a withdrawal: what has to go, what that leaves, and which items it
 * touches. Reads the log and changes nothing.
 *
 * @module
 */

import { decodeAscii } from "../../src/base/bytes.ts";
import { compareStamps, type Hlc, hlcZero } from "../../src/base/hlc.ts";
import type { Cell } from "../../src/schema/cell.ts";
import { fold } from "../../src/schema/merge.ts";
import { decodePatch } from "../../src/schema/patch_codec.ts";
import {
  type Batch,
  type BatchCommit,
  decodeCommit,
  hashBatch,
  payloadOf,
} from "../commit/batch.ts";
import { chainStart, type Position } from "../commit/commit.ts";
import type { CommitReader, LoggedBatch } from "../history/commit_reader.ts";
import { Graph } from "../graph/graph.ts";
import type { LoadedReplica } from "../loaded_replica.ts";
import type { State } from "../state/state.ts";
import type { Cut } from "./withdrawals.ts";
import { getOrMake } from "../../src/base/collections.ts";

/** A commit that is taken back. */
export interface VoidCommit extends Position, Hlc {
  readonly parents: readonly Position[];
  /** Log address of its batch. */
  readonly address: number;
  /** Does it say nothing? It only began an incarnation, or was refused. */
  readonly isEmpty: boolean;
  /** Was it refused? Then it is not written again. */
  readonly isRefused: boolean;
}

/** The beginning of a batch whose end is taken back. */
export interface KeptPart {
  /** Log address of the batch. */
  readonly address: number;
  /** How many of its commits stay. */
  readonly count: number;
}

/** What a withdrawal will do. */
export interface WithdrawalPlan {
  /** The refused chain first, then own chains that descend from its end. */
  readonly cuts: readonly Cut[];
  /** Log address of the first batch that is void or partly so. */
  readonly address: number;
  /** In the order of their stamps: the same one wherever it is planned. */
  readonly voided: readonly VoidCommit[];
  /** The graph of what stays. */
  readonly graph: Graph;
  /** Batches of which a part stays: no seal covers it any more. */
  readonly parts: readonly KeptPart[];
  /** Ids of the items that are touched, by collection. */
  readonly touched: ReadonlyMap<string, ReadonlySet<string>>;
}

/** What is asked to be taken back. */
export interface WithdrawalRequest {
  readonly chain: string;
  /** Number of the first commit. */
  readonly from: number;
  /** Is it a key of ours? As the first 32 characters of its chains' names. */
  readonly isOwn: (key: string) => boolean;
  /** Can the beginning of a batch of this chain be sealed anew? Otherwise all of the batch goes. */
  readonly canSeal: (chain: string) => boolean;
  /**
   * Is it known that others have other commits of these numbers, or none, as after
   * a folder was set back? Then what others built on these numbers goes, too, and
   * what they built on those comes again behind them.
   */
  readonly isFork?: boolean | undefined;
  /** Further cuts, where somebody has planned already. */
  readonly cuts?: readonly Cut[];
}

/**
 * Plans to take back the commits of a chain from a number on, and what descends
 * from them. A commit that somebody else's descends from is in other hands
 * already: it stays, and so does what is before it; but not where it is a fork.
 */
export function planWithdrawal(
  reader: CommitReader,
  genesisId: Uint8Array,
  request: WithdrawalRequest,
): WithdrawalPlan {
  let { from } = request;
  for (let floor = 0;;) {
    const sift = new Sift(genesisId, { ...request, from }, floor);
    reader.each((logged) => sift.take(logged));
    if (sift.seenTo <= floor) return sift.finish();
    floor = sift.seenTo;
    from = Math.max(from, floor);
  }
}

/** Tells apart, in the order of the log, what stays and what goes. */
class Sift {
  /** How many commits of the refused chain somebody else has seen. */
  seenTo = 0;
  readonly #isOwn: WithdrawalRequest["isOwn"];
  readonly #canSeal: WithdrawalRequest["canSeal"];
  readonly #isFork: boolean;
  /** How many commits of the refused chain stay in any case. */
  readonly #floor: Position;
  readonly #graph: Graph;
  readonly #cuts = new Map<string, number>();
  /** For each cut, the commit of the refused chain that it comes from. */
  readonly #causes = new Map<string, number>();
  readonly #voided: VoidCommit[] = [];
  readonly #parts: KeptPart[] = [];
  readonly #touched = new Map<string, Set<string>>();
  #address = Infinity;

  constructor(
    genesisId: Uint8Array,
    request: WithdrawalRequest,
    floor: number,
  ) {
    const { chain, from, isOwn, canSeal, isFork = false, cuts = [] } = request;
    this.#graph = new Graph(genesisId);
    this.#isOwn = isOwn;
    this.#canSeal = canSeal;
    this.#isFork = isFork;
    this.#floor = { chain, number: floor };
    for (const cut of cuts) this.#cuts.set(cut.chain, cut.from);
    this.#cuts.set(chain, from);
  }

  take({ batch, address, from }: LoggedBatch): void {
    const { chain, first, commits } = batch;
    const end = this.#sealedEnd(batch, from);
    if (end > 0) {
      const kept = commits.slice(0, end);
      this.#graph.addBatch({ ...batch, commits: kept });
      const isPart = end < commits.length && from < commits.length;
      if (isPart) this.#parts.push({ address, count: end });
    }
    if (end < commits.length) this.#address = Math.min(this.#address, address);
    for (let i = Math.max(end, from); i < commits.length; i++) {
      const { wall, count, parents, isVoid: isRefused } = commits[i]!;
      const number = first + i;
      const isEmpty = !this.#touch(batch, commits[i]!);
      const place = { chain, number, address, isEmpty, isRefused };
      this.#voided.push({ ...place, wall, count, parents });
    }
  }

  /** How many of a batch's commits stay under a seal, its own or one that can be made. */
  #sealedEnd(batch: Batch, from: number): number {
    const { chain, first, commits } = batch;
    const end = this.#endOf(batch, from);
    if (end <= from || end >= commits.length || this.#canSeal(chain)) {
      return end;
    }
    const floor = chain === this.#floor.chain ? this.#floor.number : 0;
    const sealed = Math.max(from, Math.min(end, floor - first));
    this.#cuts.set(chain, first + sealed);
    return sealed;
  }

  /** How many of a batch's commits stay. What descends from what goes, goes too. */
  #endOf({ chain, first, commits }: Batch, from: number): number {
    const cut = this.#cuts.get(chain);
    if (cut !== undefined) {
      return Math.max(0, Math.min(commits.length, cut - first));
    }
    for (let i = from; i < commits.length; i++) {
      const parent = commits[i]!.parents.find((one) => this.#isVoid(one));
      if (parent === undefined) continue;
      const cause = this.#causes.get(parent.chain) ?? parent.number;
      if (!this.#isFork && !this.#isOwn(chain.slice(0, 32))) {
        this.seenTo = Math.max(this.seenTo, cause + 1);
      }
      this.#causes.set(chain, cause);
      this.#cuts.set(chain, first + i);
      return i;
    }
    return commits.length;
  }

  #isVoid({ chain, number }: Position): boolean {
    return number >= (this.#cuts.get(chain) ?? Infinity);
  }

  /** Notes which items a commit touches; false where it touches none. */
  #touch(batch: Batch, commit: BatchCommit): boolean {
    const { operations } = decodePatch(payloadOf(batch, commit));
    for (const { shape, id } of operations) {
      getOrMake(this.#touched, shape.collection, () => new Set()).add(id);
    }
    return operations.length > 0;
  }

  finish(): WithdrawalPlan {
    const cuts = [...this.#cuts].map(([chain, from]) => ({
      chain,
      from,
      after: this.#graph.chain(chain)?.last ?? hlcZero,
    }));
    return {
      cuts,
      address: this.#address,
      voided: this.#voided.sort(compareStamps),
      graph: this.#graph,
      parts: this.#parts,
      touched: this.#touched,
    };
  }
}

/** What one more pass over the log finds out of what stays. */
export interface Remains {
  /** The touched items' cells by collection and id; `undefined` where nobody made the item. */
  readonly cells: ReadonlyMap<string, ReadonlyMap<string, Cell | undefined>>;
  /** Ids before the first commit of each kept part, by its address. */
  readonly idsBefore: ReadonlyMap<number, Uint8Array>;
}

/** Folds the touched items from what stays, and hashes the chains that are cut. */
export function gatherRemains(
  commits: CommitReader,
  { genesisId, state }: Pick<LoadedReplica, "genesisId" | "state">,
  plan: WithdrawalPlan,
): Remains {
  const cuts = new Map(plan.cuts.map(({ chain, from }) => [chain, from]));
  const items = new Refold(plan.touched, state);
  const hashes = new Rehash(genesisId, plan);
  commits.each((logged) => {
    const { chain, first, commits } = logged.batch;
    const end = (cuts.get(chain) ?? Infinity) - first;
    if (end <= 0) return;
    const batch = end < commits.length
      ? { ...logged.batch, commits: commits.slice(0, end) }
      : logged.batch;
    items.take({ ...logged, batch });
    hashes.take({ ...logged, batch });
  });
  return { cells: items.cells, idsBefore: hashes.idsBefore };
}

/** Searching a commit's text for more ids than this costs more than decoding it. */
const IDS_SEARCHED_MAX = 16;

/** Folds some items anew. */
export class Refold {
  readonly cells = new Map<string, Map<string, Cell | undefined>>();
  readonly #ids: readonly string[];
  readonly #isSearched: boolean;
  readonly #state: State;

  /** @param touched ids by collection */
  constructor(
    touched: ReadonlyMap<string, ReadonlySet<string>>,
    state: State,
  ) {
    this.#state = state;
    for (const [collection, ids] of touched) {
      const cells = new Map<string, Cell | undefined>();
      for (const id of ids) cells.set(id, undefined);
      this.cells.set(collection, cells);
    }
    this.#ids = [...touched.values()].flatMap((ids) => [...ids]);
    this.#isSearched = this.#ids.length <= IDS_SEARCHED_MAX &&
      this.#ids.every((id) => /^[\x20-\x7e]*$/.test(id));
  }

  take({ batch, address, from }: LoggedBatch): void {
    if (this.#ids.length === 0) return;
    for (let i = from; i < batch.commits.length; i++) {
      const isMeant = this.#mayConcern(batch, batch.commits[i]!);
      if (isMeant) this.#fold(batch, i, address);
    }
  }

  #mayConcern({ bytes }: Batch, { payloadAt, end }: BatchCommit): boolean {
    if (!this.#isSearched) return true;
    const text = decodeAscii(bytes, payloadAt, end);
    return this.#ids.some((id) => text.includes(id));
  }

  #fold(batch: Batch, index: number, address: number): void {
    const { patch, origin } = decodeCommit(batch, index, address);
    patch.operations.forEach((operation, i) => {
      const { id, shape: { collection } } = operation;
      const cells = this.cells.get(collection);
      if (cells === undefined || !cells.has(id)) return;
      const { view } = this.#state.find(collection)!;
      const createAt = patch.createOffsets[i]!;
      cells.set(id, fold(cells.get(id), operation, origin, createAt, view));
    });
  }
}

/** Hashes the chains that were cut up to their new ends. */
class Rehash {
  readonly idsBefore = new Map<number, Uint8Array>();
  readonly #graph: Graph;
  readonly #last = new Map<string, { length: number; id: Uint8Array }>();
  readonly #parts: ReadonlySet<number>;

  constructor(genesisId: Uint8Array, { graph, cuts, parts }: WithdrawalPlan) {
    this.#graph = graph;
    this.#parts = new Set(parts.map(({ address }) => address));
    for (const { chain } of cuts) {
      this.#last.set(chain, { length: 0, id: chainStart(genesisId, chain) });
    }
  }

  take({ batch, address }: LoggedBatch): void {
    const { chain, first, commits } = batch;
    const last = this.#last.get(chain);
    if (last === undefined) return;
    if (this.#parts.has(address) && last.length === first) {
      this.idsBefore.set(address, last.id);
    }
    const length = first + commits.length;
    if (length <= last.length) return;
    const id = hashBatch(batch, last.id, last.length - first);
    this.#last.set(chain, { length, id });
    this.#graph.setHashed(chain, length, id);
  }
}
