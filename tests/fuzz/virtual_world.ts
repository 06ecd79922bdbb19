/**
 * A world that a seed replays: the clock moves when it is asked, the dice
 * follow from the seed, and timers fire only when nothing else can go on.
 *
 * @module
 */

import type { World } from "../../mod.ts";
import { seededRandom } from "../kit/mod.ts";

interface Timer {
  readonly dueMs: number;
  readonly task: () => void;
}

/** Microtasks that a promise of ours may need before it waits for a timer. */
const TURNS = 200;
/** Modules that are loaded when they are first wanted take turns that no timer of this world knows. */
const REAL_TURNS = 200;

/** See the file's header. */
export class VirtualWorld implements World {
  readonly #random: () => number;
  readonly #timers = new Set<Timer>();
  #nowMs = 1_800_000_000_000;

  /** @param seed what the dice follow from */
  constructor(seed: number) {
    this.#random = seededRandom(seed);
  }

  now(): number {
    return this.#nowMs;
  }

  monotonic(): number {
    return this.#nowMs;
  }

  random(target: Uint8Array): void {
    for (let i = 0; i < target.length; i++) {
      target[i] = Math.floor(this.#random() * 256);
    }
  }

  after(delayMs: number, task: () => void): () => void {
    const timer = { dueMs: this.#nowMs + delayMs, task };
    this.#timers.add(timer);
    return () => void this.#timers.delete(timer);
  }

  /** Lets time pass, and what is due with it. */
  async pass(ms: number): Promise<void> {
    const until = this.#nowMs + ms;
    for (
      let next = this.#next();
      next !== undefined && next.dueMs <= until;
      next = this.#next()
    ) {
      this.#fire(next);
      await this.idle();
    }
    this.#nowMs = Math.max(this.#nowMs, until);
  }

  /** Lets everything happen that waits for no timer. */
  async idle(): Promise<void> {
    for (let turn = 0; turn < TURNS; turn++) await undefined;
  }

  /** Waits for `promise`; fires timers, one by one, for as long as it needs them. */
  async settle<T>(promise: Promise<T>): Promise<T> {
    let isSettled = false;
    const settled = () => void (isSettled = true);
    promise.then(settled, settled);
    let turns = 0;
    for (await this.idle(); !isSettled; await this.idle()) {
      const next = this.#next();
      if (next !== undefined) this.#fire(next);
      else if (turns++ < REAL_TURNS) await realTurn();
      else throw new Error("A promise waits for nothing");
    }
    return await promise;
  }

  /** Forgets all timers: the process has died. */
  die(): void {
    this.#timers.clear();
  }

  #next(): Timer | undefined {
    let next: Timer | undefined;
    for (const timer of this.#timers) {
      if (next === undefined || timer.dueMs < next.dueMs) next = timer;
    }
    return next;
  }

  #fire(timer: Timer): void {
    this.#timers.delete(timer);
    this.#nowMs = Math.max(this.#nowMs, timer.dueMs);
    timer.task();
  }
}

/** A turn of the program's own loop. */
function realTurn(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 0));
}
