/**
 * Commits as the log holds them, and the choice of some: what pictures of the
 * past are made from.
 *
 * Types only.
 */

import type { LoggedBatch } from "../commit/batch.ts";
import type { Store } from "../log/store.ts";

export interface LoggedCommits {
  readonly log: Pick<Store, "records" | "end">;
  /**
   * Calls `visit` for every batch in the log order, parents before children,
   * without the batches that were cut, or had been when the log ended at
   * `asOf`. Stops when it returns `true`; says where.
   *
   * @param lengths of chains before `from`: it goes on with them
   */
  each(
    visit: (logged: LoggedBatch) => boolean | void,
    from?: number,
    to?: number,
    asOf?: number,
    lengths?: Map<string, number>,
  ): number;
  /** Was a commit cut whose batch stands at `address`, or had it been when the log ended at `asOf`? */
  isCut(
    chain: string,
    number: number,
    address: number,
    asOf?: number,
  ): boolean;
  /** Was a commit refused or cut whose batch stands at `address`, or had it been when the log ended at `asOf`? */
  isVoid(
    chain: string,
    number: number,
    address: number,
    asOf?: number,
  ): boolean;
}

export interface Includes {
  (chain: string, number: number, wall: number): boolean;
  /** How many they are, where that is known. */
  readonly count?: number;
}
