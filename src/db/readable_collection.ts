/**
 * Reading a collection: by id, in bulk, and by query. Synchronous, in memory.
 *
 * Architecture invariant: a caller cannot corrupt the database through what it
 * gets: items are frozen, and values that cannot be (dates, bytes) are copies.
 */

import { refuseOptions } from "../base/known_options.ts";
import type { QueryEngine } from "../query/engine.ts";
import { Query } from "../query/query.ts";
import type { OrderField, QueryStore, Where } from "../query/mod.ts";
import { itemStore } from "../query/store.ts";
import { stateIn } from "../schema/merge.ts";
import { type RowReader, rowReader } from "../schema/reader.ts";
import type { Infer, RefsOf, Schema } from "../schema/schema.ts";
import type { TextState } from "../schema/text_state.ts";
import type { View } from "../schema/view.ts";
import type { Table } from "../../repo/mod.ts";

export interface CollectionParts<S extends Schema> {
  readonly schema: S;
  /** That of the table, where that is made when it is first asked for. */
  readonly view?: View;
  readonly table: Table;
  readonly engine: QueryEngine;
  /** Fails when the repository is closed. */
  readonly check: () => void;
}

/** The reading half of a collection; also what a snapshot gives. */
export class ReadableCollection<S extends Schema>
  implements Iterable<Infer<S>> {
  /** The collection's schema. */
  readonly schema: S;
  readonly #parts: CollectionParts<S>;
  /** Gives the caller what it may have of an item. */
  protected readonly row: RowReader<S>;

  /** Use `repository.collection(schema)`. */
  constructor(parts: CollectionParts<S>) {
    refuseOptions(this);
    this.schema = parts.schema;
    this.#parts = parts;
    this.row = rowReader(parts.view ?? parts.table.view);
  }

  /** The collection's name. */
  get name(): S["name"] {
    return this.schema.name;
  }

  /** The item with this id, frozen; `undefined` when it is not there. */
  get(id: string): Infer<S> | undefined {
    this.#parts.check();
    const ordinal = this.#parts.table.ordinalOf(id);
    if (ordinal < 0) return undefined;
    const item = this.#parts.table.itemAt(ordinal);
    return item === undefined ? undefined : this.row(item);
  }

  /** The item with this id as a store for views, whether it is there or not. */
  store(id: string): QueryStore<Infer<S> | undefined> {
    this.#parts.check();
    return itemStore<Infer<S>>(this.#parts.engine, id);
  }

  /** What is known of a text field: for `@sheaf/sheaf/text`. `undefined` when the item is not there. */
  textOf(id: string, field: string): TextState | undefined {
    if (!this.has(id)) return undefined;
    const { table } = this.#parts;
    return stateIn(table.cellAt(table.ordinalOf(id)), field, "text");
  }

  /** Is there an item with this id? */
  has(id: string): boolean {
    this.#parts.check();
    const ordinal = this.#parts.table.ordinalOf(id);
    return ordinal >= 0 && this.#parts.table.isLive(ordinal);
  }

  /** The items of many ids, in the order of the ids; `undefined` where there is none. */
  getMany(ids: Iterable<string>): (Infer<S> | undefined)[] {
    this.#parts.check();
    const table = this.#parts.table;
    const rows: (Infer<S> | undefined)[] = [];
    for (const id of ids) {
      const ordinal = table.ordinalOf(id);
      const item = ordinal < 0 ? undefined : table.itemAt(ordinal);
      rows.push(item === undefined ? undefined : this.row(item));
    }
    return rows;
  }

  /** All items, in no promised order. The array is the caller's own. */
  all(): Infer<S>[] {
    this.#parts.check();
    const items = this.#parts.table.items();
    const { hasMutableValues } = this.#parts.table.view;
    if (hasMutableValues) return items.map(this.row);
    return items as unknown as Infer<S>[];
  }

  /**
   * All items as they are when the iteration starts, for exports: read a page at
   * a time, and not kept in memory. So each stream gives objects of its own.
   */
  *stream(): Generator<Infer<S>> {
    this.#parts.check();
    for (const item of this.#parts.table.stream()) {
      yield this.row(item);
      this.#parts.check();
    }
  }

  /** All ids, in no promised order. */
  keys(): string[] {
    this.#parts.check();
    return this.#parts.table.ids();
  }

  /** How many items there are. */
  count(): number {
    this.#parts.check();
    return this.#parts.table.count;
  }

  /** All items as they are when the iteration starts. */
  [Symbol.iterator](): Iterator<Infer<S>> {
    return this.all()[Symbol.iterator]();
  }

  /** A query over every item. */
  query(): Query<Infer<S>, Infer<S>, RefsOf<S>> {
    this.#parts.check();
    return new Query<Infer<S>, Infer<S>, RefsOf<S>>(this.#parts.engine);
  }

  /** A query for the items that fit conditions, or that a predicate takes. */
  where(
    condition: Where<Infer<S>> | ((item: Infer<S>) => boolean),
  ): Query<Infer<S>, Infer<S>, RefsOf<S>> {
    return this.query().where(condition);
  }

  /** A query for every item in an order. */
  orderBy(
    field: OrderField<Infer<S>>,
    direction: "asc" | "desc" = "asc",
  ): Query<Infer<S>, Infer<S>, RefsOf<S>> {
    return this.query().orderBy(field, direction);
  }
}
