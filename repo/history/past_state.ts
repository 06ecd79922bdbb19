/**
 * The state of chosen commits, from the log, in two passes: the first finds
 * which operations still count, by what each writes to and not by what it
 * writes; the second decodes those alone, and folds them item by item.
 *
 * An update counts no more where each field that it sets was set again later;
 * anything, where a later generation began. All else is left to `merge.ts`.
 *
 * Architecture invariant: same commits, same past (law 4); what comes out is
 * what folding every operation gives (`scannedStateOf` in `time_travel.ts`).
 *
 * @module
 */

import { ByteReader } from "../../src/base/bytes.ts";
import { getOrMake, lowerBound } from "../../src/base/collections.ts";
import type { Origin } from "../../src/schema/cell.ts";
import { ItemFold } from "../../src/schema/item_fold.ts";
import type { Shape } from "../../src/schema/patch.ts";
import { readOperation } from "../../src/schema/patch_codec.ts";
import { skimOperation } from "../../src/schema/skim.ts";
import type { Batch } from "../commit/batch.ts";
import { State, type ViewOf } from "../state/state.ts";
import type { CommitReader } from "./commit_reader.ts";
import { PayloadHead } from "./payload_head.ts";
import type { Includes } from "./time_travel.ts";

/** The state of the chosen commits, of those that the log held when it ended at `to`. */
export function pastState(
  reader: CommitReader,
  viewOf: ViewOf,
  includes: Includes,
  to?: number,
): State {
  const writes = new LastWrites();
  eachOf(reader, includes, to, (...commit) => writes.add(...commit));
  const kept = new Kept(writes);
  eachOf(reader, includes, to, (...commit) => kept.add(...commit));
  return kept.state(viewOf);
}

/** Visits the chosen commits, with a reader of their batch's bytes. */
function eachOf(
  reader: CommitReader,
  includes: Includes,
  to: number | undefined,
  visit: (bytes: ByteReader, batch: Batch, index: number) => void,
): void {
  let left = includes.count ?? Infinity;
  reader.each(
    ({ batch, from }) => {
      const { bytes, chain, first, commits } = batch;
      const input = new ByteReader(bytes);
      for (let i = from; i < commits.length; i++) {
        if (!includes(chain, first + i, commits[i]!.wall)) continue;
        visit(input, batch, i);
        left--;
      }
      return left === 0;
    },
    0,
    to,
    to,
  );
}

/** Numbers in a column that grows. */
class Numbers<T extends Float64Array | Uint32Array | Int32Array | Uint16Array> {
  all: T;
  length = 0;

  constructor(readonly make: (length: number) => T) {
    this.all = make(1024);
  }

  push(value: number): void {
    if (this.length === this.all.length) {
      const grown = this.make(this.length * 2);
      grown.set(this.all);
      this.all = grown;
    }
    this.all[this.length++] = value;
  }
}

/** So many fields of a collection are looked at; all that is written to others counts. */
const WIDTH_MAX = 16;

const wholes = () => new Numbers((length) => new Int32Array(length));

/** Numbers items in the order in which they are met, by the bytes of their ids. */
class ItemNumbers {
  /** By item: its collection. */
  readonly collections = wholes();
  readonly #hashes = wholes();
  /** Where the bytes of its id start, which end where those of the next one do. */
  readonly #starts = new Numbers((length) => new Float64Array(length));
  #ids = new Uint8Array(16 * 1024);
  #end = 0;
  /** Open addressing: an item's number and 1. */
  #table = new Int32Array(4096);

  /** How many there are. */
  get count(): number {
    return this.collections.length;
  }

  /** The item of a collection whose id stands there. */
  of(collection: number, bytes: Uint8Array, from: number, to: number): number {
    let hash = collection;
    for (let i = from; i < to; i++) {
      hash = Math.imul(hash ^ bytes[i]!, 0x01000193);
    }
    hash = Math.imul(hash ^ (hash >>> 15), 0x85ebca6b);
    hash ^= hash >>> 13;
    const hashes = this.#hashes.all;
    const table = this.#table;
    const mask = table.length - 1;
    let at = hash & mask;
    for (; table[at]! > 0; at = (at + 1) & mask) {
      const item = table[at]! - 1;
      const isIt = hashes[item] === hash &&
        this.#isAt(item, collection, bytes, from, to);
      if (isIt) return item;
    }
    this.#add(collection, hash, bytes.subarray(from, to));
    table[at] = this.count;
    if (this.count * 2 > table.length) this.#grow();
    return this.count - 1;
  }

  #isAt(
    item: number,
    collection: number,
    bytes: Uint8Array,
    from: number,
    to: number,
  ): boolean {
    const ids = this.#ids;
    const start = this.#starts.all[item]!;
    const end = item + 1 < this.count ? this.#starts.all[item + 1] : this.#end;
    if (this.collections.all[item] !== collection) return false;
    if (end !== start + to - from) return false;
    let i = from;
    while (i < to && ids[start + i - from] === bytes[i]) i++;
    return i === to;
  }

  #add(collection: number, hash: number, id: Uint8Array): void {
    const end = this.#end + id.length;
    if (end > this.#ids.length) {
      const grown = new Uint8Array(2 * end);
      grown.set(this.#ids);
      this.#ids = grown;
    }
    this.#ids.set(id, this.#end);
    this.#starts.push(this.#end);
    this.#end = end;
    this.collections.push(collection);
    this.#hashes.push(hash);
  }

  #grow(): void {
    const table = new Int32Array(this.#table.length * 4);
    const mask = table.length - 1;
    for (let item = 0; item < this.count; item++) {
      let at = this.#hashes.all[item]! & mask;
      while (table[at]! > 0) at = (at + 1) & mask;
      table[at] = item + 1;
    }
    this.#table = table;
  }
}

/** A shape of the payload that is read. */
interface WrittenShape {
  readonly shape: Shape;
  /** The number of its collection. */
  readonly collection: number;
  /** By field of the shape, a number for its name and kind; -1 where it has none. */
  readonly fields: readonly number[];
}

/** Which operation wrote to each field last, and which of them so still count. */
class LastWrites {
  readonly collections: string[] = [];
  /** By collection: numbers of fields, by kind and name. */
  readonly #fields: Map<string, number>[] = [];
  readonly #head = new PayloadHead((shape) => this.#written(shape));
  readonly known = new ItemNumbers();
  /** By item: what is written now, and a row of what set its fields last: operations, and 1. */
  readonly #generations = new Numbers((length) => new Uint32Array(length));
  #sets = new Int32Array(0);
  #width = 4;
  /** By item: a list of what else was written; the operation before each. */
  readonly #others = wholes();
  readonly #before = wholes();
  /** By operation: its item, and how many of its writes count. */
  readonly items = wholes();
  readonly #counts = new Numbers((length) => new Uint16Array(length));
  /** By commit: its first operation, and its stamp. */
  readonly #firsts = wholes();
  readonly #walls = new Numbers((length) => new Float64Array(length));
  readonly #ticks = new Numbers((length) => new Uint16Array(length));
  readonly #chains: string[] = [];
  #latest = -1;
  /** Is the commit that is read later than all before it? */
  #isInOrder = true;
  #item = 0;
  #shape: WrittenShape | undefined;

  #written(shape: Shape): WrittenShape {
    let collection = this.collections.indexOf(shape.collection);
    if (collection < 0) {
      collection = this.collections.push(shape.collection) - 1;
      this.#fields.push(new Map());
    }
    const known = this.#fields[collection]!;
    const fields = shape.fields.map(({ name, kind }) => {
      const field = `${kind} ${name}`;
      const isOver = known.size >= WIDTH_MAX && !known.has(field);
      return isOver ? -1 : getOrMake(known, field, () => known.size);
    });
    while (known.size > this.#width) {
      this.#widen(2 * this.#width, 2 * this.#sets.length);
    }
    return { shape, collection, fields };
  }

  /** Takes note of a commit. */
  add(r: ByteReader, { chain, commits }: Batch, index: number): void {
    const { wall, count, payloadAt } = commits[index]!;
    const commit = this.#chains.push(chain) - 1;
    this.#walls.push(wall);
    this.#ticks.push(count);
    this.#firsts.push(this.items.length);
    this.#isInOrder = this.#latest < 0 || this.#isLater(commit, this.#latest);
    if (this.#isInOrder) this.#latest = commit;
    if (commits[index]!.isVoid) return;
    r.at = payloadAt;
    const shapes = this.#head.read(r);
    for (let left = r.varint(); left > 0; left--) {
      this.#addOperation(r, shapes, left === 1);
    }
  }

  /** Is the stamp of a commit that of another, or a later one? */
  #isLater(commit: number, other: number): boolean {
    const walls = this.#walls.all;
    const ticks = this.#ticks.all;
    const later = walls[commit]! - walls[other]! ||
      ticks[commit]! - ticks[other]!;
    return later > 0 ||
      (later === 0 && this.#chains[commit]! >= this.#chains[other]!);
  }

  #addOperation(
    r: ByteReader,
    shapes: readonly WrittenShape[],
    isLast: boolean,
  ): void {
    const head = r.varint();
    const written = shapes[Math.floor(head / 4)]!;
    const generation = r.varint();
    const from = r.at;
    r.skipText();
    const item = this.known.of(written.collection, r.bytes, from, r.at);
    if (item === this.#generations.length) {
      this.#generations.push(generation);
      this.#others.push(-1);
      const room = (item + 1) * this.#width;
      if (room > this.#sets.length) this.#widen(this.#width, 2 * room);
    }
    this.items.push(item);
    this.#before.push(-1);
    this.#counts.push(0);
    const present = this.#generations.all[item]!;
    if (generation > present) {
      this.#generations.all[item] = generation;
      this.#forget(item);
    }
    this.#item = item;
    this.#shape = written;
    const onWrite = generation < present ? this.#pass : this.#write;
    skimOperation(r, head % 4, written.shape, isLast, onWrite);
  }

  /** Makes room: for longer rows, or more of them. */
  #widen(width: number, length: number): void {
    const wide = new Int32Array(length);
    const [old, before] = [this.#sets, this.#width];
    if (width === before) wide.set(old);
    else {for (let i = 0; i < old.length; i++) {
        wide[Math.floor(i / before) * width + i % before] = old[i]!;
      }}
    this.#sets = wide;
    this.#width = width;
  }

  readonly #pass = () => {};

  readonly #write = (field: number) => {
    const operation = this.items.length - 1;
    const number = field < 0 ? -1 : this.#shape!.fields[field]!;
    const counts = this.#counts.all;
    if (number < 0) {
      const others = this.#others.all;
      counts[operation]!++;
      if (others[this.#item] === operation) return;
      this.#before.all[operation] = others[this.#item]!;
      others[this.#item] = operation;
      return;
    }
    const at = this.#item * this.#width + number;
    const before = this.#sets[at]! - 1;
    if (before >= 0) {
      if (!this.#isInOrder && !this.#isLaterThan(before)) return;
      counts[before]!--;
    }
    this.#sets[at] = operation + 1;
    counts[operation]!++;
  };

  /** Is the commit that is read not before that of an operation? */
  #isLaterThan(operation: number): boolean {
    const { all, length } = this.#firsts;
    const commit = lowerBound(length, (i) => all[i]! > operation) - 1;
    return this.#isLater(length - 1, commit);
  }

  /** What was written to an item before is over. */
  #forget(item: number): void {
    const counts = this.#counts.all;
    const start = item * this.#width;
    for (let at = start; at < start + this.#width; at++) {
      if (this.#sets[at]! > 0) counts[this.#sets[at]! - 1] = 0;
      this.#sets[at] = 0;
    }
    const before = this.#before.all;
    for (let at = this.#others.all[item]!; at >= 0; at = before[at]!) {
      counts[at] = 0;
    }
    this.#others.all[item] = -1;
  }

  /** The first operation of a commit. */
  firstOf(commit: number): number {
    const { all, length } = this.#firsts;
    return commit < length ? all[commit]! : this.items.length;
  }

  /** The origin of a commit's operations. */
  originOf(commit: number): Origin {
    const wall = this.#walls.all[commit]!;
    const count = this.#ticks.all[commit]!;
    // Nobody asks where it stands: no checkpoint is made of it.
    return { wall, count, chain: this.#chains[commit]!, operationsAt: -1 };
  }

  /** Does an operation still count? */
  counts(operation: number): boolean {
    return this.#counts.all[operation]! > 0;
  }
}

/** The bytes of what counts: it is decoded when its item is folded, and gone again. */
class Kept {
  readonly #writes: LastWrites;
  readonly #head = new PayloadHead((shape) => shape);
  #bytes = new Uint8Array(64 * 1024);
  #end = 0;
  /** By operation that is kept: where it starts, its item and its commit, and the shapes there. */
  readonly #starts = new Numbers((length) => new Float64Array(length));
  readonly #items = wholes();
  readonly #commits = wholes();
  readonly #shapes: (readonly Shape[])[] = [];
  #commit = 0;

  constructor(writes: LastWrites) {
    this.#writes = writes;
  }

  /** Takes what counts of the next commit. */
  add(r: ByteReader, { commits }: Batch, index: number): void {
    const writes = this.#writes;
    const commit = this.#commit++;
    const end = writes.firstOf(commit + 1);
    let last = end - 1;
    let next = writes.firstOf(commit);
    while (last >= next && !writes.counts(last)) last--;
    if (last < next) return;
    r.at = commits[index]!.payloadAt;
    const shapes = this.#head.read(r);
    r.varint();
    for (; next <= last; next++) {
      const start = r.at;
      if (next === end - 1) r.at = commits[index]!.end;
      else pass(r, shapes);
      if (!writes.counts(next)) continue;
      this.#starts.push(this.#end);
      this.#items.push(writes.items.all[next]!);
      this.#commits.push(commit);
      this.#shapes.push(shapes);
      this.#copy(r.bytes.subarray(start, r.at));
    }
  }

  #copy(bytes: Uint8Array): void {
    const end = this.#end + bytes.length;
    if (end > this.#bytes.length) {
      const grown = new Uint8Array(2 * end);
      grown.set(this.#bytes);
      this.#bytes = grown;
    }
    this.#bytes.set(bytes, this.#end);
    this.#end = end;
  }

  /** All of it, folded item by item. */
  state(viewOf: ViewOf): State {
    const state = new State(viewOf);
    const { known, collections } = this.#writes;
    const { starts, order } = this.#byItem(known.count);
    const r = new ByteReader(this.#bytes, 0, this.#end);
    for (let item = 0; item < known.count; item++) {
      const name = collections[known.collections.all[item]!]!;
      const fold = new ItemFold(state.viewOf(name));
      for (let i = starts[item]!; i < starts[item + 1]!; i++) {
        const kept = order[i]!;
        r.at = this.#starts.all[kept]!;
        const operation = readOperation(r, this.#shapes[kept]!);
        fold.add(operation, this.#writes.originOf(this.#commits.all[kept]!));
      }
      const { cell } = fold;
      if (cell !== undefined) state.put(name, cell, -1);
    }
    return state;
  }

  /** What is kept of each item, in the log's order: it starts at its number in `starts`. */
  #byItem(count: number): { starts: Int32Array; order: Int32Array } {
    const { all, length } = this.#items;
    const starts = new Int32Array(count + 1);
    const order = new Int32Array(length);
    for (let i = 0; i < length; i++) starts[all[i]!]!++;
    for (let item = 1; item <= count; item++) {
      starts[item]! += starts[item - 1]!;
    }
    for (let i = length - 1; i >= 0; i--) order[--starts[all[i]!]!] = i;
    return { starts, order };
  }
}

/** Goes over an operation. */
function pass(r: ByteReader, shapes: readonly Shape[]): void {
  const head = r.varint();
  r.varint();
  r.skipText();
  skimOperation(r, head % 4, shapes[Math.floor(head / 4)]!, false, () => {});
}
