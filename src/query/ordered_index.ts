/**
 * An ordered index: ordinals sorted by some fields' keys and then by id.
 *
 *     chunks   [ 7 3 9 … ]  [ 1 4 … ]  [ 8 2 6 … ]     ordinals
 *     tables   author: ada ada bob …   rank: 3 7 1 …   own copies, by ordinal
 *
 * An update takes the old place from its own copies and the new one from the
 * item, so it may be told twice or late and is right all the same. Two binary
 * searches find a place; many updates at once are one sweep instead.
 */

import type { Item } from "../schema/patch.ts";
import { Chunks, type Seat, seatOf } from "./chunks.ts";
import type { Fields } from "./condition.ts";
import { type IdTable, KeyTable } from "./key_table.ts";
import { agree, compareBy, orderOf, sortBy } from "./index_build.ts";
import type { Source } from "../schema/source.ts";
import { finish, inSteps } from "../base/steps.ts";
import type { Key } from "./value.ts";

/** So many updates at once, and more than one of so many entries, are a sweep. */
const sweepMin = 16;
const sweepShare = 128;
/** Marks of ordinals: there, and about to be. */
const isHere = 1;
const isComing = 2;

/** Some entries: from the place before or behind one prefix of keys to another. */
export interface KeyRange {
  readonly low: readonly Key[];
  /** Start behind all entries that begin with `low`, rather than before them. */
  readonly lowAfter: boolean;
  readonly high: readonly Key[];
  /** End behind all entries that begin with `high`, rather than before them. */
  readonly highAfter: boolean;
}

export class OrderedIndex extends Chunks {
  readonly fields: readonly string[];
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
  /** Ordinals below this have their place in every table. */
  #known = 0;
  readonly #probe: Float64Array;
  readonly #keys: (Key | null)[];
  /** By ordinal. */
  #marks: Uint8Array = new Uint8Array(0);

  /**
   * Has nothing in it before {@linkcode build} was run.
   *
   * @param ids of the same source; indexes of one collection share them
   */
  constructor(
    fields: readonly string[],
    kinds: Fields,
    source: Source,
    ids: IdTable,
  ) {
    super();
    this.fields = fields;
    this.#source = source;
    // Ids stand at the end anyway: who is asked for them needs no second copy.
    this.#tables = fields.filter((field) => field !== "id").map((field) =>
      new KeyTable(field, kinds.get(field)!)
    );
    this.#keys = this.#tables.map(() => undefined);
    this.#ids = ids;
    this.#sortedBy = [...this.#tables, ids];
    this.#named = this.#sortedBy.slice(0, fields.length);
    this.#probe = new Float64Array(this.#sortedBy.length);
  }

  /**
   * Puts everything in. What changes between two steps must be told by
   * {@linkcode update} afterwards, and nothing before.
   */
  *build(): Generator<void> {
    const { size } = this.#source;
    const order = yield* orderOf(
      this.#source,
      this.fields,
      this.#tables,
      this.#ids,
      size,
    );
    if (order === undefined) {
      this.broken = true;
      return;
    }
    const { sorted, rest } = order;
    yield* this.fillSteps(sorted);
    this.#grow(size);
    yield* inSteps(sorted.length, (from, to) => this.#mark(sorted, from, to));
    for (const ordinal of rest) {
      this.update(ordinal, this.#source.itemAt(ordinal));
      yield;
    }
  }

  /** All entries in order: a copy. */
  order(): Uint32Array {
    return this.marked(this.#marks, this.count);
  }

  #hold(sorted: Uint32Array): void {
    finish(this.fillSteps(sorted));
    this.#mark(sorted, 0, sorted.length);
  }

  #mark(sorted: Uint32Array, from: number, to: number): void {
    for (let i = from; i < to; i++) this.#marks[sorted[i]!] = isHere;
    this.count = sorted.length;
  }

  #grow(size: number): void {
    this.#known = size;
    for (const table of this.#tables) table.reserve(size);
    if (size <= this.#marks.length) return;
    const grown = new Uint8Array(Math.max(size, this.#marks.length * 2));
    grown.set(this.#marks);
    this.#marks = grown;
  }

  update(ordinal: number, item: Item | undefined): void {
    if (ordinal >= this.#known) this.#grow(ordinal + 1);
    const present = this.#marks[ordinal] === isHere;
    if (item === undefined) {
      if (present) this.#remove(ordinal);
      return;
    }
    const same = this.#read(ordinal, item);
    if (this.broken || (present && same)) return;
    if (present) this.#remove(ordinal);
    this.#keep(ordinal);
    this.#insert(ordinal);
  }

  /** {@linkcode update} of many, each with its item: the order of `ordinals`. */
  updateAll(
    ordinals: readonly number[],
    items: readonly (Item | undefined)[],
  ): void {
    const many = ordinals.length;
    if (many < sweepMin || many * sweepShare < this.count) {
      for (let i = 0; i < many && !this.broken; i++) {
        this.update(ordinals[i]!, items[i]);
      }
    } else this.#sweep(ordinals, items);
  }

  /** Who changed is left out of what stands, and comes back in its new place. */
  #sweep(
    ordinals: readonly number[],
    items: readonly (Item | undefined)[],
  ): void {
    const coming: number[] = [];
    let stay = this.count;
    for (let i = 0; i < ordinals.length; i++) {
      const ordinal = ordinals[i]!;
      if (ordinal >= this.#known) this.#grow(ordinal + 1);
      const mark = this.#marks[ordinal];
      const item = items[i];
      // Who was told twice is coming already.
      if (mark === isComing) continue;
      const same = item !== undefined && this.#read(ordinal, item);
      if (this.broken) return;
      if (mark === isHere) {
        if (same) continue;
        stay--;
      }
      this.#marks[ordinal] = 0;
      if (item === undefined) continue;
      this.#keep(ordinal);
      this.#marks[ordinal] = isComing;
      coming.push(ordinal);
    }
    if (stay === this.count && coming.length === 0) return;
    const stood = this.marked(this.#marks, stay);
    const sorted = Uint32Array.from(coming);
    finish(sortBy(sorted, this.#tables, this.#ids));
    this.#hold(this.merge(stood, sorted));
  }

  #keep(ordinal: number): void {
    for (let f = 0; f < this.#tables.length; f++) {
      this.#tables[f]!.set(ordinal, this.#keys[f]!);
    }
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
    if (this.count === 0) return this.#hold(Uint32Array.of(ordinal));
    this.#marks[ordinal] = isHere;
    this.count++;
    this.add(ordinal);
  }

  #remove(ordinal: number): void {
    this.#marks[ordinal] = 0;
    this.count--;
    this.remove(ordinal);
  }

  protected override compare(a: number, b: number): number {
    return a === b ? 0 : compareBy(this.#sortedBy, a, b);
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
    let high = this.chunks.length - 1;
    if (high < 0) return 0;
    while (low < high) {
      const middle = (low + high + 1) >>> 1;
      const first = this.firsts[middle]!;
      if (this.#compareTo(first, keys) <= limit) low = middle;
      else high = middle - 1;
    }
    const chunk = this.chunks[low]!;
    let start = 0;
    let end = chunk.length;
    while (start < end) {
      const middle = (start + end) >>> 1;
      const found = this.#compareTo(chunk.ordinals[middle]!, keys);
      if (found <= limit) start = middle + 1;
      else end = middle;
    }
    return seatOf(low, start);
  }

  countIn(range: KeyRange): number {
    return this.countBetween(
      this.seat(range.low, range.lowAfter),
      this.seat(range.high, range.highAfter),
    );
  }

  collect(range: KeyRange, into: number[]): void {
    const from = this.seat(range.low, range.lowAfter);
    this.walk(from, this.seat(range.high, range.highAfter), (ordinal) => {
      into.push(ordinal);
      return true;
    });
  }

  /**
   * Visits entries downwards by their keys, and within equal keys upwards by
   * id, until `visit` says false; the first `skip` are left out.
   */
  walkDown(
    from: Seat,
    to: Seat,
    visit: (ordinal: number) => boolean,
    skip = 0,
  ): boolean {
    let end = to;
    if (skip > 0) {
      const left = this.countBetween(from, to) - skip;
      if (left <= 0) return true;
      end = this.forward(from, left);
      // Of the run that is cut here, the first ones are left out, not the last.
      const last = this.at(this.before(end));
      const keys = this.#named.map((table) => table.get(last));
      const runEnd = this.seat(keys, true);
      const cut = this.countBetween(end, runEnd);
      if (cut > 0) {
        end = this.seat(keys, false);
        if (!this.walk(this.forward(end, cut), runEnd, visit)) return false;
      }
    }
    while (end > from) {
      const before = this.before(end);
      if (before < from) return true;
      const start = Math.max(from, this.#runStart(before));
      if (!this.walk(start, end, visit)) return false;
      end = start;
    }
    return true;
  }

  /** The first entry with the same keys as the entry at `seat`. */
  #runStart(seat: Seat): Seat {
    const ordinal = this.at(seat);
    const before = this.before(seat);
    // Unique keys are common: one look saves the search.
    if (before < 0 || !agree(this.#named, this.at(before), ordinal)) {
      return seat;
    }
    const keys = this.#named.map((table) => table.get(ordinal));
    return this.seat(keys, false);
  }
}
