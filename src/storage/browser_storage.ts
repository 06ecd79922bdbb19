/**
 * What the storages of a browser have beside files: a term, which an opening
 * raises and which fences whoever had them open before, incidents, folders that
 * are prepared, and what can happen to their files, as coded errors.
 */

import type { Storage } from "./storage.ts";
import { DatabaseError } from "../base/errors.ts";
import { storageFailure } from "./failure.ts";

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
  /** Gives all handles back, so that the next opening need not wait. */
  close(): Promise<void>;
}

/** `open` of a file whose handle is not open. */
export function notPrepared(name: string): DatabaseError {
  return new DatabaseError(
    "storage-failed",
    `Cannot open ${name}: its folder was not prepared. Await prepare() first.`,
  );
}

/** `rename` of a file that is not there. */
export function missingForRename(name: string): DatabaseError {
  return storageFailure(`rename ${name}`, new Error("there is no such file"));
}

export function closedError(): DatabaseError {
  return new DatabaseError(
    "closed",
    "The storage is closed: open the database again",
  );
}

export function evicted(): DatabaseError {
  return new DatabaseError(
    "storage-evicted",
    "The browser has removed the database's files. Open the database again: it is filled from open tabs and the server.",
  );
}

/** Is there nothing left to look after: closed, removed, or another storage's? */
export function isOver({ code }: DatabaseError): boolean {
  return code === "closed" || code === "storage-evicted" ||
    code === "database-locked";
}

/**
 * Does `next` take the place of `first` as the reason why nothing is written any
 * more? The first failure stands, unless it turns out that the files are gone, or
 * another's.
 */
export function replaces(next: DatabaseError, first: DatabaseError): boolean {
  return !isOver(first) && isOver(next);
}

export function fileLost(name: string): DatabaseError {
  return new DatabaseError(
    "storage-evicted",
    `The browser has lost the file ${name}. What it held is fetched from the server.`,
  );
}

/** Names may be gone. */
export function tableDamaged(): DatabaseError {
  return new DatabaseError(
    "storage-failed",
    "The pool's table was damaged: names may be missing, and nothing is removed. What is missing is fetched from the server.",
  );
}

/** A younger storage has the pool. */
export function fencedError(): DatabaseError {
  return new DatabaseError(
    "database-locked",
    "Cannot write: another page has taken the database over. Nothing that was acknowledged is lost; " +
      "close this handle and open the database again.",
  );
}

/** Prepared folders, and how often each is: several may need one at a time. */
export class PreparedFolders {
  readonly #counts = new Map<string, number>();

  get size(): number {
    return this.#counts.size;
  }

  has(folder: string): boolean {
    return this.#counts.has(folder);
  }

  add(folder: string): void {
    this.#counts.set(folder, (this.#counts.get(folder) ?? 0) + 1);
  }

  remove(folder: string): boolean {
    const count = this.#counts.get(folder) ?? 0;
    if (count < 2) return this.#counts.delete(folder);
    this.#counts.set(folder, count - 1);
    return false;
  }
}
