/**
 * One collection of a checkpoint: cells, ids and columns read on demand.
 *
 * A row of the log is the create of an item's first generation and nothing
 * else, so its cell follows from the row and the item. Never keeps a cell or an
 * item: who asks keeps it.
 */

import { decodeAscii, decodeText } from "../../src/base/bytes.ts";
import { bareCell, blankCell, type Cell } from "../../src/schema/cell.ts";
import { createdCell } from "../../src/schema/merge.ts";
import { finish } from "../../src/base/steps.ts";
import { asWritten } from "../../src/schema/patch_codec.ts";
import { decodeCreateAt } from "../../src/schema/patch_parts.ts";
import type { Item, Shape } from "../../src/schema/patch.ts";
import type { View } from "../../src/schema/view.ts";
import type { Cells } from "../state/cells.ts";
import { orderName, type Store } from "../state/column.ts";
import { columnKey, loadColumn } from "./columns.ts";
import { Heap, RowList } from "./heap.ts";
import {
  type CollectionPlace,
  type ColumnPlace,
  DATA,
  encodings,
  hashId,
  IN_HEAP,
  NOT_ASCII,
  ORDER_KEY,
  slotOf,
  widths,
} from "./layout.ts";
import { PagePart } from "./page_file.ts";
import type { Tables } from "./tables.ts";
import { lowerBound } from "../../src/base/lower_bound.ts";

export interface Row {
  /** In the log, or in the heap when `shape` says so. */
  readonly address: number;
  readonly shape: number;
  readonly origin: number;
}

export class Base {
  readonly place: CollectionPlace;
  readonly #checkpoint: Tables;
  readonly #view: View;
  readonly #slots: PagePart;
  readonly #rows: PagePart;
  readonly #ids: PagePart;
  readonly #idStarts: PagePart;
  readonly #heap: Heap;
  #dead: Set<number> | undefined;
  /** The ids of the page read last, how many were read out of order, and all ids once that was too many. */
  #page: IdPage | undefined;
  #turns = 0;
  #allIds: readonly string[] | undefined;

  constructor(checkpoint: Tables, place: CollectionPlace, view: View) {
    this.#checkpoint = checkpoint;
    this.place = place;
    this.#view = view;
    const { file } = checkpoint;
    const { slots, rows, ids, idStarts } = place;
    this.#slots = new PagePart(file, slots.first, slots.count, widths.slot);
    this.#rows = new PagePart(file, rows.first, rows.count, widths.row);
    this.#ids = new PagePart(file, ids.first, ids.count, DATA);
    this.#idStarts = new PagePart(
      file,
      idStarts.first,
      idStarts.count,
      widths.idStart,
    );
    this.#heap = new Heap(checkpoint, place, view);
  }

  /** Ordinals, deleted ones included. */
  get size(): number {
    return this.place.size;
  }

  get count(): number {
    return this.place.count;
  }

  /** The ordinal of an id, or -1; reads the cells that it must look at into `cells`. */
  find(id: string, cells: Cells): number {
    const slots = this.place.slots.count;
    if (slots === 0) return -1;
    const { perPage } = this.#slots;
    const hash = hashId(id, this.#checkpoint.file.salt);
    let slot = slotOf(hash, slots);
    for (let probes = 0; probes < slots; probes++) {
      const view = this.#slots.page(slot / perPage | 0);
      const at = slot % perPage * widths.slot;
      const ordinal = view.getUint32(at + 4, true) - 1;
      if (ordinal < 0) return -1;
      if (view.getUint32(at, true) === hash && this.#isAt(ordinal, id, cells)) {
        return ordinal;
      }
      if (++slot === slots) slot = 0;
    }
    return -1;
  }

  #isAt(ordinal: number, id: string, cells: Cells): boolean {
    let known = cells.idAt(ordinal);
    if (known === undefined) {
      this.read(ordinal, cells);
      known = cells.idAt(ordinal);
    }
    return known === id;
  }

  rowAt(ordinal: number): Row {
    const { perPage } = this.#rows;
    const view = this.#rows.page(ordinal / perPage | 0);
    const at = ordinal % perPage * widths.row;
    return {
      address: addressAt(view, at),
      shape: view.getUint16(at + 6, true),
      origin: view.getUint32(at + 8, true),
    };
  }

  /** Reads one item into `cells`, or the cell of one that is not exactly its create. */
  read(ordinal: number, cells: Cells): void {
    const row = this.rowAt(ordinal);
    if (row.shape === IN_HEAP) {
      this.#heap.read(row.address, ordinal, cells, this.#idAt);
    } else cells.setItem(ordinal, this.#readItem(row));
  }

  #readItem(row: Row, view: View = this.#view): Item {
    const shape = this.#checkpoint.shape(row.shape);
    return this.#checkpoint.log.row(
      row.address,
      (reader) => decodeCreateAt(reader, shape, view).item,
    );
  }

  /** The cell of an ordinal, with the item that `cells` has of it. */
  cellAt(ordinal: number, cells: Cells): Cell {
    const row = this.rowAt(ordinal);
    const known = cells.itemAt(ordinal);
    if (row.shape === IN_HEAP) {
      const cell = this.#heap.cell(row.address) ??
        blankCell(this.idAt(ordinal), this.place.name);
      return known === undefined ? cell : { ...cell, item: known };
    }
    const shape = this.#checkpoint.shape(row.shape);
    const origin = this.#checkpoint.origin(row.origin);
    const createAt = row.address - origin.operationsAt;
    if (!this.#view.planFor(shape).isFitting) {
      // Readers here see only a part of it.
      const item = this.#readItem(row, asWritten);
      const create = { id: item.id, generation: 0, shape, item };
      const cell = createdCell(create, origin, createAt, this.#view);
      return known === undefined ? cell : { ...cell, item: known };
    }
    const item = known ?? this.#readItem(row);
    return bareCell(item.id, 0, item, shape, origin, createAt);
  }

  heapBytes(address: number, ahead = 0): Uint8Array {
    return this.#heap.bytes(address, ahead);
  }

  isLive(ordinal: number): boolean {
    if (this.place.dead.count === 0) return true;
    this.#dead ??= this.#readDead();
    return !this.#dead.has(ordinal);
  }

  #readDead(): Set<number> {
    const { first, count } = this.place.dead;
    const { file } = this.#checkpoint;
    const dead = new Set<number>();
    const part = new PagePart(file, first, count, widths.dead);
    for (let i = 0; i < count; i++) {
      const view = part.page(i / part.perPage | 0);
      dead.add(view.getUint32(i % part.perPage * widths.dead, true));
    }
    return dead;
  }

  readonly #idAt = (ordinal: number): string => this.idAt(ordinal);

  /** The id of an ordinal. Who asks for many in no order, as a sort does, soon has all of them read once. */
  idAt(ordinal: number): string {
    const known = this.#allIds?.[ordinal];
    if (known !== undefined) return known;
    const page = this.#page;
    const at = ordinal - (page?.first ?? Infinity);
    if (page !== undefined && at >= 0 && at < page.ids.length) {
      return page.ids[at]!;
    }
    const isNext = page !== undefined && at === page.ids.length;
    if (!isNext && this.#turns++ > this.place.ids.count) {
      this.#allIds = this.ids();
      return this.#allIds[ordinal] ?? this.#lacks();
    }
    this.#page = this.#idPage(ordinal);
    return this.#page.ids[ordinal - this.#page.first] ?? this.#lacks();
  }

  #lacks(): never {
    const { first } = this.place.ids;
    throw this.#checkpoint.file.damage(first, "an id is not there");
  }

  #idPage(ordinal: number): IdPage {
    const isPast = (page: number) => this.#idStart(page) > ordinal;
    const low = lowerBound(this.place.idStarts.count, isPast) - 1;
    const view = this.#ids.page(low);
    const bytes = new Uint8Array(view.buffer, view.byteOffset, DATA);
    const ids: string[] = [];
    this.#pushIds(bytes, low, ids);
    return { first: this.#idStart(low), ids };
  }

  #idStart(page: number): number {
    const { perPage } = this.#idStarts;
    const view = this.#idStarts.page(page / perPage | 0);
    return view.getUint32(page % perPage * widths.idStart, true);
  }

  ids(): string[] {
    const ids: string[] = [];
    for (const { bytes, pages, first } of this.#ids.sweep()) {
      const step = bytes.length / pages;
      for (let i = 0; i < pages; i++) {
        this.#pushIds(
          bytes.subarray(i * step, i * step + DATA),
          first + i,
          ids,
        );
      }
    }
    return ids;
  }

  #pushIds(page: Uint8Array, number: number, ids: string[]): void {
    const { file } = this.#checkpoint;
    const { first } = this.place.ids;
    const head = page[0]! | page[1]! << 8;
    const count = head & ~NOT_ASCII;
    const text = head === count ? decodeAscii(page, 0, DATA) : undefined;
    let at = 2 + count;
    for (let i = 0; i < count; i++) {
      const end = at + page[2 + i]! + 1;
      if (end > DATA) throw file.damage(first + number, "an id is cut");
      ids.push(
        text?.slice(at, end) ??
          file.reading(
            first + number,
            () => decodeText(page.subarray(at, end)),
          ),
      );
      at = end;
    }
  }

  shapes(): Shape[] {
    const { shapes } = this.#checkpoint.directory;
    return shapes.filter((shape) => shape.collection === this.place.name);
  }

  /** For who reads all of it once: lets go of the pages that came since. */
  borrow(): () => void {
    const parts = [this.#rows, this.#checkpoint.log.checks];
    const kept = parts.map(({ pages }) => pages);
    return () => parts.forEach((part, i) => part.letGoBut(kept[i]!));
  }

  /** Reads those of `ordinals` that `cells` lacks. */
  load(ordinals: ArrayLike<number>, cells: Cells): void {
    const { size } = this;
    const lacks = (one: number) => one < size && !cells.has(one);
    // In the order of the file nearly always, whatever order was asked for.
    const wanted = Uint32Array.from(ordinals).filter(lacks).sort();
    if (wanted.length > 0) this.#load(wanted, cells);
  }

  /** Reads every item that `cells` lacks; where it is not exactly a create, the whole cell, if that is asked for. */
  loadAll(cells: Cells, isWhole = false): void {
    const wanted = new Uint32Array(this.size);
    let count = 0;
    for (let ordinal = 0; ordinal < wanted.length; ordinal++) {
      if (!cells.has(ordinal)) wanted[count++] = ordinal;
    }
    if (count > 0) this.#load(wanted.subarray(0, count), cells, isWhole);
  }

  /** No generator, because V8 runs a generator's loops by its interpreter. */
  #load(ordinals: Uint32Array, cells: Cells, isWhole = false): void {
    const wanted = new RowList(ordinals.length);
    const inHeap = new RowList(ordinals.length);
    const rows = this.#rows;
    const { perPage } = rows;
    for (let i = 0; i < ordinals.length; i++) {
      const ordinal = ordinals[i]!;
      // As `rowAt`, without an object for each: V8 makes them until it optimizes.
      const view = rows.page(ordinal / perPage | 0);
      const at = ordinal % perPage * widths.row;
      const shape = view.getUint16(at + 6, true);
      const list = shape === IN_HEAP ? inHeap : wanted;
      list.add(ordinal, addressAt(view, at), shape);
    }
    inHeap.sort();
    this.#heap.readAll(inHeap, cells, this.#idAt, isWhole);
    wanted.sort();
    const checkpoint = this.#checkpoint;
    const { addresses, ordinals: order, shapes } = wanted;
    finish(checkpoint.log.rows(addresses, wanted.count, (reader, i) => {
      const shape = checkpoint.shape(shapes[i]!);
      cells.setItem(order[i]!, decodeCreateAt(reader, shape, this.#view).item);
    }));
  }

  #column(field: string): ColumnPlace | undefined {
    const column = this.place.columns.find((column) => column.field === field);
    if (column === undefined || column.type === "none") return undefined;
    const fits = column.key === columnKey(this.#view, field) ||
      this.#isWritten(field);
    return fits ? column : undefined;
  }

  /**
   * Did every writer know the field as the local schema does? Then all readers
   * see what was written, whatever their schemas say of items without it.
   */
  #isWritten(field: string): boolean {
    const plan = this.#view.schema?.plan.find(({ name }) => name === field);
    return plan !== undefined &&
      this.shapes().every(({ fields }) =>
        fields.some(({ name, kind }) => name === field && kind === plan.kind)
      );
  }

  get hasOrders(): boolean {
    return this.place.columns.some(({ key }) => key === ORDER_KEY);
  }

  /**
   * The stored order of an index, ended by NaN. It was made of values as readers
   * saw them then: `undefined` where the columns, too, may not be used any more.
   */
  *orderSteps(
    fields: readonly string[],
  ): Generator<void, Float64Array | undefined> {
    const name = orderName(fields);
    const place = this.place.columns.find(({ field, key }) =>
      key === ORDER_KEY && field === name
    );
    if (place?.encoding !== encodings.i32) return;
    if (!fields.every((one) => one === "id" || this.hasColumn(one))) return;
    const { size } = this;
    const store = yield* loadColumn(this.#checkpoint.file, place, size, size);
    return store.kind === "number" ? store.values : undefined;
  }

  hasColumn(field: string): boolean {
    return this.#column(field) !== undefined;
  }

  /** A copy of the field's column with room for `size` ordinals. */
  *columnSteps(
    field: string,
    size: number,
  ): Generator<void, Store | undefined> {
    const place = this.#column(field);
    if (place === undefined) return undefined;
    return yield* loadColumn(this.#checkpoint.file, place, this.size, size);
  }
}

function addressAt(view: DataView, at: number): number {
  return view.getUint32(at, true) + view.getUint16(at + 4, true) * 2 ** 32;
}

interface IdPage {
  readonly first: number;
  readonly ids: readonly string[];
}
