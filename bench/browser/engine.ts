/**
 * What every database of the browser bench can do: the same work, done as its
 * own documentation says.
 *
 * @module
 */

import type { Item } from "../harness/items.ts";

/** A promise where the engine needs one. */
export type Soon<T> = T | Promise<T>;

/** One database in a page. */
export interface PageEngine {
  /**
   * Opens what is there. Gives the moment at which its worker was up, where it
   * has one.
   */
  open(): Promise<number | undefined>;
  close(): Soon<void>;
  /** Writes all; kept when they survive a crash of the machine, as far as it can tell. */
  createMany(items: readonly Item[]): Promise<void>;
  /** Writes one; kept as {@linkcode createMany}. */
  create(item: Item): Promise<void>;
  /** Writes one; kept when this page can read it. */
  createSoon(item: Item): Soon<void>;
  get(id: string): Soon<Item | undefined>;
  /** Items of an author that are not done, lowest ranks first. */
  open50(author: string): Soon<readonly Item[]>;
  /** Gives an item another rank; not awaited longer than `createSoon`. */
  move(id: string, rank: number): Soon<void>;
  /** Tells each new answer of {@linkcode open50}; gives what ends that. */
  watch(
    author: string,
    listener: (items: readonly Item[]) => void,
  ): Soon<() => void>;
}

/** Rows of an answer. */
export const pageLimit = 50;

/** As stored where an index cannot hold booleans. */
export type Stored = Omit<Item, "done"> & { readonly done: 0 | 1 };

export function toStored(item: Item): Stored {
  return { ...item, done: item.done ? 1 : 0 };
}

export function fromStored(stored: Stored): Item {
  return { ...stored, done: stored.done === 1 };
}
