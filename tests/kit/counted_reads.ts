/**
 * Counts what is read of a storage: work that grows with what it should not
 * grow with shows here on every machine.
 *
 * @module
 */

import type { Storage } from "../../src/storage/storage.ts";

/** What was read. */
export interface Reads {
  calls: number;
  bytes: number;
}

/** Counts from now on, of files that are opened from now on; a reading beyond `bytesMax` fails. */
export function countReads(storage: Storage, bytesMax = Infinity): Reads {
  const reads = { calls: 0, bytes: 0 };
  const open = storage.open.bind(storage);
  storage.open = (...asked) => {
    const file = open(...asked);
    if (file === undefined) return file;
    const readAt = file.readAt.bind(file);
    file.readAt = (target, offset) => {
      const size = readAt(target, offset);
      reads.calls++;
      reads.bytes += size;
      if (reads.bytes > bytesMax) {
        throw new Error(`More than ${bytesMax} bytes are read`);
      }
      return size;
    };
    return file;
  };
  return reads;
}
