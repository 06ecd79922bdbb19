/**
 * What can happen to files that a browser holds, as coded errors.
 *
 * @module
 */

import { DatabaseError } from "../base/errors.ts";
import { storageFailure } from "./failure.ts";

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

/** Of everything after `close`. */
export function closedError(): DatabaseError {
  return new DatabaseError(
    "closed",
    "The storage is closed: open the database again",
  );
}

/** The whole pool is gone. */
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

/** One file is gone. */
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
