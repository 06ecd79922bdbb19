/**
 * A transaction: operations gathered into one patch, seen by itself first.
 *
 * It reads through its own writes and leaves the tables alone until it is
 * committed as a whole; a transaction that throws never happened.
 *
 * @module
 */

import { DatabaseError } from "../src/base/errors.ts";
import type { Cell, Origin } from "../src/schema/cell.ts";
import { fold } from "../src/schema/merge.ts";
import type { Operation } from "../src/schema/patch.ts";
import type { PatchWriter } from "../src/schema/patch_codec.ts";
import type { ItemChange } from "../src/schema/source.ts";
import type { Changes } from "./state.ts";
import type { Table } from "./table.ts";

/** What a transaction has made of one item. */
interface Draft {
  cell: Cell;
  /** Its ordinal in the table; -1 while it is new. Nothing else writes meanwhile. */
  readonly known: number;
}

/** One atomic set of operations under way. */
export class Transaction {
  /** The stamp that its commit will have. */
  readonly origin: Origin;
  readonly #patch: PatchWriter;
  /** Items by table; a transaction of one operation needs no map. */
  readonly #drafts = new Map<Table, Map<string, Draft>>();
  #firstTable: Table | undefined;
  #first: Draft | undefined;
  /** Where the last lookup found its item, for the write that follows it. */
  #known = -1;
  #operations = 0;
  #isOpen = true;

  constructor(origin: Origin, patch: PatchWriter) {
    this.origin = origin;
    this.#patch = patch;
    patch.begin();
  }

  /** How many operations it has. */
  get operations(): number {
    return this.#operations;
  }

  /** The item's cell as this transaction sees it. */
  cellOf(table: Table, id: string): Cell | undefined {
    const draft = this.#draftOf(table, id);
    if (draft !== undefined) return draft.cell;
    this.#known = table.ordinalOf(id);
    return this.#known < 0 ? undefined : table.cellAt(this.#known);
  }

  #draftOf(table: Table, id: string): Draft | undefined {
    if (this.#operations > 1) return this.#drafts.get(table)?.get(id);
    const isFirst = this.#firstTable === table && this.#first?.cell.id === id;
    return isFirst ? this.#first : undefined;
  }

  /**
   * Adds one operation on the item whose cell `before` {@linkcode cellOf} gave
   * last, and gives its cell after it.
   */
  put(table: Table, operation: Operation, before: Cell | undefined): Cell {
    this.#check();
    const at = this.#patch.add(operation);
    const createAt = operation.what === "create" ? at : -1;
    const cell = fold(before, operation, this.origin, createAt, table.view);
    this.#keep(table, cell);
    return cell;
  }

  #check(): void {
    if (this.#isOpen) return;
    throw new DatabaseError(
      "closed",
      "The transaction is over: start another one",
    );
  }

  #keep(table: Table, cell: Cell): void {
    const draft = this.#draftOf(table, cell.id);
    if (draft !== undefined) draft.cell = cell;
    else this.#begin(table, { cell, known: this.#known });
    this.#operations++;
  }

  #begin(table: Table, draft: Draft): void {
    if (this.#first === undefined) {
      this.#firstTable = table;
      this.#first = draft;
      return;
    }
    if (this.#drafts.size === 0) this.#list(this.#firstTable!, this.#first);
    this.#list(table, draft);
  }

  #list(table: Table, draft: Draft): void {
    let drafts = this.#drafts.get(table);
    if (drafts === undefined) this.#drafts.set(table, drafts = new Map());
    drafts.set(draft.cell.id, draft);
  }

  /** Nothing can be added any more. */
  end(): void {
    this.#isOpen = false;
  }

  /** Puts what it made into the tables and says what changed. */
  apply(): Changes {
    const changes: Changes = new Map();
    if (this.#drafts.size === 0) {
      if (this.#first !== undefined) {
        apply(this.#firstTable!, [this.#first], changes);
      }
      return changes;
    }
    for (const [table, drafts] of this.#drafts) {
      apply(table, drafts.values(), changes);
    }
    return changes;
  }
}

function apply(table: Table, drafts: Iterable<Draft>, changes: Changes): void {
  const list: ItemChange[] | undefined = table.isHeard ? [] : undefined;
  for (const { cell, known } of drafts) {
    const before = known < 0 ? undefined : table.itemAt(known);
    const ordinal = table.put(cell, known);
    list?.push({ ordinal, before, after: cell.item });
  }
  if (list !== undefined) changes.set(table, list);
}
