/**
 * The checkpoint's parts and where they lie: the words of docs/format-checkpoint.md in
 * types, and how the directory is read. Touches no file.
 */

import type { ByteReader } from "../../src/base/bytes.ts";
import { limits } from "../../src/base/limits.ts";
import type { Shape } from "../../src/schema/patch.ts";
import { readShape } from "../../src/schema/shape_codec.ts";

export const PAGE = 4096;
/** Bytes of a page before its checksum. */
export const DATA = PAGE - 4;
/** First bytes of the last page. */
export const MAGIC = "SHEAFCKP";
/** Where the last page says what checksums start from. */
export const SALT_AT = 12;
/** Where the last page says where what touches each item lies; zeros where nobody wrote it. */
export const TOUCHES_AT = 28;
/** The format that this code writes and reads. */
export const FORMAT = 2;
/** A row with this shape is in the checkpoint's heap. */
export const IN_HEAP = 0xffff;
/** The address of an origin that no log holds: what comes before all commits. */
export const NO_ADDRESS = 2 ** 48 - 1;
/** Set in the head of an id page that has other characters than ASCII. */
export const NOT_ASCII = 0x8000;
/** How many bytes of the log one checksum covers. */
export const LOG_PAGE = 4096;
/** An absent number in a column of i32. */
export const I32_ABSENT = -(2 ** 31);

export const widths = {
  slot: 8,
  row: 12,
  idStart: 4,
  dead: 4,
  origin: 18,
  check: 4,
} as const;

/** Column types, with the numbers that stand on disk. */
export const columnTypes = [
  "none",
  "number",
  "boolean",
  "date",
  "word",
] as const;

/** What a column's values were in the items; `none` when it has no column. */
export type ColumnType = typeof columnTypes[number];

export const encodings = { f64: 1, i32: 2, bits: 3, u8: 4, u16: 5 } as const;

/** Records of fixed width, or (id pages) whole pages. */
export interface Records {
  readonly first: number;
  readonly count: number;
}

/** Bytes over consecutive pages. */
export interface Stream {
  readonly first: number;
  readonly bytes: number;
}

export interface ColumnPlace {
  readonly field: string;
  readonly key: string;
  readonly type: ColumnType;
  readonly encoding: number;
  readonly records: Records;
  readonly words: Stream;
  readonly wordCount: number;
}

/** The key of a column that is no field's: the order of an index. */
export const ORDER_KEY = "order";

export interface CollectionPlace {
  readonly name: string;
  readonly size: number;
  readonly count: number;
  readonly slots: Records;
  readonly rows: Records;
  readonly ids: Records;
  readonly idStarts: Records;
  readonly dead: Records;
  readonly heap: Stream;
  readonly columns: readonly ColumnPlace[];
}

export interface Directory {
  readonly covers: number;
  readonly chains: readonly string[];
  readonly shapes: readonly Shape[];
  readonly origins: Records;
  /** Origins that were in use when they were last counted. */
  readonly originsKept: number;
  readonly checks: Records;
  readonly collections: readonly CollectionPlace[];
  readonly meta: Uint8Array;
}

export function perPage(width: number): number {
  return Math.floor(DATA / width);
}

/** How many pages records take. */
function pagesOf(count: number, width: number): number {
  return Math.ceil(count / perPage(width));
}

export function columnWidth(encoding: number): number {
  if (encoding === encodings.f64) return 8;
  if (encoding === encodings.i32) return 4;
  return encoding === encodings.u16 ? 2 : 1;
}

export function columnRecords(encoding: number, size: number): number {
  return encoding === encodings.bits ? Math.ceil(size / 4) : size;
}

/**
 * Where an id's search starts, as a u32. The seed keeps ids that collide from
 * being prepared in advance.
 */
export function hashId(id: string, seed: number): number {
  let hash = seed | 0;
  for (let i = 0; i < id.length; i++) {
    hash = Math.imul(hash ^ id.charCodeAt(i), 0x01000193);
  }
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}

/** Slots for a collection: at most two thirds of them are used. */
export function slotsFor(size: number): number {
  return size === 0 ? 0 : Math.ceil(size * 1.5) + 1;
}

/** The slot at which the search for a hash starts. */
export function slotOf(hash: number, slots: number): number {
  return Math.floor(hash * slots / 2 ** 32);
}

/**
 * Reads a directory; `SyntaxError` when it is none, or when a part would not
 * lie within `pages` pages.
 */
export function decodeDirectory(reader: ByteReader, pages: number): Directory {
  const parser = new DirectoryReader(reader, pages);
  const directory = parser.directory();
  if (!reader.done) throw new SyntaxError("The directory is followed by bytes");
  return directory;
}

class DirectoryReader {
  readonly #reader: ByteReader;
  readonly #pages: number;

  constructor(reader: ByteReader, pages: number) {
    this.#reader = reader;
    this.#pages = pages;
  }

  directory(): Directory {
    const covers = this.#reader.u48();
    const chains = this.#list(Infinity, () => this.#reader.text());
    const shapes = this.#list(IN_HEAP, () => readShape(this.#reader));
    const origins = this.#records(widths.origin);
    const originsKept = this.#reader.varint();
    const checks = this.#records(widths.check);
    if (checks.count !== Math.ceil(covers / LOG_PAGE)) {
      throw new SyntaxError("The checks do not cover the log");
    }
    // What a lost server had comes back also beside as many as there may be.
    const collections = this.#list(Infinity, () => this.#collection());
    const meta = this.#reader.take(this.#reader.varint()).slice();
    return {
      covers,
      chains,
      shapes,
      origins,
      originsKept,
      checks,
      collections,
      meta,
    };
  }

  /** A count and as many parts; each part takes a byte at least, so memory is bounded by the bytes. */
  #list<T>(max: number, read: () => T): T[] {
    const count = this.#reader.varint();
    if (count > max || count > this.#reader.end - this.#reader.at) {
      throw new SyntaxError(`The directory names ${count} parts`);
    }
    const list: T[] = [];
    for (let i = 0; i < count; i++) list.push(read());
    return list;
  }

  #within(first: number, pages: number): void {
    if (first + pages > this.#pages) {
      throw new SyntaxError("A part lies outside the file");
    }
  }

  #records(width: number): Records {
    const first = this.#reader.varint();
    const count = this.#reader.varint();
    this.#within(first, pagesOf(count, width));
    return { first, count };
  }

  #stream(): Stream {
    const first = this.#reader.varint();
    const bytes = this.#reader.varint();
    this.#within(first, Math.ceil(bytes / DATA));
    return { first, bytes };
  }

  #collection(): CollectionPlace {
    const name = this.#reader.text();
    const size = this.#reader.varint();
    const count = this.#reader.varint();
    const slots = this.#records(widths.slot);
    const rows = this.#records(widths.row);
    const ids = this.#records(DATA);
    const idStarts = this.#records(widths.idStart);
    const dead = this.#records(widths.dead);
    const heap = this.#stream();
    const isSound = rows.count === size && count <= size &&
      dead.count === size - count && ids.count === idStarts.count &&
      ids.count <= size && slots.count === slotsFor(size);
    if (!isSound) throw new SyntaxError("The counts contradict each other");
    const columns = this.#list(limits.fieldsMax * 16, () => this.#column(size));
    return {
      name,
      size,
      count,
      slots,
      rows,
      ids,
      idStarts,
      dead,
      heap,
      columns,
    };
  }

  #column(size: number): ColumnPlace {
    const field = this.#reader.text();
    const key = this.#reader.text();
    const type = columnTypes[this.#reader.u8()];
    const encoding = this.#reader.u8();
    if (type === undefined || !(encoding <= encodings.u16)) {
      throw new SyntaxError("Unknown column");
    }
    const records = this.#records(columnWidth(encoding));
    const words = this.#stream();
    const wordCount = this.#reader.varint();
    const expected = type === "none" ? 0 : columnRecords(encoding, size);
    if (records.count !== expected || wordCount > words.bytes) {
      throw new SyntaxError("The counts of a column contradict each other");
    }
    return { field, key, type, encoding, records, words, wordCount };
  }
}
