/**
 * Changes of a file that took place in whole, or throw. In Chromium's private
 * windows nothing is thrown when they fail: a write answers with a negative
 * error number that has lost its sign, and a file that should grow does not.
 *
 * @module
 */

import type { AccessHandle } from "./opfs_types.ts";

/** Chromium's number of a medium without room. */
const NO_SPACE = -8;
/** Chromium's number of a file that is not there any more. */
const REMOVED = -4;

/**
 * Writes all bytes; when it throws, some of them may stand there. A file that
 * the browser has removed takes them to nowhere, in private windows and
 * elsewhere: the storage's watch sees that, and all is written anew.
 */
export function writeAll(
  handle: AccessHandle,
  bytes: Uint8Array,
  at: { at: number },
): void {
  const count = handle.write(bytes, at) | 0;
  if (count === bytes.length || count === REMOVED) return;
  throw new DOMException(
    `the browser took ${count} of ${bytes.length} bytes`,
    count >= 0 || count === NO_SPACE ? "QuotaExceededError" : "UnknownError",
  );
}

/** Cuts the file, or extends it with zeros. */
export function resize(handle: AccessHandle, length: number): void {
  handle.truncate(length);
  if (handle.getSize() >= length) return;
  throw new DOMException(
    `the browser gives it no ${length} bytes`,
    "QuotaExceededError",
  );
}
