/**
 * Memory: is there room for more? What is accepted takes up to sixty times its
 * bytes, and a process without room ends, with every repository that it has open.
 *
 * @module
 */

import { getHeapStatistics, setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

/** The other half is for what is being judged, opened and written: a map of millions that grows takes a quarter. */
const FULL = 0.5;
/** Collecting for an answer takes no more than this part of the time. */
const COLLECTING = 0.1;

/** What is asked of the platform. */
export interface Heap {
  /** The part of its limit that is used, also by what nobody needs any more. */
  readonly used: () => number;
  /** Frees what nobody needs any more, at once. */
  readonly collect: () => void;
}

/** The heap of this process. */
export const processHeap: Heap = {
  used() {
    const { used_heap_size, heap_size_limit } = getHeapStatistics();
    return used_heap_size / heap_size_limit;
  },
  collect() {
    try {
      setFlagsFromString("--expose-gc");
      runInNewContext("gc")();
    } catch {
      // Elsewhere it is collected when the platform likes to.
    }
  },
};

/** Says when a heap is full. */
export class Memory {
  readonly #heap: Heap;
  readonly #monotonic: () => number;
  /** Nothing is collected for an answer before. */
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
