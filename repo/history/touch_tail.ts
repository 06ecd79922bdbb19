/**
 * What the log says behind a checkpoint: which operations touch which items,
 * where commits stand, and whom their authors had seen. In memory, in the log's
 * order.
 *
 * Eight bytes an operation, twelve for every few kilobytes of a batch. Void
 * commits stay in it, and who reads passes them over: so it depends on nothing
 * but the log's bytes. What a record says again is not noted again.
 *
 * Architecture invariant: derived data is disposable (law 5).
 */

import { ByteReader } from "../../src/base/bytes.ts";
import { skipPadding } from "../../src/schema/patch_codec.ts";
import { skimOperation } from "../../src/schema/skim.ts";
import type { Batch } from "../commit/batch.ts";
import { hashId } from "../checkpoint/layout.ts";
import type { RecordVisitor } from "../log/records.ts";
import type { Cut } from "../refusal/void_commits.ts";
import { lowerBound } from "../../src/base/lower_bound.ts";
import { PayloadHead } from "./payload_head.ts";

/** So many operations are sorted at once, within a few milliseconds. */
const RUN_MAX = 65_536;
/** A commit is found within so many bytes behind a mark. */
const SPAN_BYTES = 512;
const FIRST = 64;
const SEED = 0x5eaf;
const pass = () => {};

/** What an item's operations are found by. */
export function hashItem(collection: string, id: string): number {
  return hashId(id, hashId(collection, SEED));
}

/** Operations by the hash of their items, those of one hash in the log's order. */
export interface TouchRun {
  readonly hashes: Uint32Array;
  /** From `base` on. */
  readonly offsets: Uint32Array;
  readonly base: number;
}

/** A chain, and how many of its commits were noted. */
export interface ChainCount {
  readonly chain: string;
  readonly length: number;
}

/** Commit `number` of one chain names commit `parentNumber` of another; chains by their place in the list. */
export interface Link {
  readonly chain: number;
  readonly number: number;
  readonly parent: number;
  readonly parentNumber: number;
}

/** What stands in the log from an address on. */
export class TouchTail implements RecordVisitor<void> {
  /** How far the log was read. */
  end: number;
  /** In the log's order. */
  readonly #runs: TouchRun[] = [];
  #hashes = new Uint32Array(0);
  #offsets = new Uint32Array(0);
  #base = 0;
  #fresh = 0;
  /** Where batches start, and in long ones some of their commits. */
  #marks = new Float64Array(0);
  #indexes = new Uint32Array(0);
  #marked = 0;
  /** Four numbers each. */
  #links = new Float64Array(0);
  #linked = 0;
  readonly #chains: string[] = [];
  readonly #lengths: number[] = [];
  readonly #numbers = new Map<string, number>();
  /** Shapes, and what hashes of their items start with. */
  readonly #head = new PayloadHead((shapes) =>
    shapes.map((shape) => ({
      shape,
      seed: hashId(shape.collection, SEED),
    }))
  );

  /** @param chains what stands before `end` */
  constructor(end: number, chains: readonly ChainCount[]) {
    this.end = end;
    for (const { chain, length } of chains) {
      this.#lengths[this.#numberOf(chain)] = length;
    }
  }

  get bytes(): number {
    let bytes = this.#hashes.byteLength + this.#offsets.byteLength +
      this.#marks.byteLength + this.#indexes.byteLength +
      this.#links.byteLength;
    for (const run of this.#runs) bytes += 8 * run.hashes.length;
    return bytes;
  }

  chains(): ChainCount[] {
    return this.#chains.map((chain, i) => ({
      chain,
      length: this.#lengths[i]!,
    }));
  }

  /** The place of a chain in the list; -1 when it is not in it. */
  chainOf(chain: string): number {
    return this.#numbers.get(chain) ?? -1;
  }

  #numberOf(chain: string): number {
    let number = this.#numbers.get(chain);
    if (number === undefined) {
      number = this.#chains.length;
      this.#numbers.set(chain, number);
      this.#chains.push(chain);
      this.#lengths.push(0);
    }
    return number;
  }

  batch({ bytes, chain, first, commits }: Batch, address: number): void {
    const own = this.#numberOf(chain);
    const known = this.#lengths[own]!;
    const reader = new ByteReader(bytes);
    let marked = -Infinity;
    for (let i = 0; i < commits.length; i++) {
      const { at, payloadAt, parents } = commits[i]!;
      if (at - marked >= SPAN_BYTES) {
        this.#mark(i === 0 ? address : address + at, i);
        marked = at;
      }
      if (first + i < known) continue;
      for (const { chain, number } of parents) {
        this.#link(own, first + i, this.#numberOf(chain), number);
      }
      reader.at = payloadAt;
      this.#addOperations(reader, address);
    }
    this.#lengths[own] = Math.max(known, first + commits.length);
  }

  /** Commits that were cut may come again. */
  cut(cuts: readonly Cut[]): void {
    for (const { chain, from } of cuts) {
      const own = this.#numberOf(chain);
      this.#lengths[own] = Math.min(this.#lengths[own]!, from);
    }
  }

  #mark(address: number, index: number): void {
    const at = this.#marked++;
    if (at === this.#marks.length) {
      this.#marks = grown(this.#marks, new Float64Array(at * 2 || FIRST));
      this.#indexes = grown(this.#indexes, new Uint32Array(at * 2 || FIRST));
    }
    this.#marks[at] = address;
    this.#indexes[at] = index;
  }

  #link(...link: [number, number, number, number]): void {
    const at = 4 * this.#linked++;
    if (at === this.#links.length) {
      this.#links = grown(this.#links, new Float64Array(at * 2 || FIRST));
    }
    this.#links.set(link, at);
  }

  #addOperations(reader: ByteReader, address: number): void {
    const shapes = this.#head.read(reader);
    for (let left = reader.varint(); left > 0; left--) {
      skipPadding(reader);
      const { at } = reader;
      const head = reader.varint();
      const { shape, seed } = shapes[Math.floor(head / 4)]!;
      reader.varint();
      this.#addOperation(hashId(reader.text(), seed), address + at);
      skimOperation(reader, head % 4, shape, left === 1, pass);
    }
  }

  #addOperation(hash: number, place: number): void {
    if (this.#fresh === RUN_MAX || place - this.#base >= 2 ** 32) this.#sort();
    const at = this.#fresh++;
    if (at === 0) this.#base = place;
    if (at === this.#hashes.length) {
      this.#hashes = grown(this.#hashes, new Uint32Array(at * 2 || FIRST));
      this.#offsets = grown(this.#offsets, new Uint32Array(at * 2 || FIRST));
    }
    this.#hashes[at] = hash;
    this.#offsets[at] = place - this.#base;
  }

  #sort(): void {
    const count = this.#fresh;
    if (count === 0) return;
    // Hash and order in one number: it is exact, and sorts without a callback.
    const keys = new Float64Array(count);
    for (let i = 0; i < count; i++) keys[i] = this.#hashes[i]! * RUN_MAX + i;
    keys.sort();
    const hashes = new Uint32Array(count);
    const offsets = new Uint32Array(count);
    for (let i = 0; i < count; i++) {
      const from = keys[i]! % RUN_MAX;
      hashes[i] = this.#hashes[from]!;
      offsets[i] = this.#offsets[from]!;
    }
    this.#runs.push({ hashes, offsets, base: this.#base });
    this.#hashes = new Uint32Array(0);
    this.#offsets = new Uint32Array(0);
    this.#fresh = 0;
  }

  /** Where operations on items with a hash stand, in the log's order. */
  placesOf(hash: number): number[] {
    const found: number[] = [];
    for (const { hashes, offsets, base } of this.#runs) {
      let i = lowerBound(hashes.length, (i) => hashes[i]! >= hash);
      for (; hashes[i] === hash; i++) found.push(base + offsets[i]!);
    }
    const fresh = this.#hashes;
    for (let i = fresh.indexOf(hash); i >= 0 && i < this.#fresh;) {
      found.push(this.#base + this.#offsets[i]!);
      i = fresh.indexOf(hash, i + 1);
    }
    return found;
  }

  /** All of it as it is now, whatever is noted later. */
  picture(): TailPicture {
    this.#sort();
    return {
      end: this.end,
      runs: this.#runs.slice(),
      marks: this.#marks.subarray(0, this.#marked),
      indexes: this.#indexes.subarray(0, this.#marked),
      links: this.#links.subarray(0, 4 * this.#linked),
      chains: this.chains(),
    };
  }

  get marked(): number {
    return this.#marked;
  }

  /** The address of a mark; 0 behind the last one. */
  markAt(i: number): number {
    return this.#marks[i] ?? 0;
  }

  /** Which commit of its batch a mark is; 0 behind the last one. */
  indexAt(i: number): number {
    return this.#indexes[i] ?? 0;
  }

  get linked(): number {
    return this.#linked;
  }

  linkAt(i: number): Link {
    const links = this.#links;
    return {
      chain: links[4 * i]!,
      number: links[4 * i + 1]!,
      parent: links[4 * i + 2]!,
      parentNumber: links[4 * i + 3]!,
    };
  }
}

export interface TailPicture {
  readonly end: number;
  readonly runs: readonly TouchRun[];
  readonly marks: Float64Array;
  readonly indexes: Uint32Array;
  /** Four numbers each. */
  readonly links: Float64Array;
  readonly chains: readonly ChainCount[];
}

function grown<T extends Float64Array | Uint32Array>(from: T, to: T): T {
  to.set(from);
  return to;
}
