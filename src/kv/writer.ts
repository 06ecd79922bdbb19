/**
 * Writing entries into a transaction: one operation on one item each.
 *
 * Architecture invariant: every write of an entry writes all of its registers, so
 * that the last writer wins for the whole entry, by one stamp.
 *
 * @module
 */

import type { Cell } from "../schema/cell.ts";
import { mergeClassIn } from "../schema/merge.ts";
import { parseItemId } from "../schema/names.ts";
import type { FieldChange, Item, ShapeField, Value } from "../schema/patch.ts";
import type { Schema } from "../schema/schema.ts";
import type { Table, Transaction } from "../../repo/mod.ts";
import { checkKey, type Registers } from "./entry.ts";

/** Writes the entries of one store. */
export class EntryWriter {
  readonly #table: Table;
  readonly #schema: Schema;
  readonly #fields: readonly ShapeField[];
  /** By field: nothing in it. Of the registers of an entry most are empty. */
  readonly #empty: readonly FieldChange[];

  constructor(table: Table, schema: Schema) {
    this.#table = table;
    this.#schema = schema;
    this.#fields = schema.shape.fields;
    this.#empty = this.#fields.map((field) => changeOf(field, undefined));
  }

  /** The item of a key as the transaction sees it, whether it means an entry or not. */
  itemOf(tx: Transaction, key: string): Item | undefined {
    checkKey(key);
    return tx.cellOf(this.#table, key)?.item;
  }

  /** Writes an entry, or its absence. `invalid-id` when the key cannot be one. */
  put(tx: Transaction, given: string, registers: Registers): void {
    const key = parseItemId(given);
    let cell = tx.cellOf(this.#table, key);
    if (cell?.item !== undefined && this.#isSpoilt(cell)) {
      const { shape } = this.#schema;
      const { generation } = cell;
      cell = this.#note(
        tx,
        { what: "delete", shape, id: key, generation },
        cell,
      );
    }
    if (cell?.item === undefined) this.#create(tx, key, registers, cell);
    else this.#update(tx, cell, registers);
  }

  #create(
    tx: Transaction,
    id: string,
    { value, data, expiresAt, expected }: Registers,
    cell: Cell | undefined,
  ): void {
    // In the order of the shape, so that all entries share one hidden class.
    const item = Object.freeze({ id, value, data, expiresAt, expected });
    const generation = cell === undefined ? 0 : cell.generation + 1;
    const { shape } = this.#schema;
    this.#note(tx, { what: "create", shape, id, generation, item }, cell);
  }

  #update(tx: Transaction, cell: Cell, registers: Registers): void {
    const { id, generation } = cell;
    const changes = this.#changesTo(registers);
    const { shape } = this.#schema;
    this.#note(tx, { what: "update", shape, id, generation, changes }, cell);
  }

  #changesTo(registers: Readonly<Record<string, Value>>): FieldChange[] {
    const fields = this.#fields;
    const changes = new Array<FieldChange>(fields.length);
    for (let i = 0; i < fields.length; i++) {
      const field = fields[i]!;
      const value = registers[field.name];
      changes[i] = value === undefined
        ? this.#empty[i]!
        : changeOf(field, value);
    }
    return changes;
  }

  /** Undo is for what people edit: entries are no steps of it. */
  #note(
    tx: Transaction,
    operation: Parameters<Transaction["put"]>[1],
    before: Cell | undefined,
  ): Cell {
    const after = tx.put(this.#table, operation, before);
    if (tx.notes?.at(-1)?.operation === operation) tx.notes.pop();
    return after;
  }

  /**
   * Did somebody write a register as a field of another kind, which would hold
   * it against every write? Such an item is ended, and another one begun.
   */
  #isSpoilt(cell: Cell): boolean {
    if (cell.rich === undefined && cell.shape === this.#schema.shape) {
      return false;
    }
    return this.#fields.some(({ name }) => {
      const merge = mergeClassIn(cell, name);
      return merge !== undefined && merge !== "register";
    });
  }
}

function changeOf(field: ShapeField, value: Value): FieldChange {
  return { field, change: { what: "set", value } };
}
