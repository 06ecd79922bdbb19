/**
 * Memory: is there room for more? What is accepted takes up to eighty times its
 * bytes, and a process without room ends, with all that it has open.
 *
 * One of the few files that may touch the platform.
 */

import { builtin } from "./system.ts";

/** The other half is for what is being judged, opened and written: a map of millions that grows takes a quarter. */
const FULL = 0.5;
/** Collecting for an answer takes no more than this part of the time. */
const COLLECTING = 0.1;

export interface Heap {
  /** The part of its limit that is used, also by what nobody needs any more. */
  readonly used: () => number;
  /** Frees what nobody needs any more, at once. */
  readonly collect: () => void;
}

/** The heap of this process; where nobody tells, as in Firefox and in workers, it is never full. */
export const processHeap: Heap = {
  used() {
    const v8 = builtin<typeof import("node:v8")>("node:v8");
    if (v8 === undefined) return usedInPage();
    const { used_heap_size, heap_size_limit } = v8.getHeapStatistics();
    return partOf(used_heap_size, heap_size_limit);
  },
  collect() {
    try {
      builtin<typeof import("node:v8")>("node:v8")!
        .setFlagsFromString("--expose-gc");
      builtin<typeof import("node:vm")>("node:vm")!.runInNewContext("gc")();
    } catch {
      // Elsewhere it is collected when the platform likes to.
    }
  },
};

/** V8's limit has room for what is young, too, which nothing that stays can take. */
const YOUNG_BYTES = 96 * 1024 * 1024;

function partOf(used: number, limit: number): number {
  return used / Math.max(limit - YOUNG_BYTES, limit / 2);
}

interface PageMemory {
  readonly usedJSHeapSize: number;
  readonly jsHeapSizeLimit: number;
}

/** Pages of Chromium know. */
function usedInPage(): number {
  const { memory } = performance as { readonly memory?: PageMemory };
  if (memory === undefined) return 0;
  return partOf(memory.usedJSHeapSize, memory.jsHeapSizeLimit);
}

export class Memory {
  readonly #heap: Heap;
  readonly #monotonic: () => number;
  #nextMs = -Infinity;

  constructor(heap: Heap, monotonic: () => number) {
    this.#heap = heap;
    this.#monotonic = monotonic;
  }

  /** Is there no room for more? */
  isFull(): boolean {
    const { used, collect } = this.#heap;
    if (used() < FULL) return false;
    const fromMs = this.#monotonic();
    if (fromMs >= this.#nextMs) {
      collect();
      const nowMs = this.#monotonic();
      this.#nextMs = nowMs + (nowMs - fromMs) / COLLECTING;
    }
    return used() >= FULL;
  }
}
