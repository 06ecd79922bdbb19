/**
 * Memory as it is when a process has come to rest.
 *
 * @module
 */

const ROUNDS = 4;
const PAUSE_MS = 400;

/** Resident bytes after garbage was collected and the heap had time to give pages back. */
export async function restingBytes(): Promise<number> {
  for (let round = 0; round < ROUNDS; round++) {
    (globalThis as { gc?: () => void }).gc?.();
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
  }
  return Deno.memoryUsage().rss;
}
