/**
 * The state of chosen commits, from the log, backwards: an operation that nothing
 * later stands for is kept, and decoded when its item is folded; all others are
 * gone over.
 *
 * An update counts no more where each field that it sets was set again later;
 * anything, where a later generation began. All else is left to `merge.ts`, which
 * may be given more than it needs.
 *
 * Architecture invariant: same commits, same past (law 4); what comes out is
 * what folding every operation gives (`scannedStateOf` in `time_travel.ts`).
 */

import { ByteReader } from "../../src/base/bytes.ts";
import { getOrMake } from "../../src/base/collections.ts";
import { compareStamps } from "../../src/base/hlc.ts";
import type { Cell, Origin } from "../../src/schema/cell.ts";
import { ItemFold } from "../../src/schema/item_fold.ts";
import type { Shape } from "../../src/schema/patch.ts";
import { skipPadding } from "../../src/schema/patch_codec.ts";
import { readOperationOn } from "../../src/schema/patch_parts.ts";
import { limits } from "../../src/base/limits.ts";
import { isStub } from "../../src/schema/stub.ts";
import { skimOperation } from "../../src/schema/skim.ts";
import type { View } from "../../src/schema/view.ts";
import { type BatchHead, batchHead } from "../commit/batch.ts";
import { chainBytesLength } from "../commit/commit.ts";
import { State, type ViewOf } from "../state/state.ts";
import { isBatch, RECORD_HEADER_BYTES } from "../log/format.ts";
import type { Includes, LoggedCommits } from "./logged_commits.ts";
import { isSame, PayloadHead } from "./payload_head.ts";

/** The state of the chosen commits, of those that the log held when it ended at `to`. */
export function pastState(
  reader: LoggedCommits,
  viewOf: ViewOf,
  includes: Includes,
  to?: number,
): State {
  const stretches = new Stretches(reader, includes, to);
  const writes = new LastWrites(stretches.isInOrder);
  stretches.eachBackwards(writes);
  return writes.state(viewOf);
}

/** So much of the log is read forwards at once, to be gone over backwards. */
const STRETCH_BYTES = 256 * 1024;

/** A batch where it stands in the log: the bytes are the log's own buffer. */
interface Logged {
  readonly bytes: Uint8Array;
  readonly head: BatchHead;
  readonly address: number;
}

/** The log in pieces, as it was when it ended at `to`. */
class Stretches {
  /** Does each of the chosen commits have a later stamp than those before it? */
  isInOrder = true;
  readonly #reader: LoggedCommits;
  readonly #includes: Includes;
  readonly #to: number;
  readonly #asOf: number | undefined;
  /** Where each begins. */
  readonly #starts: number[] = [];
  /** Where each batch is that repeats commits, and how many. */
  readonly #repeats = new Map<number, number>();
  readonly #places = new CommitPlaces();

  constructor(reader: LoggedCommits, includes: Includes, to?: number) {
    this.#reader = reader;
    this.#includes = includes;
    this.#asOf = to;
    this.#to = this.#survey();
  }

  /** Goes over it once; says where the last of the chosen commits ends. */
  #survey(): number {
    let left = this.#includes.count ?? Infinity;
    let [start, end] = [-Infinity, 0];
    let [last, wall, count] = ["", -1, 0];
    const lengths = new Map<string, number>();
    const { walls, counts } = this.#places;
    this.#each(0, this.#asOf, ({ bytes, head, address }) => {
      const { chain, first } = head;
      end = address + bytes.length;
      if (address - start >= STRETCH_BYTES) {
        start = address;
        this.#starts.push(address - RECORD_HEADER_BYTES);
      }
      const known = lengths.get(chain) ?? 0;
      if (known > first) this.#repeats.set(address, known - first);
      lengths.set(chain, Math.max(known, first + head.count));
      this.#places.read(bytes, head);
      for (let i = Math.max(0, known - first); i < head.count; i++) {
        if (!this.#includes(chain, first + i, walls[i]!)) continue;
        left--;
        const later = walls[i]! - wall || counts[i]! - count;
        if (later < 0 || later === 0 && chain < last) this.isInOrder = false;
        wall = walls[i]!;
        count = counts[i]!;
        last = chain;
      }
      return left === 0;
    });
    return end;
  }

  #each(
    from: number,
    to: number = this.#reader.log.end,
    visit: (logged: Logged) => boolean | void,
  ): void {
    const reader = this.#reader;
    reader.log.records(from, to, (kind, bytes, address) => {
      if (!isBatch(kind)) return;
      const head = batchHead(bytes);
      const { chain, first } = head;
      if (reader.isCut(chain, first, address, this.#asOf)) return;
      return visit({ bytes, head, address });
    });
  }

  /** Hands on the chosen commits, the last one first. */
  eachBackwards(writes: LastWrites): void {
    let to = this.#to;
    for (const start of this.#starts.reverse()) {
      const all: Logged[] = [];
      this.#each(start, to, ({ bytes, head, address }) => {
        all.push({ bytes: bytes.slice(), head, address });
      });
      to = start;
      for (const logged of all.reverse()) this.#batchBackwards(logged, writes);
    }
  }

  #batchBackwards({ bytes, head, address }: Logged, writes: LastWrites): void {
    const { chain, first, count } = head;
    const from = this.#repeats.get(address) ?? 0;
    const input = new ByteReader(bytes);
    const { walls, counts, starts, ends } = this.#places;
    this.#places.read(bytes, head);
    for (let i = count - 1; i >= from; i--) {
      const number = first + i;
      const [start, end] = [starts[i]!, ends[i]!];
      if (
        !this.#includes(chain, number, walls[i]!) ||
        isStub(bytes, start, end) ||
        this.#reader.isVoid(chain, number, address, this.#asOf)
      ) continue;
      input.at = start;
      writes.add(input, end, chain, walls[i]!, counts[i]!);
    }
  }
}

/** When the commits of a batch were written, and where their payloads start and end: no object is made of each. */
class CommitPlaces {
  readonly walls = new Float64Array(limits.batchCommitsMax);
  readonly counts = new Uint16Array(limits.batchCommitsMax);
  readonly starts = new Uint32Array(limits.batchCommitsMax);
  readonly ends = new Uint32Array(limits.batchCommitsMax);

  /** Only of a batch that was admitted. */
  read(bytes: Uint8Array, { start, count }: BatchHead): void {
    const r = new ByteReader(bytes, start);
    const { walls, counts, starts, ends } = this;
    for (let i = 0; i < count; i++) {
      walls[i] = r.u48();
      counts[i] = r.u16();
      for (let parents = r.u8(); parents > 0; parents--) {
        r.skip(chainBytesLength);
        r.varint();
      }
      const length = r.varint();
      starts[i] = r.at;
      r.skip(length);
      ends[i] = r.at;
    }
  }
}

/** So many fields of a collection are looked at; all that is written to others counts. */
const WIDTH_MAX = 16;

/** What is known of an item, in a row of whole numbers: the hash of its id, its collection; */
const COLLECTION = 1;
/** where the bytes of its id start, and end; */
const ID = 2;
const ID_END = 3;
/** the latest generation; */
const GENERATION = 4;
/** when its earliest operation was met; */
const MET = 5;
/** its earliest operation that is kept, and 1; */
const KEPT = 6;
/** and of each field, what set it last: an operation that is kept, and 1. */
const FIELDS = 7;

/** Items, numbered in the order in which they are met, by the bytes of their ids. */
class ItemRows {
  count = 0;
  /** How long each row is. */
  width = FIELDS + 4;
  all = new Uint32Array(1024 * this.width);
  #ids = new ByteReader(new Uint8Array(16 * 1024));
  #end = 0;
  /** Open addressing: an item's number and 1. */
  #table = new Int32Array(4096);

  /** Where the row starts of the item of a collection whose id stands there. */
  of(collection: number, r: ByteReader, from: number, to: number): number {
    const hash = hashOf(collection, r, from, to);
    const { all, width } = this;
    const table = this.#table;
    const mask = table.length - 1;
    let at = hash & mask;
    for (; table[at]! > 0; at = (at + 1) & mask) {
      const row = (table[at]! - 1) * width;
      const isIt = all[row] === hash && all[row + COLLECTION] === collection &&
        all[row + ID_END]! - all[row + ID]! === to - from &&
        isSame(this.#ids.view, all[row + ID]!, r.view, from, to);
      if (isIt) return row;
    }
    table[at] = this.count + 1;
    if (this.count * 2 > table.length) this.#grow();
    return this.#add(hash, collection, r.bytes.subarray(from, to));
  }

  #add(hash: number, collection: number, id: Uint8Array): number {
    const row = this.count++ * this.width;
    if (row === this.all.length) this.widen(this.width, 2 * row);
    const start = this.#end;
    this.#end += id.length;
    if (this.#end > this.#ids.end) {
      this.#ids = new ByteReader(grown(this.#ids.bytes, this.#end));
    }
    this.#ids.bytes.set(id, start);
    this.all.set([hash, collection, start, this.#end], row);
    return row;
  }

  idAt(row: number): string {
    this.#ids.at = this.all[row + ID]!;
    return this.#ids.text();
  }

  #grow(): void {
    const table = new Int32Array(this.#table.length * 4);
    const mask = table.length - 1;
    for (const entry of this.#table) {
      if (entry === 0) continue;
      let at = this.all[(entry - 1) * this.width]! & mask;
      while (table[at]! > 0) at = (at + 1) & mask;
      table[at] = entry;
    }
    this.#table = table;
  }

  widen(width: number, length: number): void {
    const { all, width: before } = this;
    this.all = new Uint32Array(length);
    for (let from = 0, to = 0; from < all.length; from += before, to += width) {
      this.all.set(all.subarray(from, from + before), to);
    }
    this.width = width;
  }
}

/** Of the bytes of an id, as 32 bits. */
function hashOf(
  collection: number,
  { bytes, view }: ByteReader,
  from: number,
  to: number,
): number {
  let hash = collection;
  const mix = (word: number) => {
    hash = Math.imul(hash ^ word, 0x85ebca6b);
    hash ^= hash >>> 15;
  };
  let at = from;
  for (; at + 4 <= to; at += 4) mix(view.getUint32(at));
  for (; at < to; at++) mix(bytes[at]!);
  return hash >>> 0;
}

/** Bytes with room for so many, or twice as many. */
function grown(bytes: Uint8Array, room: number): Uint8Array {
  if (room <= bytes.length) return bytes;
  const more = new Uint8Array(2 * room);
  more.set(bytes);
  return more;
}

interface WrittenShape {
  /** The number of its collection. */
  readonly collection: number;
  /** By field of the shape, a number for its name and kind; -1 where it has none. */
  readonly fields: readonly number[];
}

interface Head {
  readonly shapes: readonly Shape[];
  readonly written: readonly WrittenShape[];
}

/** The operations that count, while the log is gone over backwards. */
class LastWrites {
  readonly #isInOrder: boolean;
  readonly #collections: string[] = [];
  /** By collection: numbers of fields, by kind and name. */
  readonly #fields: Map<string, number>[] = [];
  readonly #heads = new PayloadHead<Head>((shapes) => ({
    shapes,
    written: shapes.map((shape) => this.#written(shape)),
  }));
  readonly #items = new ItemRows();
  /** Of what is kept: its bytes, where those of each start, its shapes and its origin. */
  #bytes: Uint8Array = new Uint8Array(64 * 1024);
  #end = 0;
  readonly #starts: number[] = [];
  readonly #shapes: (readonly Shape[])[] = [];
  readonly #origins: Origin[] = [];
  /** The row of its item, while its commit is read; then the next one of that item, and 1. */
  readonly #nexts: number[] = [];
  /** Operations that were met. */
  #met = 0;
  /** Of the commit that is read: what it is, its origin, once somebody asks, and its first operation that is kept. */
  #chain = "";
  #wall = 0;
  #count = 0;
  #origin: Origin | undefined;
  #first = 0;
  /** Of the operation that is read: its row and shape, and whether it counts. */
  #row = 0;
  #fieldsOf: readonly number[] = [];
  #isCounting = false;

  /** @param isInOrder has every commit a later stamp than those before it? */
  constructor(isInOrder: boolean) {
    this.#isInOrder = isInOrder;
  }

  #written(shape: Shape): WrittenShape {
    let collection = this.#collections.indexOf(shape.collection);
    if (collection < 0) {
      collection = this.#collections.push(shape.collection) - 1;
      this.#fields.push(new Map());
    }
    const known = this.#fields[collection]!;
    const fields = shape.fields.map(({ name, kind }) => {
      const field = `${kind} ${name}`;
      const isOver = known.size >= WIDTH_MAX && !known.has(field);
      return isOver ? -1 : getOrMake(known, field, () => known.size);
    });
    const items = this.#items;
    const width = FIELDS + known.size;
    if (width > items.width) {
      items.widen(width, items.all.length / items.width * width);
    }
    return { collection, fields };
  }

  /** Takes what counts of the commit before, whose payload stands at the reader. */
  add(
    r: ByteReader,
    end: number,
    chain: string,
    wall: number,
    count: number,
  ): void {
    this.#chain = chain;
    this.#wall = wall;
    this.#count = count;
    this.#origin = undefined;
    this.#first = this.#starts.length;
    const heads = this.#heads.read(r);
    let left = r.varint();
    // The first operation is met last.
    const met = this.#met;
    this.#met += left;
    for (; left > 0; left--) {
      this.#addOperation(r, heads, met + left, left === 1 ? end : -1);
    }
    this.#link();
  }

  #addOperation(
    r: ByteReader,
    { shapes, written }: Head,
    met: number,
    end: number,
  ): void {
    skipPadding(r);
    const start = r.at;
    const head = r.varint();
    const number = Math.floor(head / 4);
    const { collection, fields } = written[number]!;
    const generation = r.varint();
    const from = r.at;
    r.skipText();
    const items = this.#items;
    const row = items.of(collection, r, from, r.at);
    const { all, width } = items;
    all[row + MET] = met;
    const isOver = generation < all[row + GENERATION]!;
    if (generation > all[row + GENERATION]!) {
      all[row + GENERATION] = generation;
      all.fill(0, row + FIELDS, row + width);
    }
    this.#row = row;
    this.#fieldsOf = fields;
    this.#isCounting = false;
    const onWrite = isOver ? this.#pass : this.#write;
    skimOperation(r, head % 4, shapes[number]!, end >= 0, onWrite);
    if (!this.#isCounting) return;
    this.#keep(r.bytes.subarray(start, end < 0 ? r.at : end), shapes);
  }

  readonly #pass = () => {};

  readonly #write = (field: number) => {
    const number = field < 0 ? -1 : this.#fieldsOf[field]!;
    if (number >= 0) {
      const { all } = this.#items;
      const at = this.#row + FIELDS + number;
      if (this.#isSetLater(all[at]! - 1)) return;
      all[at] = this.#starts.length + 1;
    }
    this.#isCounting = true;
  };

  /** Was what an operation has set not set before by this commit? */
  #isSetLater(operation: number): boolean {
    if (operation < 0 || operation >= this.#first) return false;
    return this.#isInOrder ||
      compareStamps(this.#origins[operation]!, this.#originNow) >= 0;
  }

  get #originNow(): Origin {
    // Nobody asks where it stands: no checkpoint is made of it.
    return this.#origin ??= {
      wall: this.#wall,
      count: this.#count,
      chain: this.#chain,
      operationsAt: -1,
    };
  }

  #keep(bytes: Uint8Array, shapes: readonly Shape[]): void {
    const start = this.#end;
    this.#end += bytes.length;
    this.#bytes = grown(this.#bytes, this.#end);
    this.#bytes.set(bytes, start);
    this.#starts.push(start);
    this.#shapes.push(shapes);
    this.#origins.push(this.#originNow);
    this.#nexts.push(this.#row);
  }

  /** Puts what is kept of a commit before what is kept of later ones. */
  #link(): void {
    const { all } = this.#items;
    const nexts = this.#nexts;
    for (let i = nexts.length - 1; i >= this.#first; i--) {
      const at = nexts[i]! + KEPT;
      nexts[i] = all[at]!;
      all[at] = i + 1;
    }
  }

  /** All of it, folded item by item, in the order in which they came. */
  state(viewOf: ViewOf): State {
    const state = new State(viewOf);
    const { all, count, width } = this.#items;
    const r = new ByteReader(this.#bytes, 0, this.#end);
    const byMet = new Int32Array(this.#met + 1);
    for (let item = 0; item < count; item++) {
      byMet[all[item * width + MET]!] = item + 1;
    }
    for (let met = this.#met; met > 0; met--) {
      if (byMet[met] === 0) continue;
      const row = (byMet[met]! - 1) * width;
      const name = this.#collections[all[row + COLLECTION]!]!;
      const cell = this.#fold(r, row, state.viewOf(name));
      if (cell !== undefined) state.put(name, cell, -1);
    }
    return state;
  }

  #fold(r: ByteReader, row: number, view: View): Cell | undefined {
    const fold = new ItemFold(view);
    const id = this.#items.idAt(row);
    for (let next = this.#items.all[row + KEPT]!; next > 0;) {
      const kept = next - 1;
      r.at = this.#starts[kept]!;
      const operation = readOperationOn(id, r, this.#shapes[kept]!);
      fold.add(operation, this.#origins[kept]!);
      next = this.#nexts[kept]!;
    }
    return fold.cell;
  }
}
