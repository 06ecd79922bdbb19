/**
 * The graph: which commits are known here, and which of them are heads.
 *
 * A chain has no gaps, so the graph keeps one entry a chain, not one a commit:
 * how many are known, the last one's clock, and the id up to which the chain is
 * hashed. In the modes that do not sign, ids are hashed only when asked for.
 * Never judges: what is added here has been admitted.
 *
 * Architecture invariant: the summary is derived (law 5), and is the same
 * whatever the order in which the same commits were added (law 4).
 */

import { sha256 } from "../../crypto/sha256.ts";
import { ByteReader, ByteWriter, encodeText } from "../../src/base/bytes.ts";
import { assert } from "../../src/base/errors.ts";
import { compareHlc, type Hlc, hlcZero, laterHlc } from "../../src/base/hlc.ts";
import { limits } from "../../src/base/limits.ts";
import { NumberRanges } from "../../src/base/number_ranges.ts";
import type { Batch } from "../commit/batch.ts";
import {
  chainBytes,
  chainBytesLength,
  chainStart,
  type Header,
  idLength,
  type Position,
  readChain,
} from "../commit/commit.ts";
import type { VersionVector } from "../commit/version_vector.ts";

const FORMAT = 3;
const DIGEST_DOMAIN = encodeText("sheaf commits 1\n");
const NO_PARENTS: readonly Position[] = [];
/** So many of what is no head any more are not looked through. */
const NEWEST_MIN = 64;
const NO_VOIDS = new NumberRanges();
/** So many ends of batches at least; others are hashed again for who asks. */
const ENDS_KEPT = 512;
/** In a summary, added to the length of a chain of which it says what is void. */
export const SAYS_VOIDS: number = 2 ** 47;
/** Bytes of a chain in a summary, where nothing of it is void. */
export const SUMMARY_ENTRY_BYTES: number = chainBytesLength + 6 + idLength;

/** How far a chain went. */
export interface ChainEnd {
  readonly count: number;
  /** The id of its last commit: of all of them, because ids are chained. */
  readonly id: Uint8Array;
  /** Which of them say nothing, if any. */
  readonly voids?: NumberRanges | undefined;
}

/** Writes a chain of a summary. */
export function writeChainEnd(
  writer: ByteWriter,
  chain: Uint8Array,
  { count, id, voids }: ChainEnd,
): void {
  writer.bytes(chain);
  writer.u48(count + (voids === undefined ? 0 : SAYS_VOIDS));
  writer.bytes(id);
  voids?.write(writer);
}

export interface Chain {
  readonly name: string;
  /** How many of its commits are known. */
  readonly length: number;
  readonly last: Hlc;
  /** How many of its commits are hashed. */
  readonly hashed: number;
  /** The id of commit `hashed - 1`, or the chain's start. */
  readonly hashedId: Uint8Array;
  /** Does no known commit name its last one as parent? */
  readonly isHead: boolean;
  /** Which of its commits say nothing, by number, if any. */
  readonly voids: NumberRanges | undefined;
}

type ChainState = { -readonly [Key in keyof Chain]: Chain[Key] };

/** A chain of which the last commit was a head when it had this length. */
interface Head {
  readonly chain: ChainState;
  length: number;
}

export class Graph {
  readonly #genesisId: Uint8Array;
  readonly #chains = new Map<string, ChainState>();
  readonly #heads = new Set<ChainState>();
  /** Commits that became heads, the newest at the end; what is none any more goes by and by. */
  #newest: Head[] = [];
  /** Where batches ended, the newest at the end. */
  readonly #ends: { chain: ChainState; count: number; id: Uint8Array }[] = [];
  /** All chains by name; made when asked for, until another one begins. */
  #sorted: readonly ChainState[] | undefined;
  #namesInOrder: Uint8Array<ArrayBuffer> | undefined;
  #clock = hlcZero;
  #commits = 0;

  /** @param genesisId stands under every chain's start */
  constructor(genesisId: Uint8Array) {
    this.#genesisId = genesisId;
  }

  get clock(): Hlc {
    return this.#clock;
  }

  get commits(): number {
    return this.#commits;
  }

  get size(): number {
    return this.#chains.size;
  }

  /** How many heads there are; more than one are concurrent. */
  get headCount(): number {
    return this.#heads.size;
  }

  chain(name: string): Chain | undefined {
    return this.#chains.get(name);
  }

  lengthOf(name: string): number {
    return this.#chains.get(name)?.length ?? 0;
  }

  has(position: Position): boolean {
    return position.number < this.lengthOf(position.chain);
  }

  chains(): IterableIterator<Chain> {
    return this.#chains.values();
  }

  /**
   * The parents of the next commit of `chain`: the heads of other chains that
   * came last, as many as a commit may name, in order of chain.
   */
  parentsForNext(chain: string): readonly Position[] {
    const heads = this.#heads;
    if (heads.size === 0) return NO_PARENTS;
    const own = this.#chains.get(chain);
    if (heads.size === 1 && own?.isHead) return NO_PARENTS;
    const newest = this.#newest;
    const seen: Head[] = [];
    const others: ChainState[] = [];
    let from = newest.length;
    while (from > 0 && others.length < limits.parentsMax) {
      const head = newest[--from]!;
      if (!isStill(head)) continue;
      seen.push(head);
      if (head.chain !== own) others.push(head.chain);
    }
    // What was passed and is no head is never passed again.
    newest.length = from;
    newest.push(...seen.reverse());
    return positionsOf(others);
  }

  /** Adds the next commit of a chain; its parents are known. */
  add(name: string, header: Header, isVoid = false): void {
    const chain = this.#chains.get(name) ?? this.#begin(name);
    if (isVoid) voidsOf(chain).add(chain.length);
    const { parents } = header;
    for (let i = 0; i < parents.length; i++) this.#cover(parents[i]!);
    chain.length++;
    chain.last = header;
    this.#commits++;
    this.#clock = laterHlc(header, this.#clock);
    chain.isHead = true;
    this.#lead(chain);
  }

  /**
   * Adds what an admitted batch holds beyond the known commits. `lastId` is its
   * last id where it was computed.
   */
  addBatch(batch: Batch, lastId?: Uint8Array): void {
    const { chain, first, commits } = batch;
    const from = this.lengthOf(chain) - first;
    assert(from >= 0, "a chain is admitted without gaps");
    for (let i = from; i < commits.length; i++) {
      this.add(chain, commits[i]!, commits[i]!.isVoid);
    }
    if (lastId !== undefined) {
      this.setHashed(chain, first + commits.length, lastId);
    }
  }

  /** Known commits of a chain say nothing from now on. */
  setVoid(name: string, numbers: Iterable<number>): void {
    const chain = this.#chains.get(name);
    for (const number of numbers) {
      assert(chain !== undefined && number < chain.length, "it is known");
      voidsOf(chain).add(number);
    }
  }

  /** Notes the id of a chain's commit `hashed - 1`; never goes back. */
  setHashed(name: string, hashed: number, id: Uint8Array): void {
    const chain = this.#chains.get(name);
    assert(
      chain !== undefined && hashed <= chain.length,
      "the commit is known",
    );
    if (hashed <= chain.hashed) return;
    chain.hashed = hashed;
    chain.hashedId = id;
    if (this.#ends.length >= 2 * ENDS_KEPT) this.#ends.splice(0, ENDS_KEPT);
    this.#ends.push({ chain, count: hashed, id });
  }

  /**
   * Becomes what another graph is: that of the commits which a cut left.
   * Where a chain is as long as before, it is hashed as far as before.
   */
  become(other: Graph): void {
    const before = new Map(this.#chains);
    this.#ends.length = 0;
    this.#sorted = this.#namesInOrder = undefined;
    this.#chains.clear();
    this.#heads.clear();
    this.#newest = [];
    for (const chain of other.#chains.values()) {
      const { name, length } = chain;
      this.#chains.set(name, chain);
      if (chain.isHead) this.#lead(chain);
      const old = before.get(name);
      const isSame = old !== undefined && old.length === length;
      if (isSame) this.setHashed(name, old.hashed, old.hashedId);
    }
    this.#newest.sort(byClock);
    this.#clock = other.#clock;
    this.#commits = other.#commits;
  }

  /** The id before commit `number` where it is at hand: the start, or how far it is hashed. */
  idBefore(name: string, number: number): Uint8Array | undefined {
    const chain = this.#chains.get(name);
    if (chain !== undefined && chain.hashed === number) return chain.hashedId;
    return number === 0 ? chainStart(this.#genesisId, name) : undefined;
  }

  /** The same where a batch ended lately. */
  endedBefore(name: string, number: number): Uint8Array | undefined {
    const chain = this.#chains.get(name);
    return this.#ends.findLast((end) =>
      end.count === number && end.chain === chain
    )?.id;
  }

  /** The last commit of a chain is a head, and the one that came last. */
  #lead(chain: ChainState): void {
    const { length } = chain;
    this.#heads.add(chain);
    const last = this.#newest.at(-1);
    if (last?.chain === chain) last.length = length;
    else this.#newest.push({ chain, length });
    if (this.#newest.length <= 2 * this.#heads.size + NEWEST_MIN) return;
    this.#newest = this.#newest.filter(isStill);
  }

  #inOrder(): readonly ChainState[] {
    return this.#sorted ??= [...this.#chains.values()].sort(byName);
  }

  #begin(name: string): ChainState {
    this.#sorted = this.#namesInOrder = undefined;
    const chain: ChainState = {
      name,
      length: 0,
      last: hlcZero,
      hashed: 0,
      hashedId: chainStart(this.#genesisId, name),
      isHead: false,
      voids: undefined,
    };
    this.#chains.set(name, chain);
    return chain;
  }

  #cover(parent: Position): void {
    const chain = this.#chains.get(parent.chain);
    assert(
      chain !== undefined && parent.number < chain.length,
      "parents are known",
    );
    if (parent.number !== chain.length - 1 || !chain.isHead) return;
    chain.isHead = false;
    this.#heads.delete(chain);
  }

  vector(): VersionVector {
    const vector = new Map<string, number>();
    for (const chain of this.#chains.values()) {
      vector.set(chain.name, chain.length);
    }
    return vector;
  }

  /**
   * All (chain, length, last id, which are void), chains ascending: equal exactly
   * where the same commits are known and say the same. `undefined` while a chain
   * is not hashed to its end.
   */
  summary(): Uint8Array<ArrayBuffer> | undefined {
    const names = this.#names();
    const writer = new ByteWriter(this.#chains.size * SUMMARY_ENTRY_BYTES);
    let at = 0;
    for (const { length, hashed, hashedId, voids } of this.#inOrder()) {
      if (hashed !== length) return undefined;
      const name = names.subarray(at, at += chainBytesLength);
      writeChainEnd(writer, name, { count: length, id: hashedId, voids });
    }
    return writer.copy();
  }

  /** The chains' names in a row: they are most of a summary's cost. */
  #names(): Uint8Array<ArrayBuffer> {
    if (this.#namesInOrder !== undefined) return this.#namesInOrder;
    const writer = new ByteWriter(this.#chains.size * chainBytesLength);
    for (const { name } of this.#inOrder()) writer.bytes(chainBytes(name));
    return this.#namesInOrder = writer.copy();
  }

  /** The graph as bytes, for a checkpoint. */
  encode(): Uint8Array<ArrayBuffer> {
    const writer = new ByteWriter(16 + this.#chains.size * 96);
    writer.u8(FORMAT);
    writer.varint(this.#chains.size);
    for (const chain of this.#inOrder()) {
      writer.bytes(chainBytes(chain.name));
      writer.varint(chain.length);
      writer.u48(chain.last.wall);
      writer.u16(chain.last.count);
      writer.u8(chain.isHead ? 1 : 0);
      (chain.voids ?? NO_VOIDS).write(writer);
      writer.varint(chain.hashed);
      writer.bytes(chain.hashedId);
    }
    return writer.view();
  }

  static decode(bytes: Uint8Array, genesisId: Uint8Array): Graph {
    const reader = new ByteReader(bytes);
    if (reader.u8() !== FORMAT) {
      throw new SyntaxError("Cannot decode graph: its format is unknown");
    }
    const graph = new Graph(genesisId);
    const size = reader.varint();
    for (let i = 0; i < size; i++) graph.#restore(readState(reader));
    graph.#newest.sort(byClock);
    if (!reader.done || graph.#chains.size !== size) {
      throw new SyntaxError("Cannot decode graph: its chains are not in order");
    }
    return graph;
  }

  #restore(chain: ChainState): void {
    this.#chains.set(chain.name, chain);
    if (chain.isHead) this.#lead(chain);
    this.#commits += chain.length;
    this.#clock = laterHlc(chain.last, this.#clock);
  }
}

/** The digest of a set of commits, given as {@linkcode Graph.summary} writes it. */
export function digestOfSummary(
  genesisId: Uint8Array,
  summary: Uint8Array,
): Uint8Array<ArrayBuffer> {
  return sha256(DIGEST_DOMAIN, genesisId, summary);
}

function readState(reader: ByteReader): ChainState {
  const name = readChain(reader);
  const length = reader.varint();
  const chain: ChainState = {
    name,
    length,
    last: { wall: reader.u48(), count: reader.u16() },
    isHead: reader.u8() === 1,
    voids: someOf(NumberRanges.read(reader, length)),
    hashed: reader.varint(),
    hashedId: reader.take(idLength).slice(),
  };
  if (length === 0 || chain.hashed > length) {
    throw new SyntaxError(
      "Cannot decode graph: a chain's length is not allowed",
    );
  }
  return chain;
}

function someOf(ranges: NumberRanges): NumberRanges | undefined {
  return ranges.size > 0 ? ranges : undefined;
}

function voidsOf(chain: ChainState): NumberRanges {
  return chain.voids ??= new NumberRanges();
}

function byClock(a: Head, b: Head): number {
  return compareHlc(a.chain.last, b.chain.last);
}

function isStill({ chain, length }: Head): boolean {
  return chain.isHead && chain.length === length;
}

function byName(a: Chain, b: Chain): number {
  return a.name < b.name ? -1 : a.name > b.name ? 1 : 0;
}

function positionsOf(chains: Chain[]): Position[] {
  return chains.sort(byName).map(({ name, length }) => ({
    chain: name,
    number: length - 1,
  }));
}
