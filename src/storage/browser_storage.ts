/**
 * What the storages of a browser have beside files: a term, which an opening
 * raises and which fences whoever had them open before, and incidents.
 *
 * @module
 */

import type { Storage, StorageUsage } from "./storage.ts";

/** What may happen to a browser's storage. */
export type IncidentCode =
  /** The browser has removed files. */
  | "storage-evicted"
  /** Little room is left. */
  | "storage-nearly-full"
  /** A write was refused for want of room. */
  | "storage-full"
  /** A younger storage has taken over: this one writes no more. */
  | "database-locked"
  /** The medium failed. */
  | "storage-failed";

/** Something that the app's user should know. */
export interface StorageIncident {
  readonly code: IncidentCode;
  /** Milliseconds since 1970. */
  readonly at: number;
  readonly message: string;
}

/** A storage whose files a browser holds. */
export interface BrowserStorage extends Storage {
  /** Grows with every opening, also after crashes and evictions. */
  readonly term: number;
  /** Can it be opened anew while this one still lives, frozen perhaps? */
  readonly canBeStolen: boolean;
  prepare(folder: string): Promise<void>;
  release(folder: string): void;
  /** Calls `onIncident` from now on, at first with what opening found; the result ends it. */
  watch(onIncident: (incident: StorageIncident) => void): () => void;
  /** Asks the browser; `usage()` gives the last answer. */
  refresh(): Promise<StorageUsage>;
  /** Gives all handles back, so that the next opening need not wait. */
  close(): Promise<void>;
}
