/**
 * Which operations touch an item, and where in the log they stand: for its
 * history, without reading all of the log.
 *
 * Eight bytes an operation and four a commit, twelve and eight beyond two
 * gigabytes, in flat arrays: a hash of the item's name and an address, in buckets
 * by the hash. What is found is read and compared, a few hundred bytes each; who
 * makes hashes collide makes that slow, at worst as a pass over the log, and
 * nothing else. Built when a history is asked for, and gone on with to the log's
 * end each time after that.
 *
 * Withdrawn commits stay in it and are passed over: a withdrawal voids what
 * stands before it, and that is known when it is read.
 *
 * Architecture invariant: derived data is disposable (law 5); what comes out is
 * what reading the whole log would give.
 *
 * @module
 */

import { ByteReader } from "../src/base/bytes.ts";
import type { Hlc } from "../src/base/hlc.ts";
import type { Operation, Shape } from "../src/schema/patch.ts";
import { readOperation, readPatchHead } from "../src/schema/patch_codec.ts";
import { readShape } from "../src/schema/shape_codec.ts";
import { hashId } from "./checkpoint/layout.ts";
import { batchHead } from "./batch_join.ts";
import { type Position, readParents } from "./commit.ts";
import type { CommitReader, LoggedBatch } from "./commit_reader.ts";
import type { Log } from "./log.ts";
import { RECORD_HEADER_BYTES } from "./log_format.ts";
import { LogWindows } from "./log_windows.ts";
import type { ItemName } from "./time_travel.ts";

/** A commit, and what it did to one item. */
export interface ItemCommit extends Position, Hlc {
  readonly parents: readonly Position[];
  /** Those on the item; at least one. */
  readonly operations: readonly Operation[];
}

/** A commit without its operations. */
interface CommitHead extends Position, Hlc {
  readonly parents: readonly Position[];
  readonly shapes: readonly Shape[];
  /** Log address of its batch. */
  readonly body: number;
}

/** Log addresses: while the log is below two gigabytes, in four bytes each. */
type Addresses = Int32Array | Float64Array;
const NARROW_MAX = 2 ** 31 - 1;

/** Heads of so many commits are kept. */
const HEADS_KEPT = 256;
/** So many unsorted operations, or a sixteenth of all, are looked through one by one. */
const FRESH_MAX = 256;
const FRESH_FIRST = 64;
const SEED = 0x5eaf;

/** Operations by what they touch, for one repository. */
export class ItemTouches {
  readonly #commits: CommitReader;
  readonly #log: Log;
  /** Where each bucket of hashes begins. */
  #starts = new Uint32Array(3);
  #shift = 31;
  /** By bucket, and in each in the log's order: hashes, and addresses of operations. */
  #hashes = new Uint32Array(0);
  #places: Addresses = new Int32Array(0);
  /** What came since then, in the log's order. */
  #freshHashes = new Uint32Array(0);
  #freshPlaces: Addresses = new Int32Array(0);
  #fresh = 0;
  /** Where commits start, ascending; of the first in a batch, minus where the batch does. */
  #marks: Addresses = new Int32Array(0);
  #marked = 0;
  #isWide = false;
  #indexedTo = 0;
  readonly #windows: LogWindows;
  /** By mark: of the commits that were found last. */
  readonly #heads = new Map<number, CommitHead>();
  /** What stood first in the last payload: its shapes, and what hashes of their items start with. */
  #head = new Uint8Array(0);
  #shapes: readonly Shape[] = [];
  #seeds: readonly number[] = [];

  constructor(commits: CommitReader, log: Log) {
    this.#commits = commits;
    this.#log = log;
    this.#windows = new LogWindows(log);
  }

  /** Bytes that it keeps. */
  get bytes(): number {
    return [
      this.#starts,
      this.#hashes,
      this.#places,
      this.#freshHashes,
      this.#freshPlaces,
      this.#marks,
    ].reduce((sum, { byteLength }) => sum + byteLength, 0);
  }

  /** The commits that touched an item, in the log's order, and what they did to it. */
  of(item: ItemName): ItemCommit[] {
    this.#extend();
    const found: ItemCommit[] = [];
    /** By chain: how far its commits were found; the same may come twice. */
    const known = new Map<string, number>();
    const hash = hashId(item.id, hashId(item.collection, SEED));
    let [mark, isFound] = [-1, false];
    let operations: Operation[] = [];
    for (const place of this.#placesOf(hash)) {
      const at = this.#markOf(place);
      if (at !== mark) [mark, isFound, operations] = [at, false, []];
      const head = this.#headOf(at);
      const { chain, number, wall, count, parents, body } = head;
      if (this.#commits.isVoid(chain, number, body)) continue;
      if (!isFound && number < (known.get(chain) ?? 0)) continue;
      const operation = this.#operationAt(place, head, item, hash);
      if (operation === undefined) continue;
      operations.push(operation);
      if (isFound) continue;
      isFound = true;
      known.set(chain, number + 1);
      found.push({ chain, number, wall, count, parents, operations });
    }
    return found;
  }

  #extend(): void {
    const { end } = this.#log;
    if (this.#indexedTo === end) return;
    this.#commits.each((logged) => this.#index(logged), this.#indexedTo, end);
    this.#indexedTo = end;
    if (this.#fresh > Math.max(FRESH_MAX, this.#hashes.length / 16)) {
      this.#gather();
    }
  }

  #index({ batch, address }: LoggedBatch): void {
    const { bytes, commits } = batch;
    if (address + bytes.length > NARROW_MAX) this.#widen();
    this.#reserveMarks(this.#marked + commits.length);
    for (let i = 0; i < commits.length; i++) {
      const { at, payloadAt, end } = commits[i]!;
      this.#marks[this.#marked++] = i === 0 ? -address : address + at;
      const reader = new ByteReader(bytes, payloadAt, end);
      this.#readHead(reader);
      this.#indexOperations(reader, reader.varint(), address);
    }
    this.#indexedTo = address + bytes.length;
  }

  /** Makes room for all addresses to come. */
  #widen(): void {
    if (this.#isWide) return;
    this.#isWide = true;
    this.#freshPlaces = new Float64Array(this.#freshPlaces);
    this.#marks = new Float64Array(this.#marks);
  }

  #addresses(length: number): Addresses {
    return this.#isWide ? new Float64Array(length) : new Int32Array(length);
  }

  /** Reads the shapes of a payload; nearly always they are those of the one before. */
  #readHead(reader: ByteReader): void {
    const { bytes, at: start } = reader;
    const head = this.#head;
    let same = 0;
    while (same < head.length && bytes[start + same] === head[same]) same++;
    if (same > 0 && same === head.length) return reader.skip(same);
    reader.skip(1);
    const shapes: Shape[] = [];
    for (let left = reader.varint(); left > 0; left--) {
      shapes.push(readShape(reader));
    }
    this.#shapes = shapes;
    this.#seeds = shapes.map(({ collection }) => hashId(collection, SEED));
    this.#head = bytes.slice(start, reader.at);
  }

  #indexOperations(reader: ByteReader, count: number, address: number): void {
    for (let left = count; left > 0; left--) {
      const { at } = reader;
      const shape = Math.floor(reader.varint() / 4);
      reader.varint();
      const hash = hashId(reader.text(), this.#seeds[shape]!);
      this.#add(hash, address + at);
      if (left === 1) return; // Nobody asks where the last one ends.
      reader.at = at;
      readOperation(reader, this.#shapes);
    }
  }

  #add(hash: number, place: number): void {
    const at = this.#fresh++;
    if (at === this.#freshHashes.length) {
      const [hashes, places] = [this.#freshHashes, this.#freshPlaces];
      this.#freshHashes = new Uint32Array(at * 2 || FRESH_FIRST);
      this.#freshHashes.set(hashes);
      this.#freshPlaces = this.#addresses(at * 2 || FRESH_FIRST);
      this.#freshPlaces.set(places);
    }
    this.#freshHashes[at] = hash;
    this.#freshPlaces[at] = place;
  }

  #reserveMarks(length: number): void {
    const marks = this.#marks;
    if (length <= marks.length) return;
    const more = Math.ceil(marks.length * 1.25);
    this.#marks = this.#addresses(Math.max(length, more));
    this.#marks.set(marks);
  }

  /** Puts everything into buckets, four to eight operations each. */
  #gather(): void {
    const parts = [
      [this.#hashes, this.#places, this.#hashes.length],
      [this.#freshHashes, this.#freshPlaces, this.#fresh],
    ] as const;
    const size = this.#hashes.length + this.#fresh;
    // Buckets are only ever split: each stays in the log's order.
    const bits = Math.max(1, Math.floor(Math.log2(size / 4)));
    const shift = 32 - bits;
    const starts = new Uint32Array(2 ** bits + 1);
    for (const [from, , length] of parts) {
      for (let i = 0; i < length; i++) starts[(from[i]! >>> shift) + 1]!++;
    }
    for (let i = 1; i < starts.length; i++) starts[i]! += starts[i - 1]!;
    const next = starts.slice();
    const hashes = new Uint32Array(size);
    const places = this.#addresses(size);
    for (const [from, addresses, length] of parts) {
      for (let i = 0; i < length; i++) {
        const at = next[from[i]! >>> shift]!++;
        hashes[at] = from[i]!;
        places[at] = addresses[i]!;
      }
    }
    this.#starts = starts;
    this.#shift = shift;
    this.#hashes = hashes;
    this.#places = places;
    this.#freshHashes = new Uint32Array(0);
    this.#freshPlaces = this.#addresses(0);
    this.#fresh = 0;
  }

  #placesOf(hash: number): number[] {
    const found: number[] = [];
    const bucket = hash >>> this.#shift;
    const end = this.#starts[bucket + 1]!;
    for (let i = this.#starts[bucket]!; i < end; i++) {
      if (this.#hashes[i] === hash) found.push(this.#places[i]!);
    }
    const fresh = this.#freshHashes;
    for (let i = fresh.indexOf(hash); i >= 0 && i < this.#fresh;) {
      found.push(this.#freshPlaces[i]!);
      i = fresh.indexOf(hash, i + 1);
    }
    return found;
  }

  /** Which commit an operation stands in: the last one that starts before it. */
  #markOf(place: number): number {
    let [low, high] = [0, this.#marked - 1];
    while (low < high) {
      const middle = (low + high + 1) >>> 1;
      if (Math.abs(this.#marks[middle]!) <= place) low = middle;
      else high = middle - 1;
    }
    return low;
  }

  #headOf(mark: number): CommitHead {
    let head = this.#heads.get(mark);
    if (head !== undefined) return head;
    if (this.#heads.size >= HEADS_KEPT) this.#heads.clear();
    this.#heads.set(mark, head = this.#readCommit(mark));
    return head;
  }

  #readCommit(mark: number): CommitHead {
    let first = mark;
    while (this.#marks[first]! > 0) first--;
    const body = -this.#marks[first]!;
    const batch = this.#decode(
      body,
      body,
      ({ bytes, at, end }) => batchHead(bytes.subarray(at, end)),
    );
    const { chain } = batch;
    const number = batch.first + mark - first;
    const at = mark === first ? body + batch.start : this.#marks[mark]!;
    return this.#decode(at, body, (reader) => {
      const [wall, count] = [reader.u48(), reader.u16()];
      const parents = readParents(reader, chain);
      reader.varint();
      const shapes = readPatchHead(reader);
      return { chain, number, wall, count, parents, shapes, body };
    });
  }

  /** The operation at a place, if it is one on this item. */
  #operationAt(
    place: number,
    { shapes, body }: CommitHead,
    { collection, id }: ItemName,
    hash: number,
  ): Operation | undefined {
    const operation = this.#decode(
      place,
      body,
      (reader) => readOperation(reader, shapes),
    );
    const named = operation.shape.collection;
    if (operation.id === id && named === collection) return operation;
    // Another item than was noted here: the bytes are not what they were.
    if (hashId(operation.id, hashId(named, SEED)) !== hash) {
      this.#checkRecord(body);
    }
    return undefined;
  }

  /** Decodes what stands at an address, in the batch at `body`. */
  #decode<T>(
    address: number,
    body: number,
    decode: (reader: ByteReader) => T,
  ): T {
    try {
      return this.#windows.decode(address, decode);
    } catch (error) {
      if (error instanceof SyntaxError) this.#checkRecord(body);
      throw error;
    }
  }

  /** Fails with `log-damaged` where the record of a batch is not what was written. */
  #checkRecord(body: number): void {
    const start = body - RECORD_HEADER_BYTES;
    this.#log.records(start, this.#log.end, () => true);
  }
}
