/**
 * Where a client keeps what lets its next connection go on: a file that is
 * never synced, so that a crash leaves an old one, half of one, or none.
 *
 * @module
 */

import { DatabaseError } from "../../src/base/errors.ts";
import type { Storage } from "../../src/storage/storage.ts";

const FOLDER = "resume";

/** What was kept last; `undefined` when nothing was. */
export function loadResume(
  storage: Storage,
  index: number,
): Uint8Array | undefined {
  const file = storage.open(`${FOLDER}/${index}`);
  if (file === undefined) return undefined;
  const bytes = new Uint8Array(file.size());
  file.readAt(bytes, 0);
  file.close();
  return bytes;
}

/** Keeps it, where the disk has room. */
export function saveResume(
  storage: Storage,
  index: number,
  bytes: Uint8Array,
): void {
  try {
    storage.makeFolder(FOLDER);
    const file = storage.open(`${FOLDER}/${index}`, { create: true })!;
    file.truncate(bytes.length);
    file.writeAt(bytes, 0);
    file.close();
  } catch (cause) {
    if (!(cause instanceof DatabaseError)) throw cause;
  }
}
