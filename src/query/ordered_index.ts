/**
 * An ordered index: ordinals sorted by some fields' keys and then by id.
 *
 *     chunks   [ 7 3 9 … ]  [ 1 4 … ]  [ 8 2 6 … ]     ordinals, at most 512 each
 *     tables   author: ada ada bob …   rank: 3 7 1 …   own copies, by ordinal
 *
 * An update takes the old place from its own copies and the new one from the
 * item, so it may be told twice or late and is right all the same. Two binary
 * searches find a place, one `copyWithin` makes room.
 *
 * @module
 */

import type { Item } from "../schema/patch.ts";
import type { Fields } from "./condition.ts";
import { IdTable } from "./id_table.ts";
import { orderOf } from "./index_build.ts";
import { KeyTable } from "./key_table.ts";
import type { Source } from "./source.ts";
import type { Key } from "./value.ts";

/** Ordinals of one step of building. */
const stepOrdinals = 8_192;
/** Chunks of one. */
const stepChunks = 64;
const chunkMax = 512;
const chunkFill = 384;

interface Chunk {
  length: number;
  readonly ordinals: Uint32Array;
}

/** A place between entries: chunk number times {@linkcode chunkMax} plus offset. */
export type Seat = number;

/** Some entries: from the place before or behind one prefix of keys to another. */
export interface KeyRange {
  readonly low: readonly Key[];
  /** Start behind all entries that begin with `low`, rather than before them. */
  readonly lowAfter: boolean;
  readonly high: readonly Key[];
  /** End behind all entries that begin with `high`, rather than before them. */
  readonly highAfter: boolean;
}

/** Ordinals in the order of some fields. */
export class OrderedIndex {
  readonly fields: readonly string[];
  /** Entries. */
  count = 0;
  /** A value did not fit its field's kind: the index can no longer be trusted. */
  broken = false;
  readonly #tables: readonly KeyTable[];
  readonly #ids: IdTable;
  /** The fields' tables and then the ids': what entries are sorted by. */
  readonly #sortedBy: readonly KeyTable[];
  /** The tables of {@linkcode fields}. */
  readonly #named: readonly KeyTable[];
  readonly #source: Source;
  readonly #isLater: boolean;
  /** Ordinals below this have their place in every table. */
  #known = 0;
  readonly #probe: Float64Array;
  readonly #keys: (Key | null)[];
  #present: Uint8Array = new Uint8Array(0);
  readonly #chunks: Chunk[] = [];
  /** Each chunk's first ordinal: the upper search touches nothing else. */
  readonly #firsts: number[] = [];

  /**
   * @param isLater does somebody else run {@linkcode build}, step by step?
   * @param ids of the same source; indexes of one collection share them
   */
  constructor(
    fields: readonly string[],
    kinds: Fields,
    source: Source,
    isLater = false,
    ids: IdTable = new IdTable(source),
  ) {
    this.fields = fields;
    this.#source = source;
    this.#isLater = isLater;
    // Ids stand at the end anyway: who is asked for them needs no second copy.
    this.#tables = fields.filter((field) => field !== "id").map((field) =>
      new KeyTable(field, kinds.get(field)!)
    );
    this.#keys = this.#tables.map(() => undefined);
    this.#ids = ids;
    this.#sortedBy = [...this.#tables, ids.keys];
    this.#named = this.#sortedBy.slice(0, fields.length);
    this.#probe = new Float64Array(this.#sortedBy.length);
    if (!isLater) { for (const _ of this.build()); }
  }

  /**
   * Puts everything in. What changes between two steps must be told by
   * {@linkcode update} afterwards, and nothing before.
   */
  *build(): Generator<void> {
    const source = this.#source;
    const { size } = source;
    for (const table of this.#sortedBy) {
      table.reserve(size);
      yield;
    }
    while (this.#known < size) {
      this.#grow(Math.min(size, this.#known + stepOrdinals), size);
      yield;
    }
    const parts = {
      source,
      tables: this.#tables,
      ids: this.#ids,
      isLater: this.#isLater,
    };
    const sorted = yield* orderOf(parts, size);
    if (sorted === undefined) {
      this.broken = true;
      return;
    }
    for (let i = 0; i < sorted.length; i += chunkFill) {
      const chunk = chunkOf(sorted.slice(i, i + chunkFill));
      this.#chunks.push(chunk);
      this.#firsts.push(chunk.ordinals[0]!);
      if (this.#firsts.length % stepChunks === 0) yield;
    }
    for (const ordinal of sorted) this.#present[ordinal] = 1;
    this.count = sorted.length;
  }

  #reserve(size: number): void {
    for (const table of this.#sortedBy) table.reserve(size);
    if (size <= this.#present.length) return;
    const grown = new Uint8Array(Math.max(size, this.#present.length * 2));
    grown.set(this.#present);
    this.#present = grown;
  }

  /** Takes an item's new state; `undefined` when it is gone. */
  update(ordinal: number, item: Item | undefined): void {
    if (ordinal >= this.#known) this.#grow(ordinal + 1);
    const present = this.#present[ordinal] === 1;
    if (item === undefined) {
      if (present) this.#remove(ordinal);
      return;
    }
    const same = this.#read(ordinal, item);
    if (this.broken || (present && same)) return;
    if (present) this.#remove(ordinal);
    this.#tables.forEach((table, f) => table.set(ordinal, this.#keys[f]!));
    this.#insert(ordinal);
  }

  #grow(size: number, room = size): void {
    this.#reserve(room);
    this.#ids.grow(size);
    this.#known = size;
  }

  /** Reads an item's keys; true when they are what is kept already. */
  #read(ordinal: number, item: Item): boolean {
    let same = true;
    for (let f = 0; f < this.#tables.length; f++) {
      const table = this.#tables[f]!;
      const key = table.keyOf(item);
      if (key === null) this.broken = true;
      else if (same && !table.has(ordinal, key)) same = false;
      this.#keys[f] = key;
    }
    return same;
  }

  #insert(ordinal: number): void {
    this.#present[ordinal] = 1;
    this.count++;
    if (this.#chunks.length === 0) {
      this.#chunks.push(chunkOf([ordinal]));
      this.#firsts.push(ordinal);
      return;
    }
    let at = this.#chunkFor(ordinal);
    let chunk = this.#chunks[at]!;
    let offset = this.#offsetIn(chunk, ordinal);
    if (chunk.length === chunkMax) {
      const upper = this.#split(at, offset === chunkMax);
      if (offset > chunk.length) {
        offset -= chunk.length;
        chunk = upper;
        at++;
      }
    }
    chunk.ordinals.copyWithin(offset + 1, offset, chunk.length);
    chunk.ordinals[offset] = ordinal;
    chunk.length++;
    if (offset === 0) this.#firsts[at] = ordinal;
  }

  /** Moves the upper half, or nothing when entries come in order, to a new chunk. */
  #split(at: number, atEnd: boolean): Chunk {
    const chunk = this.#chunks[at]!;
    const keep = atEnd ? chunkMax - 1 : chunkMax / 2;
    const upper = chunkOf(chunk.ordinals.subarray(keep, chunkMax));
    chunk.length = keep;
    this.#chunks.splice(at + 1, 0, upper);
    this.#firsts.splice(at + 1, 0, upper.ordinals[0]!);
    return upper;
  }

  #remove(ordinal: number): void {
    this.#present[ordinal] = 0;
    this.count--;
    const at = this.#chunkFor(ordinal);
    const chunk = this.#chunks[at]!;
    const offset = this.#offsetIn(chunk, ordinal);
    chunk.ordinals.copyWithin(offset, offset + 1, chunk.length);
    chunk.length--;
    if (chunk.length === 0) {
      this.#chunks.splice(at, 1);
      this.#firsts.splice(at, 1);
    } else if (offset === 0) this.#firsts[at] = chunk.ordinals[0]!;
  }

  /** The last chunk whose first entry is not behind `ordinal`. */
  #chunkFor(ordinal: number): number {
    let low = 0;
    let high = this.#chunks.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >>> 1;
      const first = this.#firsts[middle]!;
      if (this.#compare(first, ordinal) <= 0) low = middle;
      else high = middle - 1;
    }
    return low;
  }

  #offsetIn(chunk: Chunk, ordinal: number): number {
    let low = 0;
    let high = chunk.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.#compare(chunk.ordinals[middle]!, ordinal) < 0) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  #compare(a: number, b: number): number {
    if (a === b) return 0;
    const tables = this.#sortedBy;
    for (let f = 0; f < tables.length; f++) {
      const found = tables[f]!.compare(a, b);
      if (found !== 0) return found;
    }
    return 0;
  }

  /** Negative, zero or positive as an entry to the keys of the probe. */
  #compareTo(ordinal: number, keys: readonly Key[]): number {
    for (let f = 0; f < keys.length; f++) {
      const found = this.#sortedBy[f]!
        .compareTo(ordinal, keys[f], this.#probe[f]!);
      if (found !== 0) return found;
    }
    return 0;
  }

  /**
   * The place before, or behind, all entries that begin with these keys. An id
   * may follow when all fields have a key.
   */
  seat(prefix: readonly Key[], after: boolean, id?: string): Seat {
    const isWhole = id === undefined || prefix.length === this.#sortedBy.length;
    const keys = isWhole ? prefix : [...prefix, id];
    for (let f = 0; f < keys.length; f++) {
      this.#probe[f] = this.#sortedBy[f]!.numberOf(keys[f]);
    }
    const limit = after ? 0 : -1;
    let low = 0;
    let high = this.#chunks.length - 1;
    if (high < 0) return 0;
    while (low < high) {
      const middle = (low + high + 1) >>> 1;
      const first = this.#firsts[middle]!;
      if (this.#compareTo(first, keys) <= limit) low = middle;
      else high = middle - 1;
    }
    const chunk = this.#chunks[low]!;
    let start = 0;
    let end = chunk.length;
    while (start < end) {
      const middle = (start + end) >>> 1;
      const found = this.#compareTo(chunk.ordinals[middle]!, keys);
      if (found <= limit) start = middle + 1;
      else end = middle;
    }
    return low * (chunkMax * 2) + start;
  }

  /** Entries between two places. */
  countBetween(from: Seat, to: Seat): number {
    if (to <= from) return 0;
    const first = chunkNumber(from);
    const last = chunkNumber(to);
    let count = offsetNumber(to) - offsetNumber(from);
    for (let c = first; c < last; c++) count += this.#chunks[c]!.length;
    return count;
  }

  /** Entries of a range. */
  countIn(range: KeyRange): number {
    return this.countBetween(
      this.seat(range.low, range.lowAfter),
      this.seat(range.high, range.highAfter),
    );
  }

  /** Visits entries upwards until `visit` says false; false when it did. */
  walk(from: Seat, to: Seat, visit: (ordinal: number) => boolean): boolean {
    if (to <= from) return true;
    const last = chunkNumber(to);
    let offset = offsetNumber(from);
    for (let c = chunkNumber(from); c <= last; c++) {
      const chunk = this.#chunks[c]!;
      const end = c === last ? offsetNumber(to) : chunk.length;
      for (; offset < end; offset++) {
        if (!visit(chunk.ordinals[offset]!)) return false;
      }
      offset = 0;
    }
    return true;
  }

  /** Appends the ordinals of a range. */
  collect(range: KeyRange, into: number[]): void {
    const from = this.seat(range.low, range.lowAfter);
    this.walk(from, this.seat(range.high, range.highAfter), (ordinal) => {
      into.push(ordinal);
      return true;
    });
  }

  /**
   * Visits entries downwards by their keys, and within equal keys upwards by
   * id, until `visit` says false.
   */
  walkDown(from: Seat, to: Seat, visit: (ordinal: number) => boolean): boolean {
    let end = to;
    while (end > from) {
      const before = this.#before(end);
      if (before < from) return true;
      const start = Math.max(from, this.#runStart(before));
      if (!this.walk(start, end, visit)) return false;
      end = start;
    }
    return true;
  }

  /** The place of the entry just before a place; -1 when there is none. */
  #before(seat: Seat): Seat {
    const offset = offsetNumber(seat);
    if (offset > 0) return seat - 1;
    const c = chunkNumber(seat) - 1;
    return c < 0 ? -1 : c * (chunkMax * 2) + this.#chunks[c]!.length - 1;
  }

  /** The first entry with the same keys as the entry at `seat`. */
  #runStart(seat: Seat): Seat {
    const ordinal = this.#at(seat);
    const before = this.#before(seat);
    // Unique keys are common: one look saves the search.
    if (before < 0 || !this.#sameKeys(this.#at(before), ordinal)) return seat;
    const keys = this.#named.map((table) => table.get(ordinal));
    return this.seat(keys, false);
  }

  #at(seat: Seat): number {
    return this.#chunks[chunkNumber(seat)]!.ordinals[offsetNumber(seat)]!;
  }

  #sameKeys(a: number, b: number): boolean {
    return this.#named.every((table) => table.compare(a, b) === 0);
  }
}

/** A place may stand at a chunk's end, so chunks are numbered apart widely. */
function chunkNumber(seat: Seat): number {
  return Math.floor(seat / (chunkMax * 2));
}

function offsetNumber(seat: Seat): number {
  return seat % (chunkMax * 2);
}

function chunkOf(ordinals: ArrayLike<number>): Chunk {
  const chunk = new Uint32Array(chunkMax);
  chunk.set(ordinals);
  return { length: ordinals.length, ordinals: chunk };
}
