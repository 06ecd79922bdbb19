/**
 * A table: one collection of one repository in memory, over what its
 * checkpoint holds.
 *
 * Cells stand in an array by ordinal and are read from the base when they are
 * asked for; columns are built on first use and kept up to date by every put.
 * A deleted item's cell stays as a tombstone. The table never merges, never
 * writes, and never asks whether a change was allowed.
 */

import { DatabaseError } from "../../src/base/errors.ts";
import { finish, inSteps } from "../../src/base/steps.ts";
import { type Cell, isBlank, isThere } from "../../src/schema/cell.ts";
import type { FieldKind, Item, Shape } from "../../src/schema/patch.ts";
import type { Column, ItemChange, Source } from "../../src/schema/source.ts";
import type { View } from "../../src/schema/view.ts";
import type { Base } from "../checkpoint/base.ts";
import { Cells } from "./cells.ts";
import { FieldKinds } from "../admission/field_kinds.ts";
import {
  orderName,
  type Store,
  storeFor,
  storeOfKind,
  unchanged,
} from "./column.ts";

/** So many items are read at a time that nobody keeps. */
const STREAM_PAGE = 1_024;
/** Of so many pages is kept what says where their items are: it was read in groups. */
const STREAM_PAGES = 64;

export interface TableOptions {
  readonly name: string;
  readonly view: View;
  readonly base?: Base;
}

/** What is made of a table's items, and told of every put. */
export interface Kept {
  /** Takes what stands at an ordinal now, and what stood there. */
  set(ordinal: number, cell: Cell, before: Cell | undefined): void;
}

type Listener = (changes: readonly ItemChange[]) => void;

/** A field's column, or the knowledge that it has none. */
interface FieldColumn {
  readonly field: string;
  /** `undefined` when no column can hold the field's values. */
  store: Store | undefined;
  /** Until it has what was put before it began. */
  steps?: Iterator<void, void> | undefined;
}

export class Table implements Source {
  readonly name: string;
  readonly view: View;
  readonly base: Base | undefined;
  readonly kinds: FieldKinds;
  readonly #cells: Cells;
  /** Ids that the base does not have. */
  readonly #ordinals = new Map<string, number>();
  readonly #columns: FieldColumn[] = [];
  readonly #kept: Kept[] = [];
  readonly #orders = new Map<string, () => Uint32Array>();
  /** Do their indexes hear of nothing more? */
  #isLeft = false;
  /** 1 for each ordinal of the base that was put; absent where it has no orders. */
  readonly #changed: Uint8Array | undefined;
  readonly #listeners = new Set<Listener>();
  /** Ids in `#ordinals` that have no cell yet. */
  #reserved = 0;
  #count: number;
  #isLoaded: boolean;
  /** All live items, until a change makes them stale. */
  #items: Item[] | undefined;
  #ids: string[] | undefined;

  constructor(options: TableOptions) {
    this.name = options.name;
    this.view = options.view;
    this.base = options.base;
    this.kinds = new FieldKinds(() => this.base?.shapes() ?? []);
    this.#cells = new Cells(this.base?.size ?? 0);
    this.#count = this.base?.count ?? 0;
    this.#isLoaded = this.#cells.size === 0;
    const { base } = options;
    if (base?.hasOrders) this.#changed = new Uint8Array(base.size);
  }

  get size(): number {
    return this.#cells.size;
  }

  get count(): number {
    return this.#count;
  }

  /** The ordinal of an id; -1 when it was never known. */
  ordinalOf(id: string): number {
    const ordinal = this.reservedOrdinalOf(id);
    return ordinal < this.#cells.size ? ordinal : -1;
  }

  /** As `ordinalOf`; from `size` on where the id is reserved and not yet put. */
  reservedOrdinalOf(id: string): number {
    // An empty map would still hash the id.
    const ordinal = this.#ordinals.size === 0
      ? undefined
      : this.#ordinals.get(id);
    if (ordinal !== undefined) return ordinal;
    return this.base === undefined ? -1 : this.base.find(id, this.#cells);
  }

  /**
   * Gives a new id the next ordinal, for a transaction that is not committed
   * yet: nobody else sees it. The transaction either puts its cell under that
   * ordinal, in the order of reservation, or releases it.
   */
  reserve(id: string): void {
    this.#ordinals.set(id, this.#cells.size + this.#reserved++);
  }

  /** Takes reservations back. */
  release(cells: readonly Cell[]): void {
    for (const { id } of cells) this.#ordinals.delete(id);
    this.#reserved = 0;
  }

  cellAt(ordinal: number): Cell {
    const known = this.#cells.get(ordinal);
    if (known !== undefined) return known;
    const cell = this.#baseOf(ordinal).cellAt(ordinal, this.#cells);
    this.#cells.set(ordinal, cell);
    return cell;
  }

  #baseOf(ordinal: number): Base {
    const isKnown = ordinal >= 0 && ordinal < (this.base?.size ?? 0);
    if (this.base === undefined || !isKnown) {
      throw new RangeError(`Cannot read item: no ordinal ${ordinal}`);
    }
    return this.base;
  }

  /** The cell of an id, tombstones included. */
  cellOf(id: string): Cell | undefined {
    const ordinal = this.ordinalOf(id);
    if (ordinal < 0) return undefined;
    const cell = this.cellAt(ordinal);
    return isBlank(cell) ? undefined : cell;
  }

  itemAt(ordinal: number): Item | undefined {
    const cells = this.#cells;
    const item = cells.itemAt(ordinal);
    if (item !== undefined || cells.get(ordinal) !== undefined) return item;
    this.#baseOf(ordinal).read(ordinal, cells);
    return cells.itemAt(ordinal);
  }

  idAt(ordinal: number): string {
    return this.#cells.idAt(ordinal) ?? this.#ids?.[ordinal] ??
      this.#baseOf(ordinal).idAt(ordinal);
  }

  /** Is the item of an ordinal there? Never reads the item. */
  isLive(ordinal: number): boolean {
    if (this.#count === this.#cells.size) return true;
    const cell = this.#cells.get(ordinal);
    if (cell !== undefined) return isThere(cell);
    if (this.#cells.itemAt(ordinal) !== undefined) return true;
    return this.base !== undefined && this.base.isLive(ordinal);
  }

  /** Reads the cells of many ordinals at once, where they are not in memory yet. */
  load(ordinals: ArrayLike<number>): void {
    if (!this.#isLoaded) this.base?.load(ordinals, this.#cells);
  }

  #loadAll(): void {
    if (this.#isLoaded) return;
    this.base?.loadAll(this.#cells);
    this.#isLoaded = true;
  }

  /** All live items in ordinal order: a new array, the caller's own. */
  items(): Item[] {
    if (this.#items === undefined) {
      this.#loadAll();
      this.#items = this.#cells.items();
    }
    return this.#items.slice();
  }

  /**
   * All live items in ordinal order, as they are when it begins. What is not in
   * memory is read a page at a time and not kept.
   */
  *stream(): Generator<Item> {
    const cells = this.picture();
    const letGo = this.base?.borrow();
    for (let from = 0; from < cells.size; from += STREAM_PAGE) {
      if (from % (STREAM_PAGE * STREAM_PAGES) === 0) letGo?.();
      const to = Math.min(cells.size, from + STREAM_PAGE);
      const page = this.#pageOver(cells, from, to);
      for (let ordinal = from; ordinal < to; ordinal++) {
        const item = (cells.has(ordinal) ? cells : page).itemAt(ordinal);
        if (item !== undefined) yield item;
      }
    }
    letGo?.();
  }

  #pageOver(cells: Cells, from: number, to: number): Cells {
    const page = new Cells(to);
    const lacking: number[] = [];
    for (let ordinal = from; ordinal < to; ordinal++) {
      if (!cells.has(ordinal)) lacking.push(ordinal);
    }
    if (lacking.length > 0) this.base?.load(lacking, page);
    return page;
  }

  /** The ids of all live items in ordinal order: a new array, the caller's own. */
  ids(): string[] {
    const all = this.#allIds();
    if (this.#count === all.length) return all.slice();
    return all.filter((_, ordinal) => this.isLive(ordinal));
  }

  /** Ids by ordinal, tombstones included; grows with the table. */
  #allIds(): string[] {
    const cells = this.#cells;
    const ids = this.#ids ??= this.#isLoaded ? [] : this.base?.ids() ?? [];
    for (let ordinal = ids.length; ordinal < cells.size; ordinal++) {
      ids.push(cells.idAt(ordinal)!);
    }
    return ids;
  }

  /**
   * Appends a cell, or replaces the one with its id. Keeps count, items and
   * columns up to date; tells nobody (see `publish`).
   *
   * @param cell the new state of its id
   * @param known the ordinal of its id, reserved ones included, where the caller
   * has it already
   * @returns its ordinal
   */
  put(cell: Cell, known: number = this.ordinalOf(cell.id)): number {
    const isReserved = known === this.#cells.size;
    const isNew = known < 0 || isReserved;
    const wasLive = !isNew && this.isLive(known);
    const isKept = this.#kept.length > 0;
    const before = isKept && wasLive ? this.cellAt(known) : undefined;
    const ordinal = isNew ? this.#cells.push(cell) : known;
    if (isReserved) this.#reserved--;
    else if (isNew) this.#ordinals.set(cell.id, ordinal);
    else this.#cells.set(ordinal, cell);
    if (this.#changed !== undefined) this.#changed[ordinal] = 1;
    if (this.#isLeft) this.#orders.clear();
    this.#keepItems(ordinal, cell, isNew);
    if (isThere(cell) !== wasLive) this.#count += wasLive ? -1 : 1;
    const columns = this.#columns;
    for (let i = 0; i < columns.length; i++) {
      setColumn(columns[i]!, ordinal, cell.item);
    }
    for (let i = 0; i < this.#kept.length; i++) {
      this.#kept[i]!.set(ordinal, cell, before);
    }
    return ordinal;
  }

  /** Tells of every put from now on. */
  keep(kept: Kept): void {
    this.#kept.push(kept);
  }

  /** While nothing is deleted, an item's place in `#items` is its ordinal. */
  #keepItems(ordinal: number, cell: Cell, isNew: boolean): void {
    const items = this.#items;
    if (items === undefined) return;
    const { item } = cell;
    if (item === undefined) this.#items = undefined;
    else if (isNew) items.push(item);
    else if (items.length === this.#cells.size) items[ordinal] = item;
    else this.#items = undefined;
  }

  /** The shapes that items were written with, found without reading an item. */
  shapes(): Shape[] {
    return [...this.base?.shapes() ?? [], ...this.#cells.shapes()];
  }

  /** A column of a scalar field; `undefined` when no column can hold its values. */
  column(field: string): Column | undefined {
    const { steps, store } = this.#columnOf(field);
    return steps === undefined ? store : finish(this.columnSteps(field));
  }

  /** The same in steps. Between two there may be puts, and whoever asks for it at once. */
  *columnSteps(field: string): Generator<void, Column | undefined> {
    const column = this.#columnOf(field);
    try {
      while (column.steps?.next().done === false) yield;
    } catch (error) {
      this.#columns.splice(this.#columns.indexOf(column), 1);
      throw error;
    }
    column.steps = undefined;
    return column.store;
  }

  hasColumn(field: string): boolean {
    for (const kept of this.#columns) {
      if (kept.field === field) return (kept.steps ?? kept.store) !== undefined;
    }
    return this.#isLoaded || this.base?.hasColumn(field) === true;
  }

  /** An order from before, without what changed since; `undefined` when there is none to use. */
  *storedOrder(
    fields: readonly string[],
  ): Generator<void, Uint32Array | undefined> {
    const { base } = this;
    if (base === undefined || this.#changed === undefined) return;
    try {
      const stored = yield* base.orderSteps(fields);
      return stored && (yield* unchanged(stored, this.#changed));
    } catch (error) {
      // Who closes the repository removes the checkpoint; the order is found anew.
      if (error instanceof DatabaseError) return;
      throw error;
    }
  }

  /** Saves an index's order with the next checkpoint, as `take` gives it then. */
  keepOrder(
    fields: readonly string[],
    take: (() => Uint32Array) | undefined,
  ): void {
    if (take === undefined) this.#orders.delete(orderName(fields));
    else this.#orders.set(orderName(fields), take);
  }

  /** Orders are as they are until the next put. */
  leaveOrders(): void {
    this.#isLeft = true;
  }

  /** Orders as they are now, and what changed since those of the base were. */
  orders(): {
    readonly orders: ReadonlyMap<string, Uint32Array>;
    readonly changed: Uint8Array | undefined;
  } {
    const orders = new Map<string, Uint32Array>();
    for (const [name, take] of this.#orders) orders.set(name, take());
    return { orders, changed: this.#changed?.slice() };
  }

  #columnOf(field: string): FieldColumn {
    for (const kept of this.#columns) if (kept.field === field) return kept;
    const column: FieldColumn = { field, store: undefined };
    const isStored = this.base?.hasColumn(field);
    if (!isStored) {
      const kind = this.#kindOf(field);
      if (kind === undefined) {
        const hasValue = (item: Item) => item[field] !== undefined;
        const first = this.items().find(hasValue);
        if (first === undefined) return column; // Nothing tells the type yet.
        column.store = storeFor(first[field]);
      } else column.store = storeOfKind(kind);
      if (column.store !== undefined) this.#loadAll();
    }
    if (isStored || column.store) column.steps = this.#fillColumn(column);
    this.#columns.push(column);
    return column;
  }

  /** Puts find no store before the base is read, and are in memory then. */
  *#fillColumn(column: FieldColumn): Generator<void> {
    const cells = this.#cells;
    column.store ??= yield* this.base!.columnSteps(column.field, this.size);
    yield* inSteps(cells.size, (from, to) => {
      for (let i = cells.seek(from); i < to; i = cells.seek(i + 1)) {
        if (cells.has(i)) setColumn(column, i, cells.itemAt(i));
      }
    });
  }

  #kindOf(field: string): FieldKind | undefined {
    return this.view.schema?.plan.find(({ name }) => name === field)?.kind;
  }

  /** Does anybody listen? Otherwise nobody needs to be told what changed. */
  get isHeard(): boolean {
    return this.#listeners.size > 0;
  }

  /** Hears every transaction that changed the table; the result ends it. */
  subscribe(listener: Listener): () => void {
    // A wrapper of its own, so that one function may subscribe twice.
    const own: Listener = (changes) => listener(changes);
    this.#listeners.add(own);
    return () => void this.#listeners.delete(own);
  }

  /** Tells the subscribers what one transaction did, after it was put as a whole. */
  publish(changes: readonly ItemChange[]): void {
    if (changes.length === 0) return;
    for (const listener of [...this.#listeners]) listener(changes);
  }

  /** Cells by ordinal as they are now, whatever is put later; what was not read is not in it. */
  picture(): Cells {
    return this.#cells.picture();
  }
}

function setColumn(
  column: FieldColumn,
  ordinal: number,
  item: Item | undefined,
): void {
  const { store } = column;
  if (store === undefined) return;
  const value = item === undefined ? undefined : item[column.field];
  if (!store.set(ordinal, value)) column.store = undefined;
}
