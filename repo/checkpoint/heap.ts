/**
 * The heap of a collection in a checkpoint: cells that are not exactly a create
 * that the log holds, because somebody wrote over them or deleted them.
 *
 * Who reads an item gets the item alone where its bytes tell it: stamps are read
 * by who changes it. Never keeps a cell or an item.
 */

import { ByteReader } from "../../src/base/bytes.ts";
import { blankCell, type Cell } from "../../src/schema/cell.ts";
import { decodeCell, decodeItem } from "../../src/schema/cell_codec.ts";
import type { View } from "../../src/schema/view.ts";
import type { Cells } from "../state/cells.ts";
import { type CollectionPlace, DATA } from "./layout.ts";
import { endOfRun } from "./log_rows.ts";
import { PageStream } from "./page_file.ts";
import type { Tables } from "./tables.ts";

/** Most bytes read at once by those who want many cells. */
const READ_MAX = 256 * 1024;
/** Cells that lie further apart are read for themselves. */
const GAP_MAX = 16 * 1024;

/** What the heap holds of an item that nobody made. */
const NOTHING = new Uint8Array(0);

type Decode<T> = (reader: ByteReader, tables: Tables, view: View) => T;

export class Heap {
  readonly #checkpoint: Tables;
  readonly #place: CollectionPlace;
  readonly #view: View;
  readonly #stream: PageStream;

  constructor(checkpoint: Tables, place: CollectionPlace, view: View) {
    this.#checkpoint = checkpoint;
    this.#place = place;
    this.#view = view;
    const { first, bytes } = place.heap;
    this.#stream = new PageStream(checkpoint.file, first, bytes);
  }

  bytes(address: number, ahead = 0): Uint8Array {
    const stream = this.#stream;
    const headEnd = Math.min(stream.length, address + 8);
    const head = new ByteReader(stream.bytes(address, headEnd, ahead));
    const length = this.#reading(address, () => head.varint());
    if (length === 0) return NOTHING;
    const start = address + head.at;
    return stream.bytes(start, start + length, ahead);
  }

  /** The cell at an address; `undefined` of an item that nobody made. */
  cell(address: number): Cell | undefined {
    return this.#decode(this.bytes(address), address, decodeCell);
  }

  /** Reads an item into `cells`, or the cell where that is not enough, or `isWhole`. */
  read(
    address: number,
    ordinal: number,
    cells: Cells,
    idAt: (ordinal: number) => string,
    ahead = 0,
    isWhole = false,
  ): void {
    const bytes = this.bytes(address, ahead);
    const item = isWhole ? undefined : this.#decode(bytes, address, decodeItem);
    if (item !== undefined) return cells.setItem(ordinal, item);
    const cell = this.#decode(bytes, address, decodeCell);
    cells.set(ordinal, cell ?? blankCell(idAt(ordinal), this.#place.name));
  }

  #decode<T>(
    bytes: Uint8Array,
    address: number,
    decode: Decode<T>,
  ): T | undefined {
    if (bytes.length === 0) return undefined;
    return this.#reading(
      address,
      () => decode(new ByteReader(bytes), this.#checkpoint, this.#view),
    );
  }

  #reading<T>(address: number, read: () => T): T {
    const page = this.#place.heap.first + Math.floor(address / DATA);
    return this.#checkpoint.file.reading(page, read);
  }

  /** As `read`, for rows in the order of their addresses: neighbours in one read. */
  readAll(
    { addresses, ordinals, count }: RowList,
    cells: Cells,
    idAt: (ordinal: number) => string,
    isWhole = false,
  ): void {
    for (let i = 0, end = 0; i < count; i++) {
      if (i === end) {
        const limit = addresses[i]! + READ_MAX;
        end = endOfRun(addresses, i, count, limit, GAP_MAX);
      }
      // The last cell of a run mostly fits in what is read behind its address.
      const isLast = i === end - 1;
      const ahead = isLast ? 0 : addresses[end - 1]! - addresses[i]! + DATA;
      this.read(addresses[i]!, ordinals[i]!, cells, idAt, ahead, isWhole);
    }
  }
}

/** Rows to read from the log. */
export class RowList {
  addresses: Float64Array;
  ordinals: Uint32Array;
  shapes: Uint16Array;
  count = 0;
  #isSorted = true;

  constructor(capacity: number) {
    this.addresses = new Float64Array(capacity);
    this.ordinals = new Uint32Array(capacity);
    this.shapes = new Uint16Array(capacity);
  }

  add(ordinal: number, address: number, shape: number): void {
    const at = this.count++;
    this.addresses[at] = address;
    this.ordinals[at] = ordinal;
    this.shapes[at] = shape;
    if (at > 0 && this.addresses[at - 1]! > address) this.#isSorted = false;
  }

  /** By address, so that the log is read in one direction. */
  sort(): void {
    if (this.#isSorted) return;
    const { addresses, ordinals, shapes } = this;
    const order = Uint32Array.from({ length: this.count }, (_, i) => i);
    order.sort((a, b) => addresses[a]! - addresses[b]!);
    this.addresses = Float64Array.from(order, (i) => addresses[i]!);
    this.ordinals = Uint32Array.from(order, (i) => ordinals[i]!);
    this.shapes = Uint16Array.from(order, (i) => shapes[i]!);
  }
}
