/**
 * What the bench asks of a database, whichever it is.
 *
 * Both sides implement this one interface, and every workload is written once
 * against it; so both sides do the same work in the same order. Calls that an
 * engine can answer synchronously return a value, not a promise: awaiting
 * would add a microtask to a figure of a microsecond.
 *
 * @module
 */

import type { Change, Item } from "../harness/items.ts";

/** Sheaf's three modes. */
export type Mode = "default" | "trusted" | "fast";

/** Whoever runs: Sheaf in one of its modes, SQLite with one setting of `synchronous`. */
export type Contestant = Mode | "sqlite-full" | "sqlite-off";

/** Nothing to wait for, or a promise that resolves when the write is acknowledged. */
export type Done = Promise<unknown> | undefined;

/** How a database is laid out. */
export interface Shape {
  /** Does it have the indexes of {@linkcode ./items.ts}? */
  readonly indexed: boolean;
  /** Must old values be kept? (Sheaf always does.) */
  readonly history: boolean;
  /** May no other process read meanwhile? (With Sheaf none ever may.) */
  readonly exclusive: boolean;
  /** Does memory matter more than speed? (Sheaf has one setting for both.) */
  readonly frugal: boolean;
}

/** One engine with its settings. */
export interface Engine {
  /** Opens the database in `folder`, making it when it is missing. */
  open(folder: string, shape: Shape): Database | Promise<Database>;
}

/** One open database holding one collection of items. */
export interface Database {
  /** Closes it; everything is on disk afterwards. */
  close(): Done;
  /** Creates one item; done when acknowledged. */
  create(item: Item): Done;
  /** Creates each item by a write of its own, all asked for in one tick. */
  createConcurrently(items: readonly Item[]): Done;
  /** Creates all items in one transaction. */
  createBatch(items: readonly Item[]): Done;
  /** Changes one item; done when acknowledged. */
  update(change: Change): Done;
  /** Changes many items in one transaction. */
  updateBatch(changes: readonly Change[]): Done;
  /** One item by its id. */
  get(id: string): Item | undefined;
  /** The items with these ids that exist, in any order. */
  getMany(ids: readonly string[]): readonly Item[];
  /** Items with `from <= rank < to`, in any order. */
  inRankRange(from: number, to: number): readonly Item[];
  /** The author's items that are not done, highest rank first, at most `limit`. */
  topOpen(author: string, limit: number): readonly Item[];
  /** How many items there are. */
  count(): number;
  /** All ids, in any order. */
  keys(): readonly string[];
  /** All items, in any order. */
  all(): readonly Item[];
  /** Keeps the items with `from <= rank < to`, lowest rank first, up to date. */
  live(from: number, to: number, limit: number): Live;
}

/** A sorted result that follows the writes. */
export interface Live {
  /** Does the write itself happen inside {@linkcode Live.update}? */
  readonly countsWrite: boolean;
  /** The part of the write that is not timed. */
  before(change: Change): Done;
  /** Timed: done when the application holds the new result. */
  update(change: Change): Done;
  /** What is left to wait for; not timed. */
  after(): Done;
  /** The result as the application has it. */
  rows(): readonly Item[];
  /** Stops following. */
  close(): void;
}
