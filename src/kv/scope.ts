/**
 * Entries inside one transaction: it reads its own writes.
 *
 * Everything that a store writes goes through here, so that a write alone and
 * one among others are the same.
 *
 * Architecture invariant: every write of an entry writes all of its registers, so
 * that the last writer wins for the whole entry, by one stamp.
 */

import type { Table, Transaction } from "../../repo/mod.ts";
import { DatabaseError } from "../base/errors.ts";
import { refuseOptions } from "../base/known_options.ts";
import { limits } from "../base/limits.ts";
import type { World } from "../base/world.ts";
import type { Cell } from "../schema/cell.ts";
import { mergeClassIn } from "../schema/merge.ts";
import { parseItemId } from "../schema/names.ts";
import type { FieldChange, Item, ShapeField, Value } from "../schema/patch.ts";
import type { Schema } from "../schema/schema.ts";
import { encodeValue } from "./codec.ts";
import {
  absent,
  checkKey,
  digestOf,
  digestOfItem,
  isThere,
  type Registers,
  valueOf,
} from "./entry.ts";
import { expiryFrom, type ExpiryOptions } from "./options.ts";
import { copyIn, type KvValue, tooLarge } from "./value.ts";

/** A store inside a transaction; use it only inside the callback. */
export class KvScope<V = KvValue> {
  readonly #transaction: Transaction;
  readonly #writer: EntryWriter;
  readonly #world: World;

  /** Use `kv.within(tx)`. */
  constructor(transaction: Transaction, writer: EntryWriter, world: World) {
    refuseOptions(this);
    this.#transaction = transaction;
    this.#writer = writer;
    this.#world = world;
  }

  /** The item of an entry that is there for this transaction. */
  #itemOf(key: string): Item | undefined {
    const item = this.#writer.itemOf(this.#transaction, key);
    return isThere(item, this.#world.now()) ? item : undefined;
  }

  /** The value of a key as this transaction sees it. */
  get(key: string): V | undefined {
    const item = this.#itemOf(key);
    return item && valueOf(item) as V | undefined;
  }

  /** Is the entry there for this transaction? */
  exists(key: string): boolean {
    return this.#itemOf(key) !== undefined;
  }

  /** Writes an entry when the transaction commits. Throws as `kv.set`. */
  set(key: string, value: V, options?: ExpiryOptions): void {
    const registers = this.#registersOf(value, options);
    this.#writer.put(this.#transaction, key, registers);
  }

  /** Takes an entry away when the transaction commits; false when it is not there. */
  delete(key: string): boolean {
    if (!this.exists(key)) return false;
    this.#writer.put(this.#transaction, key, absent);
    return true;
  }

  /** Writes only where the value is `expected` for this transaction. As `kv.compareAndSet`. */
  compareAndSet(
    key: string,
    expected: V | undefined,
    value: V | undefined,
    options?: ExpiryOptions,
  ): boolean {
    const digest = digestOf(
      expected === undefined ? undefined : copyIn(expected).value,
    );
    const registers = value === undefined
      ? absent
      : this.#registersOf(value, options);
    const item = this.#writer.itemOf(this.#transaction, key);
    if (digestOfItem(item, this.#world.now()) !== digest) return false;
    const own = { ...registers, expected: digest };
    this.#writer.put(this.#transaction, key, own);
    return true;
  }

  #registersOf(given: V, options: ExpiryOptions | undefined): Registers {
    const expiresAt = options === undefined
      ? undefined
      : expiryFrom(options, this.#world);
    const { value, isJson } = copyIn(given);
    const expected = undefined;
    if (isJson) {
      // What JSON can say is one of the patch's own values.
      const json = value as Registers["value"];
      return { value: json, data: undefined, expiresAt, expected };
    }
    const data = encodeValue(value);
    if (data.length > limits.kvValueBytesMax) tooLarge();
    return { value: undefined, data, expiresAt, expected };
  }
}

/** What is said to who brings a transaction of elsewhere. */
export function foreignTransaction(): never {
  throw new DatabaseError(
    "invalid-option",
    "This transaction is of another repository: open the store on the one that transacts",
  );
}

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
