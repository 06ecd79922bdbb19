/**
 * The world of one life of one actor: a clock that may be wrong, dice, and
 * timers that its death takes back.
 *
 * @module
 */

import type { World } from "../../src/base/world.ts";
import type { Dice } from "./dice.ts";
import type { Timeline } from "./timeline.ts";

/** When every simulation begins. */
export const BEGIN_MS = 1_800_000_000_000;

/** A wall clock that an actor keeps over its lives. */
export interface WallClock {
  /** How far it is ahead of true time. */
  offsetMs: number;
  /** How fast it goes: 1 is right. */
  readonly rate: number;
}

/** See the file's header. */
export class ActorWorld implements World {
  readonly #timeline: Timeline;
  readonly #clock: WallClock;
  readonly #bornMs: number;
  #isDead = false;
  readonly random: (target: Uint8Array) => void;

  constructor(timeline: Timeline, clock: WallClock, dice: Dice) {
    this.#timeline = timeline;
    this.#clock = clock;
    this.#bornMs = timeline.nowMs;
    this.random = dice.fill;
  }

  now(): number {
    const { offsetMs, rate } = this.#clock;
    return Math.floor(BEGIN_MS + offsetMs + this.#timeline.nowMs * rate);
  }

  monotonic(): number {
    return this.#timeline.nowMs - this.#bornMs;
  }

  after(delayMs: number, task: () => void): () => void {
    return this.#timeline.after(delayMs, () => {
      if (!this.#isDead) task();
    });
  }

  /** Is this life over? */
  get isDead(): boolean {
    return this.#isDead;
  }

  /** Nothing that was planned happens any more. */
  die(): void {
    this.#isDead = true;
  }
}
