/**
 * Judging commits by what they do, in the order of acceptance, against the
 * present: what an operation finds is what is here now and what the operations
 * before it did, in its commit and in its batch.
 *
 * @module
 */

import type { Refusal } from "../base/errors.ts";
import type { Hlc } from "../base/hlc.ts";
import type { Cell, Origin } from "./cell.ts";
import { fold } from "./merge.ts";
import type { Operation } from "./patch.ts";
import type { DecodedPatch } from "./patch_codec.ts";
import type { View } from "./view.ts";

/** Looks up what is here now. */
export interface Cells {
  /** The cell of an item; `undefined` when there is none. */
  cellOf(collection: string, id: string): Cell | undefined;
  /** How cells of a collection are made. */
  viewOf(collection: string): View;
}

/** What of a batch is judged: a part of `Batch`. */
export interface JudgedBatch {
  readonly chain: string;
  /** Number of its first commit. */
  readonly first: number;
  readonly commits: readonly Hlc[];
}

/** An operation, and its item before and after it. */
export interface JudgedWrite {
  readonly operation: Operation;
  readonly before: Cell | undefined;
  /** Folded when somebody asks first. */
  readonly after: () => Cell;
  /** Is `before` the work of the same batch? */
  readonly isOwn: boolean;
  /** What the cells' items were made with. */
  readonly view: View;
}

/** A commit, and what those of its writes do that anybody asks about. */
export interface JudgedCommit {
  readonly origin: Origin;
  /** Its number in its chain. */
  readonly number: number;
  readonly writes: readonly JudgedWrite[];
}

/** Says which commits may be. */
export interface CommitJudge {
  /** Does it ask about items of this collection? */
  asksOf(collection: string): boolean;
  /** Why a commit may not be. */
  judge(commit: JudgedCommit): Refusal | undefined;
}

/**
 * The first commit from index `from` on that one of the judges refuses.
 *
 * @param patches of the commits from there on
 * @param accepted how many commits of the chain are known to have been accepted
 *   before: nobody is asked about them, and later ones find what they did
 */
export function judgeCommits(
  batch: JudgedBatch,
  from: number,
  patches: readonly DecodedPatch[],
  cells: Cells,
  judges: readonly CommitJudge[],
  accepted = 0,
): Refusal | undefined {
  if (judges.length === 0) return undefined;
  const drafts = new Drafts(cells, judges);
  for (let i = from; i < batch.commits.length; i++) {
    const { wall, count } = batch.commits[i]!;
    const origin = { wall, count, chain: batch.chain, operationsAt: -1 };
    const number = batch.first + i;
    const writes = drafts.write(patches[i - from]!.operations, origin);
    if (number < accepted) continue;
    const commit = { origin, number, writes };
    for (const judge of judges) {
      const refusal = judge.judge(commit);
      if (refusal !== undefined) return refusal;
    }
  }
  return undefined;
}

/** Items as a batch has left them so far. */
class Drafts {
  readonly #cells: Cells;
  readonly #judges: readonly CommitJudge[];
  /** By collection and id. */
  readonly #drafts = new Map<string, Map<string, () => Cell>>();

  constructor(cells: Cells, judges: readonly CommitJudge[]) {
    this.#cells = cells;
    this.#judges = judges;
  }

  /** Does what a commit does, where anybody asks about it. */
  write(operations: readonly Operation[], origin: Origin): JudgedWrite[] {
    const writes: JudgedWrite[] = [];
    for (const operation of operations) {
      const { shape: { collection }, id } = operation;
      if (!this.#judges.some((judge) => judge.asksOf(collection))) continue;
      let drafts = this.#drafts.get(collection);
      if (drafts === undefined) {
        this.#drafts.set(collection, drafts = new Map());
      }
      const own = drafts.get(id);
      const before = own?.() ?? this.#cells.cellOf(collection, id);
      const view = this.#cells.viewOf(collection);
      let folded: Cell | undefined;
      const after = () => folded ??= fold(before, operation, origin, -1, view);
      drafts.set(id, after);
      const isOwn = own !== undefined;
      writes.push({ operation, before, after, isOwn, view });
    }
    return writes;
  }
}
