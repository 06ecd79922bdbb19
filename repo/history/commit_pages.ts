/**
 * Pages of all commits, in the log's order: one pass notes where every so many
 * bytes begin and how many commits stand before; a page reads what it shows.
 *
 * Architecture invariant: derived data is disposable (law 5); what comes out is
 * what reading the whole log would give.
 */

import type { Position } from "../commit/commit.ts";
import { RECORD_HEADER_BYTES } from "../log/format.ts";
import type { CommitReader } from "./commit_reader.ts";
import type { LoggedBatch } from "./logged_commits.ts";

/** So much of the log is read for a page at least. */
const STRETCH_BYTES = 64 * 1024;

/** So many beginnings of pages are kept. */
const KEPT = 256;

interface Stretch {
  /** Where its first record starts. */
  readonly start: number;
  /** How many commits stand before it. */
  readonly before: number;
}

export class CommitPages {
  readonly #reader: CommitReader;
  #revision = -1;
  #to = 0;
  #count = 0;
  #stretches: Stretch[] = [];
  /** How many commits each batch repeats, where it does. */
  #repeats = new Map<number, number>();
  #lengths = new Map<string, number>();
  /** Numbers of commits that pages began with. */
  readonly #noted = new Map<string, number>();

  constructor(reader: CommitReader) {
    this.#reader = reader;
  }

  get count(): number {
    this.#extend();
    return this.#count;
  }

  /** Notes what was appended; all of it again where commits were cut. */
  #extend(): void {
    const reader = this.#reader;
    if (this.#revision !== reader.revision) {
      this.#revision = reader.revision;
      [this.#to, this.#count, this.#stretches] = [0, 0, []];
      this.#repeats = new Map();
      this.#lengths = new Map();
      this.#noted.clear();
    }
    const { end } = reader.log;
    if (this.#to === end) return;
    reader.each(
      ({ batch, address }) => {
        const { chain, first, commits } = batch;
        const known = this.#lengths.get(chain) ?? 0;
        const from = Math.max(0, known - first);
        const start = address - RECORD_HEADER_BYTES;
        const last = this.#stretches.at(-1);
        if (last === undefined || start - last.start >= STRETCH_BYTES) {
          this.#stretches.push({ start, before: this.#count });
        }
        if (from > 0) this.#repeats.set(address, from);
        this.#count += Math.max(0, commits.length - from);
        this.#lengths.set(chain, Math.max(known, first + commits.length));
      },
      this.#to,
      end,
    );
    this.#to = end;
  }

  /** Visits the commits from one of these numbers, in the log's order, to before another one. */
  each(
    from: number,
    to: number,
    visit: (logged: LoggedBatch, index: number) => void,
  ): void {
    this.#extend();
    const at = this.#stretches.findLastIndex(({ before }) => before <= from);
    if (at < 0 || from >= to) return;
    this.#readFrom(this.#stretches[at]!, (logged, count) => {
      const { from: first, batch: { commits } } = logged;
      for (let i = first; i < commits.length; i++) {
        const number = count + i - first;
        if (number >= to) return true;
        if (number < from) continue;
        if (number === from) this.#note(logged, i, number);
        visit(logged, i);
      }
      return false;
    });
  }

  /** The number of a commit that is known, in the log's order. */
  numberOf({ chain, number }: Position): number {
    this.#extend();
    const noted = this.#noted.get(`${chain}${number}`);
    if (noted !== undefined) return noted;
    const { address } = this.#reader.find(chain, number)!;
    const at = this.#stretches.findLastIndex(({ start }) => start < address);
    let found = -1;
    this.#readFrom(this.#stretches[at]!, (logged, count) => {
      if (logged.address !== address) return false;
      found = count + number - logged.batch.first - logged.from;
      return true;
    });
    return found;
  }

  /** The first commit of a page asks for the page before it. */
  #note(
    { batch: { chain, first } }: LoggedBatch,
    index: number,
    number: number,
  ) {
    if (this.#noted.size >= KEPT) this.#noted.clear();
    this.#noted.set(`${chain}${first + index}`, number);
  }

  /** Visits batches with how many commits stand before each, until one is enough. */
  #readFrom(
    { start, before }: Stretch,
    visit: (logged: LoggedBatch, count: number) => boolean,
  ): void {
    let count = before;
    this.#reader.each(({ batch, address }) => {
      const from = this.#repeats.get(address) ?? 0;
      const isEnough = visit({ batch, address, from }, count);
      count += Math.max(0, batch.commits.length - from);
      return isEnough;
    }, start);
  }
}
