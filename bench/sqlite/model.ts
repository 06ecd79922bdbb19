/**
 * What a database must hold: the plain truth that answers are held against.
 *
 * Three numbers an item; the rest of an item follows from its number.
 * Everything here is computed outside the timed parts.
 *
 * @module
 */

import {
  authorName,
  authorNumberOf,
  type Change,
  doneOf,
  idOf,
  type Item,
  itemAt,
  rankEnd,
  rankOf,
} from "../harness/items.ts";

/** The state of one collection as the bench has written it. */
export class Model {
  #size: number;
  #columns: Columns | undefined;
  #changes = 0;

  constructor(size: number) {
    this.#size = size;
  }

  /** How many items there are. */
  get size(): number {
    return this.#size;
  }

  /** Item `index` as it is now. */
  item(index: number): Item {
    const columns = this.#columns;
    if (columns === undefined) return itemAt(index);
    return itemAt(index, columns.done[index] === 1, columns.ranks[index]);
  }

  /** The item that a create will add next. */
  next(ahead = 0): Item {
    return itemAt(this.#size + ahead);
  }

  /** Notes that the next `count` items were created. */
  grow(count: number): void {
    const size = this.#size + count;
    if (this.#columns !== undefined) {
      this.#columns = growColumns(this.#columns, this.#size, size);
    }
    this.#size = size;
  }

  /** An update of item `index`: its state turned over and a rank nobody has. */
  change(index: number): Change {
    const columns = this.#filled();
    this.#changes++;
    // Numbers far above any size: their ranks are new as well.
    return {
      id: idOf(index),
      done: columns.done[index] === 0,
      rank: rankOf(rankEnd / 2 + this.#changes),
    };
  }

  /** Notes that `change` was made to item `index`. */
  apply(index: number, change: Change): void {
    const columns = this.#filled();
    columns.done[index] = change.done ? 1 : 0;
    columns.ranks[index] = change.rank;
  }

  /** Numbers of the items with `from <= rank < to`, lowest rank first. */
  inRankRange(from: number, to: number): number[] {
    const { ranks } = this.#filled();
    const hits: number[] = [];
    for (let index = 0; index < this.#size; index++) {
      const rank = ranks[index] ?? 0;
      if (rank >= from && rank < to) hits.push(index);
    }
    return hits.sort((a, b) => (ranks[a] ?? 0) - (ranks[b] ?? 0));
  }

  /** Numbers of the author's items that are not done, highest rank first. */
  topOpen(author: string, limit: number): number[] {
    const { ranks, done } = this.#filled();
    const hits: number[] = [];
    for (let index = 0; index < this.#size; index++) {
      if (done[index] === 0 && authorName(authorNumberOf(index)) === author) {
        hits.push(index);
      }
    }
    return hits.sort((a, b) => (ranks[b] ?? 0) - (ranks[a] ?? 0)).slice(
      0,
      limit,
    );
  }

  #filled(): Columns {
    this.#columns ??= growColumns(
      { ranks: new Int32Array(0), done: new Uint8Array(0) },
      0,
      this.#size,
    );
    return this.#columns;
  }
}

interface Columns {
  readonly ranks: Int32Array;
  readonly done: Uint8Array;
}

/** Columns that reach to `size`, with the items from `filled` on as created. */
function growColumns(old: Columns, filled: number, size: number): Columns {
  let columns = old;
  if (size > old.ranks.length) {
    const capacity = Math.max(size, Math.ceil(old.ranks.length * 1.5));
    columns = {
      ranks: new Int32Array(capacity),
      done: new Uint8Array(capacity),
    };
    columns.ranks.set(old.ranks);
    columns.done.set(old.done);
  }
  for (let index = filled; index < size; index++) {
    columns.ranks[index] = rankOf(index);
    columns.done[index] = doneOf(index) ? 1 : 0;
  }
  return columns;
}
