/**
 * One collection on its way into a checkpoint: heap, rows, ids, slots, columns.
 */

import { ByteWriter, encodeText } from "../../src/base/bytes.ts";
import { assert } from "../../src/base/errors.ts";
import { type Cell, isBlank } from "../../src/schema/cell.ts";
import { encodeCell } from "../../src/schema/cell_writer.ts";
import type { FieldKind, Shape, ShapeField } from "../../src/schema/patch.ts";
import type { View } from "../../src/schema/view.ts";
import type { Cells } from "../state/cells.ts";
import {
  orderName,
  type Store,
  storeOfKind,
  unchanged,
} from "../state/column.ts";
import type { Table } from "../state/table.ts";
import type { Base, Row } from "./base.ts";
import type { Checkpoint } from "./checkpoint.ts";
import { wordsWorth, writeColumn, writeOrder } from "./column_writer.ts";
import { columnKey } from "./columns.ts";
import {
  type CollectionPlace,
  type ColumnPlace,
  DATA,
  hashId,
  IN_HEAP,
  NOT_ASCII,
  type Records,
  slotOf,
  slotsFor,
  type Stream,
} from "./layout.ts";
import type { PageWriter } from "./page_writer.ts";
import type { Registry } from "./registry.ts";

/** What the heap holds of an item that nobody made. */
const BLANK = new Uint8Array(0);
/** Items between two looks at the clock. */
const STEP = 128;
/** Heap bytes read at once from the previous checkpoint. */
const AHEAD = 64 * 1024;

export interface Picture {
  readonly name: string;
  readonly view: View;
  readonly size: number;
  readonly count: number;
  /** Every field that was ever written. */
  readonly fields: readonly ShapeField[];
  /** Cells in memory; the others are in the base. */
  readonly cells: Cells;
  readonly base: Base | undefined;
  readonly orders: ReadonlyMap<string, Uint32Array>;
  /** Which ordinals of the base changed since, where it has orders that nobody took. */
  readonly changed: Uint8Array | undefined;
  readonly previous: Checkpoint | undefined;
}

export function pictureOf(
  table: Table,
  previous: Checkpoint | undefined,
): Picture {
  const { name, view, size, count, base } = table;
  assert(
    base === undefined || base === previous?.base(name),
    "a table stands on the previous checkpoint",
  );
  return {
    name,
    view,
    size,
    count,
    fields: table.kinds.list(),
    cells: table.picture(),
    ...table.orders(),
    base,
    previous,
  };
}

/** Writes a collection and says where its parts lie. */
export function* writeCollection(
  writer: PageWriter,
  picture: Picture,
  registry: Registry,
  salt: number,
): Generator<void, CollectionPlace> {
  const { name, size, count } = picture;
  const heap = yield* writeHeap(writer, picture, registry);
  const rows = yield* writeRows(writer, picture, registry, heap.places);
  const hashes = new Uint32Array(size);
  const ids = yield* writeIds(writer, picture, salt, hashes);
  const slots = yield* writeSlots(writer, hashes);
  const dead = yield* writeDead(writer, picture);
  const columns = yield* writeColumns(writer, picture, registry.shapes);
  const orders = yield* writeOrders(writer, picture, columns);
  registry.fields(name, picture.fields);
  return {
    name,
    size,
    count,
    slots,
    rows,
    ids: ids.pages,
    idStarts: ids.starts,
    dead,
    heap: heap.stream,
    columns: [...columns, ...orders],
  };
}

/** Does a row name a cell in the log, as it is exactly the first create of its item? */
function isInLog(cell: Cell, registry: Registry): boolean {
  return !registry.isWhole && cell.createAt >= 0 && cell.generation === 0 &&
    cell.item !== undefined &&
    registry.fitsRow(registry.shape(cell.shape));
}

/** Where the heap has the cells that are not in the log, in ordinal order. */
interface Heap {
  readonly stream: Stream;
  readonly places: readonly number[];
}

function* writeHeap(
  writer: PageWriter,
  picture: Picture,
  registry: Registry,
): Generator<void, Heap> {
  const places: number[] = [];
  const body = new ByteWriter(4096);
  const head = new ByteWriter(8);
  const first = writer.begin();
  let bytes = 0;
  for (let ordinal = 0; ordinal < picture.size; ordinal++) {
    if (ordinal % STEP === 0) yield;
    const content = heapContent(picture, ordinal, registry, body);
    if (content === undefined) continue;
    head.clear();
    head.varint(content.length);
    places.push(bytes);
    writer.bytes(head.view());
    writer.bytes(content);
    bytes += head.length + content.length;
  }
  writer.end();
  return { stream: { first, bytes }, places };
}

function heapContent(
  { cells, base }: Picture,
  ordinal: number,
  registry: Registry,
  body: ByteWriter,
): Uint8Array | undefined {
  let cell = cells.get(ordinal);
  if (cell === undefined) {
    const row = base!.rowAt(ordinal);
    const isInHeap = row.shape === IN_HEAP;
    if (!isInHeap && !registry.isWhole) return undefined;
    if (isInHeap && registry.keepsNumbers) {
      return base!.heapBytes(row.address, AHEAD);
    }
    cell = base!.cellAt(ordinal, cells);
  } else if (isInLog(cell, registry)) return undefined;
  if (isBlank(cell)) return BLANK;
  if (cell.rich !== undefined) registry.states(cell.rich);
  body.clear();
  encodeCell(body, cell, registry, true);
  return body.view();
}

function* writeRows(
  writer: PageWriter,
  picture: Picture,
  registry: Registry,
  places: readonly number[],
): Generator<void, Records> {
  const first = writer.begin();
  let place = 0;
  for (let ordinal = 0; ordinal < picture.size; ordinal++) {
    if (ordinal % STEP === 0) yield;
    const row = logRow(picture, ordinal, registry);
    if (row === undefined) writer.row(places[place++]!, IN_HEAP, 0);
    else writer.row(row.address, row.shape, row.origin);
  }
  writer.end();
  return { first, count: picture.size };
}

/** Where a cell is in the log; `undefined` when it is in the heap. */
function logRow(
  { cells, base, previous }: Picture,
  ordinal: number,
  registry: Registry,
): Row | undefined {
  const cell = cells.get(ordinal);
  if (cell === undefined) {
    const row = base!.rowAt(ordinal);
    if (row.shape === IN_HEAP || registry.isWhole) return undefined;
    if (registry.keepsNumbers) return row;
    const shape = registry.shape(previous!.shape(row.shape));
    const origin = registry.origin(previous!.origin(row.origin));
    return { address: row.address, shape, origin };
  }
  if (!isInLog(cell, registry)) return undefined;
  const { operationsAt } = cell.origin;
  assert(operationsAt >= 0, "what a checkpoint covers is in the log");
  return {
    address: operationsAt + cell.createAt,
    shape: registry.shape(cell.shape),
    origin: registry.origin(cell.origin),
  };
}

interface Ids {
  readonly pages: Records;
  readonly starts: Records;
}

/** Writes ids in pages of their own and notes their hashes. */
function* writeIds(
  writer: PageWriter,
  { cells, size, base }: Picture,
  salt: number,
  hashes: Uint32Array,
): Generator<void, Ids> {
  const first = writer.begin();
  const starts: number[] = [];
  const page = new IdPage();
  for (let ordinal = 0; ordinal < size; ordinal++) {
    if (ordinal % STEP === 0) yield;
    const id = cells.idAt(ordinal) ?? base!.idAt(ordinal);
    hashes[ordinal] = hashId(id, salt);
    if (ordinal > 0 && !page.fits(id)) page.write(writer);
    if (page.count === 0) starts.push(ordinal);
    page.add(id);
  }
  if (page.count > 0) page.write(writer);
  const startsFirst = writer.begin();
  for (const start of starts) writer.u32(start);
  writer.end();
  const count = starts.length;
  return { pages: { first, count }, starts: { first: startsFirst, count } };
}

class IdPage {
  count = 0;
  readonly #lengths = new Uint8Array(DATA);
  readonly #text = new Uint8Array(DATA);
  readonly #data = new Uint8Array(DATA);
  #length = 0;
  #isAscii = true;
  /** The bytes of the id that was last asked about, when it is not ASCII. */
  #bytes: Uint8Array | undefined;

  /** Is there room for an id? Keeps its bytes for `add`. */
  fits(id: string): boolean {
    this.#bytes = isAscii(id) ? undefined : encodeText(id);
    const length = this.#bytes?.length ?? id.length;
    return 2 + this.count + 1 + this.#length + length <= DATA;
  }

  add(id: string): void {
    this.fits(id);
    const start = this.#length;
    if (this.#bytes !== undefined) {
      this.#isAscii = false;
      this.#text.set(this.#bytes, start);
      this.#length += this.#bytes.length;
    } else {
      for (let i = 0; i < id.length; i++) {
        this.#text[start + i] = id.charCodeAt(i);
      }
      this.#length += id.length;
    }
    this.#lengths[this.count++] = this.#length - start - 1;
  }

  write(writer: PageWriter): void {
    const data = this.#data.fill(0);
    const head = this.count | (this.#isAscii ? 0 : NOT_ASCII);
    data[0] = head & 0xff;
    data[1] = head >>> 8;
    data.set(this.#lengths.subarray(0, this.count), 2);
    data.set(this.#text.subarray(0, this.#length), 2 + this.count);
    writer.whole(data);
    this.count = 0;
    this.#length = 0;
    this.#isAscii = true;
  }
}

function isAscii(text: string): boolean {
  for (let i = 0; i < text.length; i++) {
    if (text.charCodeAt(i) >= 0x80) return false;
  }
  return true;
}

function* writeSlots(
  writer: PageWriter,
  hashes: Uint32Array,
): Generator<void, Records> {
  const count = slotsFor(hashes.length);
  const ordinals = new Uint32Array(count);
  for (let ordinal = 0; ordinal < hashes.length; ordinal++) {
    let slot = slotOf(hashes[ordinal]!, count);
    while (ordinals[slot] !== 0) if (++slot === count) slot = 0;
    ordinals[slot] = ordinal + 1;
    if (ordinal % 4096 === 0) yield;
  }
  const first = writer.begin();
  for (let slot = 0; slot < count; slot++) {
    const ordinal = ordinals[slot]!;
    writer.slot(ordinal === 0 ? 0 : hashes[ordinal - 1]!, ordinal);
    if (slot % 4096 === 0) yield;
  }
  writer.end();
  return { first, count };
}

function* writeDead(
  writer: PageWriter,
  { cells, size, count, base }: Picture,
): Generator<void, Records> {
  const first = writer.begin();
  if (count < size) {
    for (let ordinal = 0; ordinal < size; ordinal++) {
      if (ordinal % 1024 === 0) yield;
      const isLive = cells.has(ordinal)
        ? cells.itemAt(ordinal) !== undefined
        : base!.isLive(ordinal);
      if (!isLive) writer.u32(ordinal);
    }
  }
  writer.end();
  return { first, count: size - count };
}

function* writeColumns(
  writer: PageWriter,
  picture: Picture,
  shapes: readonly Shape[],
): Generator<void, ColumnPlace[]> {
  const kinds = new Map<string, FieldKind>();
  for (const shape of shapes) {
    if (shape.collection !== picture.name) continue;
    for (const { name, kind } of shape.fields) kinds.set(name, kind);
  }
  const places: ColumnPlace[] = [];
  for (const [field, kind] of kinds) {
    const start = storeOfKind(kind);
    if (start === undefined) continue;
    const store = yield* gatherColumn(picture, field, start);
    const key = columnKey(picture.view, field);
    places.push(yield* writeColumn(writer, field, key, store, picture.size));
  }
  return places;
}

/**
 * Orders of indexes that stand, and those of the base without what changed. Without
 * the columns of its fields an order is of no use.
 */
function* writeOrders(
  writer: PageWriter,
  { orders, changed, base, size, view }: Picture,
  columns: readonly ColumnPlace[],
): Generator<void, ColumnPlace[]> {
  const fields = new Set(["id"]);
  for (const { field, type } of columns) if (type !== "none") fields.add(field);
  const places: ColumnPlace[] = [];
  for (const index of view.schema?.indexes ?? []) {
    if (!index.every((field) => fields.has(field))) continue;
    const name = orderName(index);
    let order = orders.get(name);
    if (order === undefined && changed !== undefined) {
      const stored = yield* base!.orderSteps(index);
      order = stored && (yield* unchanged(stored, changed));
    }
    if (order === undefined) continue;
    places.push(yield* writeOrder(writer, name, order, size));
  }
  return places;
}

/** A field's column as it was when the picture was taken; `undefined` when it has none. */
function* gatherColumn(
  { cells, size, base }: Picture,
  field: string,
  start: Store,
): Generator<void, Store | undefined> {
  const stored = yield* base?.columnSteps(field, size) ?? nothing();
  const store = stored ?? start;
  const wordsMax = wordsWorth(size);
  for (let ordinal = 0; ordinal < size; ordinal++) {
    if (ordinal % 1024 === 0) yield;
    if (!cells.has(ordinal)) {
      if (stored === undefined) return undefined;
      continue;
    }
    if (!store.set(ordinal, cells.itemAt(ordinal)?.[field])) return undefined;
    if (store.kind === "word" && store.words.length > wordsMax) {
      return undefined;
    }
  }
  // Words of the base that no item has any more may have been erased.
  return stored?.kind === "word" ? stored.usedOnly(size) : store;
}

/** No column to start from. */
// deno-lint-ignore require-yield -- it stands in for steps that read
function* nothing(): Generator<void, undefined> {
  return undefined;
}
