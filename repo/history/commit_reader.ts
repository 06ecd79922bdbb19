/**
 * Reading commits back from the log: for the door, for history, for hashes.
 *
 * The index of positions is built when it is first asked for and extended by
 * what was appended since. Never writes.
 *
 * Architecture invariant: derived data is disposable (law 5); nothing here is
 * needed to open or to write.
 */

import { assert } from "../../src/base/errors.ts";
import type { Hlc } from "../../src/base/hlc.ts";
import {
  type Batch,
  type BatchCommit,
  batchIn,
  type ErasedPayloads,
  hashBatch,
  type LoggedBatch,
} from "../commit/batch.ts";
import type { Mode } from "../commit/genesis.ts";
import type { Graph } from "../graph/graph.ts";
import type { ItemTouches } from "./item_touches.ts";
import type { LoggedCommits } from "./logged_commits.ts";
import type { Store } from "../log/store.ts";
import { readU32, RECORD_HEADER_BYTES } from "../log/format.ts";
import type { Cut, VoidCommits } from "../refusal/void_commits.ts";
import { getOrMake } from "../../src/base/collections.ts";
import type { Checkpoint } from "../checkpoint/checkpoint.ts";
import type { Credentials } from "../commit/credentials.ts";

export class CommitReader implements LoggedCommits {
  /** What touches each item, where a door brings that: histories read all of the log without. */
  touches: ItemTouches | undefined;
  readonly log: Store;
  /** What erased payloads were. */
  readonly erased: ErasedPayloads;
  readonly #graph: Graph;
  readonly #mode: Mode;
  readonly #voided: VoidCommits;
  readonly #index = new CommitIndex();
  #indexedTo = 0;
  /** Every commit before this address is hashed. */
  #hashedTo: number;
  #last: LoggedBatch | undefined;
  #revision = 0;

  /** @param loaded what is read; all that its checkpoint covers is hashed in Default mode */
  constructor(
    { log, graph, checkpoint, voided, credentials }: {
      readonly log: Store;
      readonly graph: Graph;
      readonly checkpoint: Pick<Checkpoint, "covers"> | undefined;
      readonly voided: VoidCommits;
      readonly credentials: Credentials;
    },
    mode: Mode,
  ) {
    this.log = log;
    this.erased = credentials.redactions;
    this.#graph = graph;
    this.#mode = mode;
    this.#voided = voided;
    const chains = [...graph.chains()];
    const isHashed = chains.every((chain) => chain.hashed === chain.length);
    const covered = mode === "default" ? checkpoint?.covers ?? 0 : 0;
    this.#hashedTo = isHashed ? log.end : covered;
  }

  each(
    visit: (logged: LoggedBatch) => boolean | void,
    from = 0,
    to: number = this.log.end,
    asOf?: number,
    lengths: Map<string, number> = new Map(),
  ): number {
    return this.log.records(from, to, (kind, body, address) => {
      const all = batchIn(kind, body);
      if (all === undefined) return;
      if (this.isCut(all.chain, all.first, address, asOf)) return;
      const batch = this.withRefused(all, address, asOf);
      const known = lengths.get(batch.chain) ?? 0;
      const isEnough = visit({
        batch,
        address,
        from: Math.max(0, known - batch.first),
      });
      lengths.set(
        batch.chain,
        Math.max(known, batch.first + batch.commits.length),
      );
      return isEnough;
    });
  }

  /** As {@linkcode VoidCommits.withRefused} has it. */
  withRefused(...logged: Parameters<VoidCommits["withRefused"]>): Batch {
    return this.#voided.withRefused(...logged);
  }

  /** Was a commit cut whose batch stands at `address`, or had it been when the log ended at `asOf`? */
  isCut(...commit: Parameters<VoidCommits["isCut"]>): boolean {
    return this.#voided.isCut(...commit);
  }

  isVoid(...commit: Parameters<VoidCommits["isCut"]>): boolean {
    return this.isCut(...commit) || this.#voided.wasRefused(...commit);
  }

  /** Commits were refused just now. */
  refused(): void {
    this.#revision++;
  }

  /** Records of the log were overwritten just now. */
  rewritten(): void {
    this.#last = undefined;
    this.#revision++;
    this.touches?.rewritten();
  }

  /** Forgets where commits stand that were cut just now. */
  cut(cuts: readonly Cut[]): void {
    for (const { chain, from } of cuts) this.#index.cut(chain, from);
    this.#last = undefined;
    this.#revision++;
  }

  /** Counts refusals and cuts: what was derived from the log before one is void. */
  get revision(): number {
    return this.#revision;
  }

  /** Hashes what was not hashed when the repository was opened; Default mode signs on top of it. */
  hashAll(): void {
    if (this.#mode === "default") this.hashLazily();
  }

  /** Hashes what is in the log and was not hashed, in every mode: for digests. */
  hashLazily(): void {
    if (this.#hashedTo === this.log.end) return;
    this.hashFrom(this.#hashedTo);
    this.#hashedTo = this.log.end;
  }

  /** Computes the ids of all commits from a log address on, or of those of some chains. */
  hashFrom(address: number, chains?: ReadonlySet<string>): void {
    const graph = this.#graph;
    this.each(({ batch }) => {
      const { chain, first, commits } = batch;
      if (chains?.has(chain) === false) return;
      const hashed = graph.chain(chain)?.hashed ?? 0;
      const skip = hashed - first;
      if (skip < 0 || skip >= commits.length) return;
      const previous = graph.idBefore(chain, first + skip);
      assert(previous !== undefined, "a chain is hashed in order");
      graph.setHashed(
        chain,
        first + commits.length,
        hashBatch(batch, previous, this.erased, skip),
      );
    }, address);
  }

  /** Tells that what was appended from `from` on is hashed already. */
  appended(from: number): void {
    if (this.#mode === "default" && this.#hashedTo === from) {
      this.#hashedTo = this.log.end;
    }
  }

  find(chain: string, number: number): CommitEntry | undefined {
    this.#extend();
    return this.#index.find(chain, number);
  }

  #extend(): void {
    const { end } = this.log;
    if (this.#indexedTo === end) return;
    this.each(
      ({ batch, address }) => this.#index.add(batch, address),
      this.#indexedTo,
      end,
    );
    this.#indexedTo = end;
  }

  clockAt(chain: string, number: number): Hlc | undefined {
    return this.find(chain, number);
  }

  /** The batch in which a commit lies, and the commit. */
  read(
    chain: string,
    number: number,
  ): { logged: LoggedBatch; commit: BatchCommit } | undefined {
    const entry = this.find(chain, number);
    if (entry === undefined) return undefined;
    const logged = this.#last?.address === entry.address
      ? this.#last
      : this.#readBatch(entry.address);
    this.#last = logged;
    return {
      logged,
      commit: logged.batch.commits[number - logged.batch.first]!,
    };
  }

  #readBatch(address: number): LoggedBatch {
    return { batch: this.batchAt(address), address, from: 0 };
  }

  /** The batch whose body stands at an address, void commits included: the caller's own. */
  batchAt(address: number): Batch {
    const start = address - RECORD_HEADER_BYTES;
    const header = new Uint8Array(RECORD_HEADER_BYTES);
    this.log.readAt(header, start);
    const end = address + readU32(header, 0);
    let found: Batch | undefined;
    this.log.records(start, end, (kind, body) => {
      // The record's bytes are the reader's own buffer: keep a copy.
      found = batchIn(kind, body.slice());
    });
    assert(found !== undefined, "the index points at batches");
    return found;
  }
}

export interface CommitEntry extends Hlc {
  /** Log address of the record that holds its batch. */
  readonly address: number;
  readonly offset: number;
}

const CAPACITY_FIRST = 16;

class ChainColumns {
  length = 0;
  walls = new Float64Array(CAPACITY_FIRST);
  counts = new Uint16Array(CAPACITY_FIRST);
  addresses = new Float64Array(CAPACITY_FIRST);
  offsets = new Uint32Array(CAPACITY_FIRST);

  reserve(length: number): void {
    if (length <= this.walls.length) return;
    const capacity = Math.max(length, Math.ceil(this.walls.length * 1.5));
    this.walls = grown(this.walls, new Float64Array(capacity));
    this.counts = grown(this.counts, new Uint16Array(capacity));
    this.addresses = grown(this.addresses, new Float64Array(capacity));
    this.offsets = grown(this.offsets, new Uint32Array(capacity));
  }
}

function grown<T extends Float64Array | Uint16Array | Uint32Array>(
  from: T,
  to: T,
): T {
  to.set(from);
  return to;
}

/** The index of a repository's commits. */
export class CommitIndex {
  readonly #chains = new Map<string, ChainColumns>();

  add(batch: Batch, address: number): void {
    const { chain, first, commits } = batch;
    const columns = getOrMake(this.#chains, chain, () => new ChainColumns());
    const from = columns.length - first;
    assert(from >= 0, "the log holds a chain without gaps");
    columns.reserve(first + commits.length);
    for (let i = from; i < commits.length; i++) {
      const { wall, count, at } = commits[i]!;
      const number = first + i;
      columns.walls[number] = wall;
      columns.counts[number] = count;
      columns.addresses[number] = address;
      columns.offsets[number] = at;
    }
    columns.length = Math.max(columns.length, first + commits.length);
  }

  /** Forgets the commits of a chain from a number on: they were cut. */
  cut(chain: string, from: number): void {
    const columns = this.#chains.get(chain);
    if (columns === undefined) return;
    columns.length = Math.min(columns.length, from);
  }

  find(chain: string, number: number): CommitEntry | undefined {
    const columns = this.#chains.get(chain);
    if (columns === undefined || number >= columns.length) return undefined;
    return {
      wall: columns.walls[number]!,
      count: columns.counts[number]!,
      address: columns.addresses[number]!,
      offset: columns.offsets[number]!,
    };
  }
}
