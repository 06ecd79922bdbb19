/**
 * Virtual time: one queue of everything that is going to happen.
 *
 * Events run one at a time, in the order of their time and, at one time, of
 * being planned. Between two of them all promises that wait for nothing else
 * get their turns, until none is left: so a run depends on nothing but its
 * seed.
 *
 * Architecture invariant: nothing in a simulation waits for the real world.
 *
 * @module
 */

import { indexes } from "../../src/query/indexes.ts";
import { lateIndexes } from "../../src/query/late_indexes.ts";
import { lateRich } from "../../src/schema/late_rich.ts";
import { rich } from "../../src/schema/rich.ts";

// What is loaded where it is used is here already: nobody waits for its file.
await Promise.all([
  import("prom-client"),
  import("../../crypto/ed25519.ts"),
  import("../../repo/admission/constraints.ts"),
  import("../../repo/log/unclean.ts"),
  import("../../repo/refusal/refusing.ts"),
  import("../../repo/seldom.ts"),
  import("../../src/db/deletion.ts"),
  import("../../src/db/online.ts"),
  import("../../src/db/overwritten_edits.ts"),
  import("../../src/db/overwritten_reader.ts"),
  import("../../src/db/undo_history.ts"),
]);

lateIndexes.provide(indexes);
lateRich.provide(rich);

interface Event {
  readonly atMs: number;
  readonly order: number;
  task: (() => void) | undefined;
}

/** What Deno keeps for itself. */
interface Inner {
  readonly internal: symbol;
  readonly [inner: symbol]: { readonly core: { runMicrotasks(): void } };
}

const inner = Deno as unknown as Inner;

/**
 * Runs all microtasks, and those that they queue, before it returns. There is
 * no public way to do so; to leave and enter the program's own loop after every
 * event takes many times as long. Does nothing within a microtask.
 */
const { runMicrotasks } = inner[inner.internal]!.core;

/** Events in a row at one moment: more are a loop that never ends. */
const AT_ONCE_MAX = 20_000;

/** Events of one run: the longest have a tenth of it. */
const EVENTS_MAX = 500_000;

/** See the file's header. */
export class Timeline {
  readonly #heap: Event[] = [];
  #order = 0;
  #nowMs = 0;
  #atOnce = 0;
  /** How many events ran. */
  events = 0;

  /** Milliseconds since the simulation began. */
  get nowMs(): number {
    return this.#nowMs;
  }

  /** Plans `task`; the result takes it back. */
  after(delayMs: number, task: () => void): () => void {
    const wait = Number.isFinite(delayMs) ? Math.max(0, delayMs) : 0;
    const event: Event = {
      atMs: this.#nowMs + wait,
      order: this.#order++,
      task,
    };
    this.#push(event);
    return () => void (event.task = undefined);
  }

  /** Runs everything up to a moment. */
  runUntil(endMs: number, isOver: () => boolean = never): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    setImmediate(() => {
      try {
        resolve(this.#runUntil(endMs, isOver));
      } catch (cause) {
        reject(cause);
      }
    });
    return promise;
  }

  #runUntil(endMs: number, isOver: () => boolean): void {
    runMicrotasks();
    while (!isOver()) {
      const next = this.#heap[0];
      if (next === undefined || next.atMs > endMs) break;
      this.#run(this.#pop());
    }
    if (!isOver() && endMs < Infinity) {
      this.#nowMs = Math.max(this.#nowMs, endMs);
    }
  }

  /** Lets time pass until a promise is settled. */
  async settle<T>(promise: Promise<T>): Promise<T> {
    let isSettled = false;
    const settled = () => void (isSettled = true);
    promise.then(settled, settled);
    await this.runUntil(Infinity, () => isSettled);
    if (!isSettled) throw new Error("A promise waits for nothing");
    return await promise;
  }

  #run({ atMs, task }: Event): void {
    if (task === undefined) return;
    this.#atOnce = atMs - this.#nowMs > 1e-6 ? 0 : this.#atOnce + 1;
    if (this.#atOnce > AT_ONCE_MAX) {
      throw new Error("livelock: time does not go on");
    }
    this.#nowMs = Math.max(this.#nowMs, atMs);
    this.events++;
    if (this.events > EVENTS_MAX) {
      throw new Error(`endless: more than ${EVENTS_MAX} events`);
    }
    task();
    runMicrotasks();
  }

  #push(event: Event): void {
    const heap = this.#heap;
    let at = heap.push(event) - 1;
    while (at > 0) {
      const up = (at - 1) >> 1;
      if (isBefore(heap[up]!, event)) break;
      heap[at] = heap[up]!;
      at = up;
    }
    heap[at] = event;
  }

  #pop(): Event {
    const heap = this.#heap;
    const first = heap[0]!;
    const last = heap.pop()!;
    if (heap.length === 0) return first;
    let at = 0;
    for (;;) {
      let down = 2 * at + 1;
      if (down >= heap.length) break;
      if (down + 1 < heap.length && isBefore(heap[down + 1]!, heap[down]!)) {
        down++;
      }
      if (isBefore(last, heap[down]!)) break;
      heap[at] = heap[down]!;
      at = down;
    }
    heap[at] = last;
    return first;
  }
}

function never(): boolean {
  return false;
}

function isBefore(a: Event, b: Event): boolean {
  return a.atMs === b.atMs ? a.order < b.order : a.atMs < b.atMs;
}
