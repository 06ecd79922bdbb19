/** Writing to what the process was given open: standard output and error. */

import { writeSync } from "node:fs";

/** How long a full pipe is left alone. */
const FULL_MS = 1;

/**
 * Writes some of the bytes and says how many. Waits where a pipe is full, also
 * where whoever made it set it not to block.
 */
export function writeDescriptor(descriptor: number, bytes: Uint8Array): number {
  for (;;) {
    try {
      return writeSync(descriptor, bytes);
    } catch (error) {
      if ((error as { code?: unknown }).code !== "EAGAIN") throw error;
      const cell = new Int32Array(new SharedArrayBuffer(4));
      Atomics.wait(cell, 0, 0, FULL_MS);
    }
  }
}
