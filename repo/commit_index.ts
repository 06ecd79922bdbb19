/**
 * Where each commit stands in the log, and its clock: (chain, number) → entry.
 *
 * Built by someone who feeds it decoded batches in log order, when it is first
 * needed: the door asks it for the clocks of parents that are not the end of
 * their chain, and history asks it where a commit's bytes are. Twenty-two bytes a
 * commit in flat arrays; a lookup is two array reads. Never reads the log.
 *
 * Architecture invariant: derived data is disposable (law 5).
 *
 * @module
 */

import { assert } from "../src/base/errors.ts";
import type { Hlc } from "../src/base/hlc.ts";
import type { Batch } from "./batch.ts";

/** Where one commit is. */
export interface CommitEntry extends Hlc {
  /** Log address of the record that holds its batch. */
  readonly address: number;
  /** Where the commit starts in the batch's bytes. */
  readonly offset: number;
}

const CAPACITY_FIRST = 16;

/** The columns of one chain, by number. */
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

  /**
   * Adds what a batch holds beyond the commits that are here already.
   * `address` is that of the log record whose body the batch is.
   */
  add(batch: Batch, address: number): void {
    const { chain, first, commits } = batch;
    const columns = this.#columnsOf(chain);
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

  #columnsOf(chain: string): ChainColumns {
    let columns = this.#chains.get(chain);
    if (columns === undefined) {
      this.#chains.set(chain, columns = new ChainColumns());
    }
    return columns;
  }

  /** Forgets the commits of a chain from a number on: they were withdrawn. */
  cut(chain: string, from: number): void {
    const columns = this.#chains.get(chain);
    if (columns === undefined) return;
    columns.length = Math.min(columns.length, from);
  }

  /** How many commits of a chain are in the index. */
  lengthOf(chain: string): number {
    return this.#chains.get(chain)?.length ?? 0;
  }

  /** Where a commit is; `undefined` when it is not in the index. */
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
