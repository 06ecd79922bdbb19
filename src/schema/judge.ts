/**
 * Judging commits by what they do, in the order of acceptance, against the
 * present: what an operation finds is what is here now and what the operations
 * before it did, in its commit and in its batch.
 */

import type { Refusal } from "../base/errors.ts";
import type { Hlc } from "../base/hlc.ts";
import type { Cell, Origin } from "./cell.ts";
import { fold } from "./merge.ts";
import type { Operation } from "./patch.ts";
import type { DecodedPatch } from "./patch_codec.ts";
import type { View } from "./view.ts";

export interface Cells {
  cellOf(collection: string, id: string): Cell | undefined;
}

/** Looks up what is here now, and what to fold it with. */
export interface FoldedCells extends Cells {
  viewOf(collection: string): View;
}

/** What of a batch is judged: a part of `Batch`. */
export interface JudgedBatch {
  readonly chain: string;
  /** Number of its first commit. */
  readonly first: number;
  readonly commits: readonly Hlc[];
}

export interface JudgedWrite {
  readonly operation: Operation;
  readonly before: Cell | undefined;
  /** Folded when somebody asks first. */
  readonly after: () => Cell;
  /** Is `before` the work of the same batch? */
  readonly isOwn: boolean;
}

/** A commit, and what those of its writes do that anybody asks about. */
export interface JudgedCommit {
  readonly origin: Origin;
  /** Its number in its chain. */
  readonly number: number;
  readonly writes: readonly JudgedWrite[];
  /** How many operations it has, also those that nobody asks about. */
  readonly operations: number;
  /** What is here without it; only good while it is judged. */
  readonly before: Cells;
  /** What is here with all that it does; only good while it is judged. */
  readonly after: Cells;
}

export interface CommitJudge {
  /** Does it ask about writes in this collection? It may look up items of any other as well. */
  asksOf(collection: string): boolean;
  /** Why a commit with this write may not be; asked before anything is folded upon it. */
  judgeWrite?(
    write: JudgedWrite,
    number: number,
    origin: Origin,
  ): Refusal | undefined;
  judge?(commit: JudgedCommit): Refusal | undefined;
  /** Hears of a commit that is not judged, because it was accepted before. */
  note?(commit: JudgedCommit): void;
}

/**
 * The first commit from index `from` on that one of the judges refuses.
 *
 * @param patches of the commits from there on
 * @param accepted how many commits of the chain are known to have been accepted
 *   before: nobody is asked about them, and later ones find what they did
 */
export function judgeCommits(
  { chain, first, commits }: JudgedBatch,
  from: number,
  patches: readonly DecodedPatch[],
  cells: FoldedCells,
  judges: readonly CommitJudge[],
  accepted = 0,
): Refusal | undefined {
  if (judges.length === 0) return undefined;
  const drafts = new Drafts(cells, judges);
  const { before, after } = drafts;
  for (let i = from; i < commits.length; i++) {
    const { wall, count } = commits[i]!;
    const origin = { wall, count, chain, operationsAt: -1 };
    const patch = patches[i - from]!;
    const number = first + i;
    const asked = number < accepted ? [] : judges;
    const writes: JudgedWrite[] = [];
    for (const write of drafts.write(patch, origin)) {
      for (const judge of asked) {
        const refusal = judge.judgeWrite?.(write, number, origin);
        if (refusal !== undefined) return refusal;
      }
      writes.push(write);
    }
    const operations = patch.operations.length;
    const commit = { origin, number, writes, operations, before, after };
    for (const judge of judges) {
      if (number < accepted) judge.note?.(commit);
      else {
        const refusal = judge.judge?.(commit);
        if (refusal !== undefined) return refusal;
      }
    }
  }
  return undefined;
}

/** An item as a batch has left it so far. */
interface Draft {
  /** Without what the commit of `origin` did. */
  readonly before: Cell | undefined;
  readonly after: () => Cell;
  /** Of the last commit that wrote it. */
  readonly origin: Origin;
}

interface DraftTable {
  readonly isAsked: boolean;
  readonly view: View;
  /** By id. */
  readonly drafts: Map<string, Draft>;
  /** What nobody has looked at yet; `undefined` where everything is folded at once. */
  waiting: [Operation, Origin][] | undefined;
}

class Drafts {
  /** Without the commit at hand. */
  readonly before: Cells;
  /** With it. */
  readonly after: Cells;
  readonly #cells: FoldedCells;
  readonly #judges: readonly CommitJudge[];
  readonly #tables = new Map<string, DraftTable>();
  /** Of the commit at hand. */
  #origin: Origin | undefined;

  constructor(cells: FoldedCells, judges: readonly CommitJudge[]) {
    this.#cells = cells;
    this.#judges = judges;
    this.before = {
      cellOf: (collection, id) => this.#cellOf(collection, id, false),
    };
    this.after = {
      cellOf: (collection, id) => this.#cellOf(collection, id, true),
    };
  }

  /** Does all that a commit does, one by one, and says what of it anybody asks about. */
  *write(
    { operations }: DecodedPatch,
    origin: Origin,
  ): Generator<JudgedWrite> {
    this.#origin = origin;
    for (const operation of operations) {
      const table = this.#tableOf(operation.shape.collection);
      if (table.waiting !== undefined) table.waiting.push([operation, origin]);
      else {
        const write = this.#fold(table, operation, origin);
        if (table.isAsked) yield write;
      }
    }
  }

  #tableOf(collection: string): DraftTable {
    const known = this.#tables.get(collection);
    if (known !== undefined) return known;
    const isAsked = this.#judges.some((judge) => judge.asksOf(collection));
    const view = this.#cells.viewOf(collection);
    const waiting = isAsked ? undefined : [];
    const table = { isAsked, view, drafts: new Map(), waiting };
    this.#tables.set(collection, table);
    return table;
  }

  #fold(
    { drafts, view }: DraftTable,
    operation: Operation,
    origin: Origin,
  ): JudgedWrite {
    const { shape: { collection }, id } = operation;
    const own = drafts.get(id);
    const before = own === undefined
      ? this.#cells.cellOf(collection, id)
      : own.after();
    let folded: Cell | undefined;
    const after = () => folded ??= fold(before, operation, origin, -1, view);
    const first = own?.origin === origin ? own.before : before;
    drafts.set(id, { before: first, after, origin });
    return { operation, before, after, isOwn: own !== undefined };
  }

  #cellOf(
    collection: string,
    id: string,
    withCommit: boolean,
  ): Cell | undefined {
    const table = this.#tables.get(collection);
    const waiting = table?.waiting ?? [];
    if (table !== undefined) table.waiting = undefined;
    for (const one of waiting) this.#fold(table!, ...one);
    const draft = table?.drafts.get(id);
    if (draft === undefined) return this.#cells.cellOf(collection, id);
    return withCommit || draft.origin !== this.#origin
      ? draft.after()
      : draft.before;
  }
}
