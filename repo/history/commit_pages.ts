/**
 * Pages of all commits, in the log's order, read backwards from where they end.
 *
 * Which commits of the first batch of a chain that is met stood in earlier records
 * is told by what touches their items; where nothing tells, more of the log is
 * read, all of it at last.
 *
 * Architecture invariant: derived data is disposable (law 5); what comes out is
 * what reading the whole log would give.
 */

import { type Batch, type LoggedBatch, patchOf } from "../commit/batch.ts";
import type { Position } from "../commit/commit.ts";
import type { CommitReader } from "./commit_reader.ts";

/** So much of the log is read for a page at least. */
const STRETCH_BYTES = 16 * 1024;

/** So many beginnings of pages are kept. */
const KEPT = 256;

/** Where a page ends: in front of a commit. */
interface End extends Position {
  /** Of its batch. */
  readonly address: number;
}

/** What a stretch of the log has in front of an end. */
interface Stretch {
  readonly count: number;
  /** How many commits each batch repeats, where it does. */
  readonly repeats: ReadonlyMap<number, number>;
}

export class CommitPages {
  readonly #reader: CommitReader;
  readonly #stretchBytes: number;
  #revision = -1;
  /** The batches of commits that pages began with. */
  readonly #noted = new Map<string, number>();

  constructor(reader: CommitReader, stretchBytes = STRETCH_BYTES) {
    this.#reader = reader;
    this.#stretchBytes = stretchBytes;
  }

  /** Visits the newest commits, or those in front of one, so many at most, in the log's order. */
  each(
    limit: number,
    before: Position | undefined,
    visit: (logged: LoggedBatch, index: number) => void,
  ): void {
    const reader = this.#reader;
    if (limit === 0) return;
    if (this.#revision !== reader.revision) this.#noted.clear();
    this.#revision = reader.revision;
    const end = before && { ...before, address: this.#addressOf(before) };
    const to = end?.address ?? reader.log.end;
    for (let bytes = this.#stretchBytes;; bytes *= 4) {
      const start = bytes < to && limit < Infinity
        ? reader.touches?.recordBefore(to - bytes) ?? 0
        : 0;
      const stretch = this.#look(start, end);
      const isEnough = stretch !== undefined && stretch.count >= limit;
      if (start > 0 && !isEnough) continue;
      return this.#visit(start, end, stretch!, limit, visit);
    }
  }

  #addressOf({ chain, number }: Position): number {
    return this.#noted.get(`${chain}${number}`) ??
      this.#reader.find(chain, number)!.address;
  }

  /** Counts what stands from an address on; `undefined` where nothing tells what was there before. */
  #look(start: number, end: End | undefined): Stretch | undefined {
    const lengths = new Map<string, number>();
    const repeats = new Map<number, number>();
    let count = 0;
    let isKnown = true;
    this.#reader.each(({ batch, address }) => {
      const { chain, first, commits } = batch;
      const known = lengths.get(chain) ??
        (start === 0 ? 0 : this.#lengthBefore(batch, address));
      if (known === undefined) {
        isKnown = false;
        return true;
      }
      const length = first + commits.length;
      const from = Math.max(0, known - first);
      if (from > 0) repeats.set(address, from);
      // Where all of it is repeated its chain may have been longer.
      if (start === 0 || known < length) {
        lengths.set(chain, Math.max(known, length));
      }
      const isLast = address === end?.address;
      const to = isLast ? end!.number - first : commits.length;
      count += Math.max(0, to - from);
      return isLast;
    }, start);
    return isKnown ? { count, repeats } : undefined;
  }

  /** How long its chain was in front of a batch, or as long as the batch at least. */
  #lengthBefore(batch: Batch, address: number): number | undefined {
    const { chain, first, commits } = batch;
    const { touches } = this.#reader;
    for (const [i, commit] of commits.entries()) {
      const operation = commit.isVoid
        ? undefined
        : patchOf(batch, commit).operations[0];
      if (operation === undefined) return undefined;
      const { id, shape: { collection } } = operation;
      const name = { chain, number: first + i };
      if (touches!.isIn(address, name, { collection, id })) return first + i;
    }
    return first + commits.length;
  }

  #visit(
    start: number,
    end: End | undefined,
    { count, repeats }: Stretch,
    limit: number,
    visit: (logged: LoggedBatch, index: number) => void,
  ): void {
    let left = count;
    this.#reader.each(({ batch, address }) => {
      const { chain, first, commits } = batch;
      const from = repeats.get(address) ?? 0;
      const isLast = address === end?.address;
      const to = isLast ? end!.number - first : commits.length;
      for (let i = from; i < to; i++, left--) {
        if (left > limit) continue;
        if (left === limit) this.#note(chain, first + i, address);
        visit({ batch, address, from }, i);
      }
      return isLast;
    }, start);
  }

  /** The first commit of a page asks for the page before it. */
  #note(chain: string, number: number, address: number): void {
    if (this.#noted.size >= KEPT) this.#noted.clear();
    this.#noted.set(`${chain}${number}`, address);
  }
}
