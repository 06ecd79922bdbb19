/**
 * A collection as its readers see it: items by ordinal, and columns.
 *
 * Items are numbered by **ordinals** 0, 1, 2 … in the order they became known;
 * an ordinal is never reused while the repository is open. Ordinals are local:
 * nothing that a user sees may depend on their order. The repository implements
 * {@linkcode Source}, the query engine reads it; neither knows the other.
 */

import type { Item } from "./patch.ts";

/** Numbers, booleans (0, 1) and dates (milliseconds) of one field; NaN is absent. */
export interface NumberColumn {
  readonly kind: "number";
  /** What the values are in the items. */
  readonly type: "number" | "boolean" | "date";
  /** By ordinal; may be longer than the source. The owner replaces it when it grows: read it anew for each use. */
  readonly values: Float64Array;
}

export interface WordColumn {
  readonly kind: "word";
  /** By ordinal: index into `words`; 0 is absent. Read it anew for each use. */
  readonly codes: Uint32Array;
  /** `words[0]` is `undefined`. In order of first use, not sorted. */
  readonly words: readonly (string | undefined)[];
  /** The code of a word, `undefined` when no item ever had it. */
  codeOf(word: string): number | undefined;
}

export type Column = NumberColumn | WordColumn;

export interface ItemChange {
  readonly ordinal: number;
  readonly before: Item | undefined;
  readonly after: Item | undefined;
}

export interface Source {
  /** Ordinals handed out so far, deleted ones included. */
  readonly size: number;
  /** Items that are there. */
  readonly count: number;
  /** -1 when the id was never known. */
  ordinalOf(id: string): number;
  idAt(ordinal: number): string;
  /** `undefined` when deleted. Same object as long as the item does not change. */
  itemAt(ordinal: number): Item | undefined;
  /**
   * Reads the items of these ordinals at once, where they are not in memory: a
   * few large reads instead of many small ones. `itemAt` works without it.
   */
  load?(ordinals: ArrayLike<number>): void;
  /** Cheaper than `itemAt` when the item is not in memory. */
  isLive(ordinal: number): boolean;
  /** All live items in ordinal order. */
  items(): readonly Item[];
  /**
   * A column of a scalar field, built on first use and kept up to date;
   * `undefined` when it has too many words or mixed types.
   */
  column(field: string): Column | undefined;
  /** The same in steps, between which items may change. */
  columnSteps(field: string): Generator<void, Column | undefined>;
  hasColumn(field: string): boolean;
  /**
   * Ordinals in the order of these fields and then of ids, as an index had them
   * when the source was saved, without those that changed since: in steps.
   * Whoever changes while it is read may be in it.
   */
  storedOrder?(
    fields: readonly string[],
  ): Generator<void, Uint32Array | undefined>;
  /** Saves an index's order with the source, as `take` gives it then; none any more without `take`. */
  keepOrder?(
    fields: readonly string[],
    take: (() => Uint32Array) | undefined,
  ): void;
  /** Indexes hear of no changes from now on: orders are as they are until the next one. */
  leaveOrders?(): void;
  /** Hears every transaction that changed the collection, after it is applied as a whole. */
  subscribe(listener: (changes: readonly ItemChange[]) => void): () => void;
}
