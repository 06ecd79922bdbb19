/** Coded errors as data, between a tab and its owner. */

import { DatabaseError, type ErrorCode } from "../base/errors.ts";
import { limits } from "../base/limits.ts";
import type { Failure } from "./messages.ts";

/** What is told of an error; one that is none of ours gets the code `other`. */
export function failureOf(
  cause: unknown,
  other: ErrorCode = "storage-failed",
): Failure {
  const text = cause instanceof Error ? cause.message : String(cause);
  const message = text.slice(0, limits.tabTextMax);
  const code = cause instanceof DatabaseError ? cause.code : other;
  return { code, message };
}

export function errorOf({ code, message }: Failure): DatabaseError {
  // Both sides are one build (`TABS_VERSION`): what one calls a code is one to the other.
  return new DatabaseError(code as ErrorCode, message);
}

/** Codes of files that are no longer this owner's: its end comes at once. */
const GONE: ReadonlySet<string> = new Set([
  "closed",
  "database-locked",
  "storage-evicted",
]);

/** Did it fail because the files are no longer this owner's? A log says so of all that comes after. */
export function isGone(cause: unknown): boolean {
  return cause instanceof DatabaseError &&
    (GONE.has(cause.code) || isGone(cause.cause));
}
