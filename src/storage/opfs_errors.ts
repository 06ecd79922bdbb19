/**
 * What can happen to a pool of files, as coded errors.
 *
 * @module
 */

import { DatabaseError } from "../base/errors.ts";

/** `open` of a file whose handle is not open. */
export function notPrepared(name: string): DatabaseError {
  return new DatabaseError(
    "storage-failed",
    `Cannot open ${name}: its folder was not prepared. Await prepare() first.`,
  );
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
