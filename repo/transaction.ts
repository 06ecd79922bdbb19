/**
 * A transaction: operations gathered into one patch, seen by itself first.
 *
 * It reads through its own writes and leaves the tables alone until it is
 * committed as a whole; a transaction that throws never happened.
 *
 * @module
 */

import { DatabaseError } from "../src/base/errors.ts";
import { limits } from "../src/base/limits.ts";
import type { Cell, Origin } from "../src/schema/cell.ts";
import { fold } from "../src/schema/merge.ts";
import type { Operation } from "../src/schema/patch.ts";
import type { PatchWriter } from "../src/schema/patch_codec.ts";
import type { ItemChange } from "../src/schema/source.ts";
import type { Changes } from "./state.ts";
import type { Table } from "./table.ts";

/** One atomic set of operations under way. */
export class Transaction {
  /** The stamp that its commit will have. */
  readonly origin: Origin;
  readonly #patch: PatchWriter;
  /** A transaction of one operation needs no map. */
  #table: Table | undefined;
  #cell: Cell | undefined;
  #cells: Map<Table, Map<string, Cell>> | undefined;
  #operations = 0;
  #open = true;

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
    if (this.#operations === 0) return table.cellOf(id);
    if (this.#cells === undefined) {
      return this.#table === table && this.#cell!.id === id
        ? this.#cell
        : table.cellOf(id);
    }
    return this.#cells.get(table)?.get(id) ?? table.cellOf(id);
  }

  /** Adds one operation and gives the item's cell after it. */
  add(table: Table, operation: Operation): Cell {
    this.#check();
    const before = this.cellOf(table, operation.id);
    const at = this.#patch.add(operation);
    const createAt = operation.what === "create" ? at : -1;
    const cell = fold(before, operation, this.origin, createAt, table.view);
    this.#keep(table, cell);
    return cell;
  }

  #check(): void {
    if (!this.#open) {
      throw new DatabaseError(
        "closed",
        "The transaction is over: start another one",
      );
    }
    if (
      this.#operations >= limits.operationsMax ||
      this.#patch.length > limits.payloadBytesMax
    ) {
      throw new DatabaseError(
        "value-too-large",
        `A transaction holds at most ${limits.operationsMax} operations and ` +
          `${limits.payloadBytesMax} bytes: split it`,
      );
    }
  }

  #keep(table: Table, cell: Cell): void {
    this.#operations++;
    if (this.#operations === 1) {
      this.#table = table;
      this.#cell = cell;
      return;
    }
    if (this.#cells === undefined) {
      this.#cells = new Map([[
        this.#table!,
        new Map([[this.#cell!.id, this.#cell!]]),
      ]]);
    }
    let cells = this.#cells.get(table);
    if (cells === undefined) this.#cells.set(table, cells = new Map());
    cells.set(cell.id, cell);
  }

  /** Nothing can be added any more. */
  end(): void {
    this.#open = false;
  }

  /** Puts what it made into the tables and says what changed. */
  apply(): Changes {
    const changes: Changes = new Map();
    if (this.#cells === undefined) {
      if (this.#cell !== undefined) {
        changes.set(this.#table!, [put(this.#table!, this.#cell)]);
      }
      return changes;
    }
    for (const [table, cells] of this.#cells) {
      const list: ItemChange[] = [];
      for (const cell of cells.values()) list.push(put(table, cell));
      changes.set(table, list);
    }
    return changes;
  }
}

function put(table: Table, cell: Cell): ItemChange {
  const known = table.ordinalOf(cell.id);
  const before = known < 0 ? undefined : table.itemAt(known);
  return { ordinal: table.put(cell, known), before, after: cell.item };
}
