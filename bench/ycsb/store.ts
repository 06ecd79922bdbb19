/**
 * What YCSB asks of a database, whichever it is: its five operations, as its
 * class `DB` has them. Whatever an engine answers at once comes as a value and
 * not as a promise: awaiting would add a turn to a figure of a microsecond.
 *
 * @module
 */

import type { Durability } from "../harness/figure.ts";
import type { FieldName, Fields } from "./records.ts";

/** A value, or the promise of one. */
export type Soon<T> = T | PromiseLike<T>;

/** Nothing to wait for, or what resolves when the write is acknowledged. */
export type Done = Soon<unknown>;

/** A record that a scan found. */
export interface Found {
  readonly key: string;
  readonly fields: Fields;
}

/** One open table of records. */
export interface Store {
  /** What an acknowledged write has reached. */
  readonly durability: Durability;
  /** All fields of a record. */
  read(key: string): Soon<Fields | undefined>;
  /** The records from `key` on, at most `count`, in order of their keys. */
  scan(key: string, count: number): Soon<readonly Found[]>;
  /** Writes one field of a record that is there. */
  update(key: string, field: FieldName, value: string): Done;
  /** Adds a record. */
  insert(key: string, fields: Fields): Done;
  /** Adds many, in the way that is best for loading; untimed. */
  load(records: readonly Found[]): Done;
  /** Processes of the engine beside this one, by id; `undefined`: not known. */
  readonly others: readonly number[] | undefined;
  /** Learns how many operations will be in flight, before they come. */
  expect?(inFlight: number): void;
  close(): Done;
}
