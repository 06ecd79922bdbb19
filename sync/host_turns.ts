/** Tasks in slices of time, each at most once in the queue. */

import { limits } from "../src/base/limits.ts";
import type { World } from "../src/base/world.ts";

/** After so many the clock is looked at. */
const TASKS = 4;

/** Runs what is to be done for many peers, and lets others in between. */
export class Turns {
  readonly #world: World;
  readonly #tasks = new Set<() => void>();
  #isRunning = false;
  #cancel: (() => void) | undefined;

  constructor(world: World) {
    this.#world = world;
  }

  /** Runs tasks, now as far as a turn goes. */
  add(tasks: Iterable<() => void>): void {
    for (const task of tasks) this.#tasks.add(task);
    if (!this.#isRunning && this.#cancel === undefined) this.#run();
  }

  /** A task is no longer wanted. */
  delete(task: () => void): void {
    this.#tasks.delete(task);
  }

  #run(): void {
    const end = this.#world.monotonic() + limits.fanOutMsMax;
    this.#isRunning = true;
    let count = 0;
    for (const task of this.#tasks) {
      this.#tasks.delete(task);
      task();
      // Looking at the clock costs as much as a short task.
      if (++count % TASKS === 0 && this.#world.monotonic() >= end) break;
    }
    this.#isRunning = false;
    if (this.#tasks.size === 0) return;
    this.#cancel = this.#world.after(0, () => {
      this.#cancel = undefined;
      this.#run();
    });
  }
}
