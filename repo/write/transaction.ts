/**
 * A transaction: operations gathered into one patch, seen by itself first.
 *
 * It reads through its own writes and leaves the tables as they are until it is
 * committed as a whole; a transaction that throws never happened. New ids are
 * reserved in their tables meanwhile, so that each is looked up and kept once.
 */

import { DatabaseError } from "../../src/base/errors.ts";
import type { Stamp } from "../../src/base/hlc.ts";
import { limits } from "../../src/base/limits.ts";
import { type Cell, isThere, type Origin } from "../../src/schema/cell.ts";
import type { Cells } from "../../src/schema/judge.ts";
import { fold } from "../../src/schema/merge.ts";
import type { Operation } from "../../src/schema/patch.ts";
import type { PatchWriter } from "../../src/schema/patch_codec.ts";
import type { ItemChange } from "../../src/schema/source.ts";
import type { WrittenItem } from "../admission/constraints.ts";
import type { OwnJudge } from "../admission/own_rules.ts";
import type { Changes, State } from "../state/state.ts";
import type { Table } from "../state/table.ts";

const none: readonly never[] = [];

interface Draft {
  readonly table: Table;
  /** New items, in the order of their reserved ordinals. */
  created: Cell[] | undefined;
  changed: Map<number, Cell> | undefined;
}

export interface Noted {
  readonly operation: Operation;
  readonly before: Cell | undefined;
  readonly after: Cell;
}

/** Takes what an own transaction did, and its commit's stamp. */
export type Noting = (notes: readonly Noted[], stamp: Stamp) => void;

export class Transaction {
  readonly origin: Origin;
  readonly #patch: PatchWriter;
  /** Asked of every operation, where the app has rules. */
  readonly #judge: OwnJudge | undefined;
  /** What its operations did, where somebody asked for it: no more than can be undone, and one. */
  notes: Noted[] | undefined;
  #drafts: Draft[] | undefined;
  /** The draft and the ordinal that the last lookup found, for the write that follows it. */
  #draft: Draft | undefined;
  #ordinal = -1;
  /** What that lookup was for, and what it gave. */
  #id = "";
  #cell: Cell | undefined;
  #operations = 0;
  #isOpen = true;

  constructor(origin: Origin, patch: PatchWriter, judge?: OwnJudge) {
    this.origin = origin;
    this.#patch = patch;
    this.#judge = judge;
    patch.begin();
  }

  get operations(): number {
    return this.#operations;
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }

  cellOf(table: Table, id: string): Cell | undefined {
    this.#id = id;
    return this.#cell = this.#find(table, id);
  }

  #find(table: Table, id: string): Cell | undefined {
    const draft = this.#draft?.table === table
      ? this.#draft
      : this.#draftOf(table);
    const ordinal = table.reservedOrdinalOf(id);
    this.#draft = draft;
    this.#ordinal = ordinal;
    if (ordinal < 0) return undefined;
    if (ordinal >= table.size) return draft.created?.[ordinal - table.size];
    return draft.changed?.get(ordinal) ?? table.cellAt(ordinal);
  }

  #draftOf(table: Table): Draft {
    const drafts = this.#drafts ?? none;
    for (let i = 0; i < drafts.length; i++) {
      if (drafts[i]!.table === table) return drafts[i]!;
    }
    const draft: Draft = { table, created: undefined, changed: undefined };
    this.#drafts = withOne(this.#drafts, draft);
    return draft;
  }

  /**
   * Adds one operation on the item whose cell `before` {@linkcode cellOf} gave,
   * and gives its cell after it.
   */
  put(table: Table, operation: Operation, before: Cell | undefined): Cell {
    this.#check();
    this.#checkBefore(table, operation.id, before);
    checkLife(operation);
    if (this.#judge !== undefined) {
      this.#ask(this.#judge, table, operation, before);
      this.#checkBefore(table, operation.id, before); // A rule is foreign code, too.
    }
    const at = this.#patch.add(operation);
    const createAt = operation.what === "create" ? at : -1;
    const cell = fold(before, operation, this.origin, createAt, table.view);
    table.kinds.note(operation, before);
    this.#keep(table, cell);
    this.#operations++;
    const { notes } = this;
    if (notes !== undefined && notes.length <= limits.undoMarksMax) {
      notes.push({ operation, before, after: cell });
    }
    return cell;
  }

  #ask(
    judge: OwnJudge,
    { view }: Table,
    operation: Operation,
    before: Cell | undefined,
  ): void {
    const { origin } = this;
    const after = () => fold(before, operation, origin, -1, view);
    judge.check({ wall: origin.wall, operation, before, after });
    this.#check();
  }

  /** Asks the rules that look at the transaction as a whole. */
  askWhole(state: State): void {
    const judge = this.#judge;
    if (!judge?.isWaiting) return;
    const operations = this.#operations;
    judge.checkWhole(this.over(state));
    if (this.#operations === operations) return;
    throw new DatabaseError("invalid-option", "A rule must not write");
  }

  /** What is here with all that it has done. */
  over(state: State): Cells {
    return {
      cellOf: (collection, id) => {
        const table = state.find(collection);
        return table && this.cellOf(table, id);
      },
    };
  }

  #check(): void {
    if (this.#isOpen) return;
    throw new DatabaseError(
      "closed",
      "The transaction is over: start another one",
    );
  }

  /** A getter or validator of the caller may have used the transaction meanwhile. */
  #checkBefore(table: Table, id: string, before: Cell | undefined): void {
    if (this.#id !== id || this.#draft?.table !== table) this.cellOf(table, id);
    if (this.#cell === before) return;
    throw new DatabaseError(
      "invalid-option",
      `The item ${JSON.stringify(id)} was written while its input was read`,
    );
  }

  #keep(table: Table, cell: Cell): void {
    this.#cell = cell;
    const draft = this.#draft!;
    const ordinal = this.#ordinal;
    if (ordinal < 0) {
      draft.created = withOne(draft.created, cell);
      this.#ordinal = table.size + draft.created.length - 1;
      table.reserve(cell.id);
    } else if (ordinal >= table.size) {
      draft.created![ordinal - table.size] = cell;
    } else (draft.changed ??= new Map()).set(ordinal, cell);
  }

  /** What it does to items, as a whole: each item once. */
  written(): WrittenItem[] {
    const written: WrittenItem[] = [];
    for (const { table, created, changed } of this.#drafts ?? none) {
      const { name: collection } = table;
      for (const cell of created ?? none) {
        const after = isThere(cell) ? cell : undefined;
        written.push({ collection, id: cell.id, before: undefined, after });
      }
      for (const [ordinal, cell] of changed ?? none) {
        const item = table.itemAt(ordinal);
        const before = item && { item };
        const after = isThere(cell) ? cell : undefined;
        written.push({ collection, id: cell.id, before, after });
      }
    }
    return written;
  }

  end(): void {
    this.#isOpen = false;
  }

  /** Forgets everything; what was committed is kept by the tables. */
  abandon(): void {
    this.end();
    const drafts = this.#drafts ?? none;
    for (let i = 0; i < drafts.length; i++) {
      const { table, created } = drafts[i]!;
      table.release(created ?? none);
    }
    this.#drafts = this.#draft = undefined;
    this.#cell = this.notes = undefined;
  }

  /** Puts what it made into the tables and says what changed, where anybody listens. */
  apply(): Changes | undefined {
    let changes: Changes | undefined;
    const drafts = this.#drafts ?? none;
    for (let i = 0; i < drafts.length; i++) {
      const draft = drafts[i]!;
      const list: ItemChange[] | undefined = draft.table.isHeard
        ? []
        : undefined;
      applyDraft(draft, list);
      if (list !== undefined) (changes ??= new Map()).set(draft.table, list);
    }
    this.#drafts = undefined;
    return changes;
  }
}

/** Most lists here have one element; an empty one that is pushed to makes room for seventeen. */
function withOne<T>(list: T[] | undefined, one: T): T[] {
  if (list === undefined) return [one];
  list.push(one);
  return list;
}

function applyDraft(
  { table, created, changed }: Draft,
  list: ItemChange[] | undefined,
): void {
  const cells = created ?? none;
  for (let i = 0; i < cells.length; i++) {
    const cell = cells[i]!;
    const ordinal = table.put(cell, table.size);
    list?.push({ ordinal, before: undefined, after: cell.item });
  }
  if (changed === undefined) return;
  for (const [ordinal, cell] of changed) {
    const before = table.itemAt(ordinal);
    table.put(cell, ordinal);
    list?.push({ ordinal, before, after: cell.item });
  }
}

/** Fails where an item has been deleted and created again too often: a server would refuse it. */
function checkLife({ what, id, generation, shape }: Operation): void {
  if (what !== "create" || generation <= limits.relayGenerationMax) return;
  throw new DatabaseError(
    "value-too-large",
    `Cannot create ${shape.collection} ${id} ${generation} times: take another id`,
  );
}

/** Fails where a transaction's callback gave a promise. */
export function refusePromise(result: unknown): void {
  const then = (result as { then?: unknown } | null | undefined)?.then;
  if (typeof then !== "function") return;
  Promise.resolve(result).catch(() => {}); // Its failure is not heard beside this one.
  throw new DatabaseError(
    "invalid-option",
    "A transaction's callback must be synchronous: await first, then transact",
  );
}
