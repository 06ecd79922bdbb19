/**
 * The editor of one collection: turns what an app asks for into operations of
 * a transaction. It decides nothing about durability, batches or signatures.
 */

import { DatabaseError } from "../base/errors.ts";
import type { Cell } from "../schema/cell.ts";
import type { Item } from "../schema/patch.ts";
import { hlcZero, type Stamp } from "../base/hlc.ts";
import { type IdSource, parseItemId } from "../schema/names.ts";
import {
  type PrepareContext,
  prepareCreate,
  prepareDelete,
  prepareUpdate,
} from "../schema/prepare.ts";
import type { CreateInput, Schema, UpdateInput } from "../schema/schema.ts";
import type { Table, Transaction } from "../../repo/mod.ts";

/** What preparing needs, one object for all writes of a collection. */
class Context implements PrepareContext {
  readonly #ids: IdSource;
  origin: Stamp = { ...hlcZero, chain: "" };
  readonly generation = 0;

  constructor(ids: IdSource) {
    this.#ids = ids;
  }

  newId(): string {
    return this.#ids.next();
  }

  elementId(): string {
    return this.#ids.next();
  }
}

export class Editor<S extends Schema> {
  readonly schema: S;
  readonly table: Table;
  readonly #context: Context;

  constructor(schema: S, table: Table, ids: IdSource) {
    this.schema = schema;
    this.table = table;
    this.#context = new Context(ids);
  }

  /** The item as the transaction sees it. */
  get(tx: Transaction, id: string): Item | undefined {
    return tx.cellOf(this.table, id)?.item;
  }

  /** Creates an item; `item-exists` when its id is taken. */
  create(tx: Transaction, input: CreateInput<S>): Item {
    const operation = prepareCreate(this.schema, input, this.#context);
    const cell = tx.cellOf(this.table, operation.id);
    if (cell === undefined) return tx.put(this.table, operation, cell).item!;
    if (cell.item !== undefined) {
      throw new DatabaseError(
        "item-exists",
        `Cannot create ${
          this.#name(operation.id)
        }: it is there already. Use update() or upsert()`,
      );
    }
    const next = { ...operation, generation: cell.generation + 1 };
    return tx.put(this.table, next, cell).item!;
  }

  /** Changes some fields; `item-missing` when the item is not there. */
  update(tx: Transaction, id: string, input: UpdateInput<S>): Item {
    const cell = this.#existing(tx, id, "update");
    this.#context.origin = tx.origin;
    const operation = prepareUpdate(this.schema, cell, input, this.#context);
    return operation === undefined
      ? cell.item!
      : tx.put(this.table, operation, cell).item!;
  }

  /** Creates the item, or changes the given fields where it is there. */
  upsert(
    tx: Transaction,
    input: CreateInput<S> & { readonly id: string },
  ): Item {
    const { id, ...fields } = input;
    const there = tx.cellOf(this.table, parseItemId(id))?.item !== undefined;
    if (!there) return this.create(tx, input);
    return this.update(tx, id, fields as unknown as UpdateInput<S>);
  }

  /** Ends an item; `item-missing` when it is not there. */
  delete(tx: Transaction, id: string): void {
    const cell = this.#existing(tx, id, "delete");
    tx.put(this.table, prepareDelete(this.schema, cell), cell);
  }

  #existing(tx: Transaction, id: string, verb: string): Cell {
    const cell = tx.cellOf(this.table, parseItemId(id));
    if (cell?.item !== undefined) return cell;
    throw new DatabaseError(
      "item-missing",
      `Cannot ${verb} ${this.#name(id)}: it is not there${
        verb === "update" ? ". Use create() or upsert()" : ""
      }`,
    );
  }

  #name(id: string): string {
    return `"${this.schema.name}" item ${JSON.stringify(id)}`;
  }
}
