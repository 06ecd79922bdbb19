/**
 * What a medium's failures mean: one coded error for each, which says what to
 * do and keeps the error underneath as its cause.
 */

import { DatabaseError, type ErrorCode } from "../base/errors.ts";

const CODES: Readonly<Record<string, ErrorCode>> = {
  ENOSPC: "storage-full",
  EDQUOT: "storage-full",
  EFBIG: "storage-full",
  EROFS: "storage-readonly",
  EACCES: "permission-denied",
  EPERM: "permission-denied",
  ENOTDIR: "invalid-path",
  EISDIR: "invalid-path",
  EEXIST: "invalid-path",
  ENAMETOOLONG: "invalid-path",
  ELOOP: "invalid-path",
  EINVAL: "storage-failed",
};

/** Deno's classes and browsers' exceptions, for errors that carry no code of the operating system. */
const CLASSES: Readonly<Record<string, ErrorCode>> = {
  QuotaExceededError: "storage-full",
  NoModificationAllowedError: "database-locked",
  SecurityError: "permission-denied",
  NotCapable: "permission-denied",
  PermissionDenied: "permission-denied",
  NotADirectory: "invalid-path",
  IsADirectory: "invalid-path",
  AlreadyExists: "invalid-path",
  FilesystemLoop: "invalid-path",
};

const ADVICE: Partial<Record<ErrorCode, string>> = {
  "storage-full": "Free some space on the medium and open the database again.",
  "storage-readonly":
    "Make the medium writable, or open the database with `readOnly: true` to read it.",
  "permission-denied":
    "Give this process the right to read and write it (with Deno also --allow-read and --allow-write), " +
    "or open the database with `readOnly: true` to read it.",
  "invalid-path": "Choose a path that is a folder or can become one.",
  "database-locked":
    "Another page has it open: close that one, or use its handle.",
  "storage-failed":
    "Check the medium, then open the database again: what was acknowledged is kept.",
};

/** The coded error for `cause`, which happened while trying to do `what`. */
export function storageFailure(what: string, cause: unknown): DatabaseError {
  if (cause instanceof DatabaseError) return cause;
  const code = codeOf(cause);
  const why = cause instanceof Error ? cause.message : String(cause);
  return new DatabaseError(
    code,
    `Cannot ${what}: ${why}. ${ADVICE[code]}`,
    { cause },
  );
}

/** The error of every write after a sync that failed: its data may be gone. */
export function lostForWriting(
  what: string,
  first: DatabaseError,
): DatabaseError {
  return new DatabaseError(
    "storage-readonly",
    `Cannot ${what}: an earlier sync failed (${first.message}) and what it covered may be lost. ` +
      `Close the database and open it again to recover.`,
    { cause: first },
  );
}

function codeOf(cause: unknown): ErrorCode {
  if (!(cause instanceof Error)) return "storage-failed";
  const { code } = cause as { code?: unknown };
  const known = typeof code === "string" ? CODES[code] : undefined;
  return known ?? CLASSES[cause.name] ?? "storage-failed";
}
