/**
 * What the stress suite asks of a database, whichever it is, in Deno or in a
 * page. Every piece of work is written once against it.
 *
 * Calls that an engine answers synchronously give a value and no promise:
 * awaiting would add a turn to a figure of a microsecond.
 *
 * @module
 */

import type { Ask } from "./asks.ts";
import type { Change, Player } from "./players.ts";

/** Nothing to wait for, or what resolves when the write is acknowledged. */
export type Done = PromiseLike<unknown> | undefined;

/** One open database with the players. */
export interface PlayerStore {
  create(player: Player): Done;
  /** In one transaction. */
  createMany(players: readonly Player[]): Done;
  update(change: Change): Done;
  /** In one transaction. */
  updateMany(changes: readonly Change[]): Done;
  /** Writes players whole, here or not, whatever has changed, in one transaction. */
  saveAll(players: readonly Player[]): Done;
  remove(id: string): Done;
  /** In one transaction. */
  removeMany(ids: readonly string[]): Done;
  get(id: string): Player | undefined;
  /** The players with these ids that exist, in any order. */
  getMany(ids: readonly string[]): readonly Player[];
  /** Those that answer the question, in its order if it has one. */
  ask(ask: Ask): readonly Player[];
  count(): number;
  /** How many answer the question. */
  countOf(ask: Ask): number;
  /** By score, highest first: at most `limit` players behind `last`, or the first. */
  pageAfter(last: Player | undefined, limit: number): readonly Player[];
  /** By score, highest first: `limit` players after the first `offset`. */
  pageAt(offset: number, limit: number): readonly Player[];
  /** The scores that a player ever had, oldest first; only where history is kept. */
  scoresOf(id: string): readonly number[];
  close(): Done;
}
