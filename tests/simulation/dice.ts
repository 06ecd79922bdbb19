/**
 * Everything that is left to chance, from one seed.
 *
 * Each part of a simulation throws dice of its own, so that what one of them
 * asks for does not change what the others get.
 *
 * @module
 */

import { seededRandom } from "../kit/mod.ts";

/** Dice that a seed replays. */
export class Dice {
  readonly #seed: number;
  readonly #next: () => number;
  #forks = 0;

  /** @param seed what all throws follow from */
  constructor(seed: number) {
    this.#seed = seed >>> 0;
    this.#next = seededRandom(this.#seed);
  }

  /** Dice of their own for a part of the simulation. */
  fork(): Dice {
    const fork = ++this.#forks;
    return new Dice(Math.imul(this.#seed ^ 0x9e3779b9, 2 * fork + 1) ^ fork);
  }

  /** A number in [0, 1). */
  readonly number = (): number => this.#next();

  /** A whole number in [from, to]. */
  between(from: number, to: number): number {
    return from + Math.floor(this.#next() * (to - from + 1));
  }

  /** Does what happens in this share of all cases happen? */
  chance(share: number): boolean {
    return this.#next() < share;
  }

  /** One of a list. */
  pick<T>(list: readonly T[]): T {
    return list[Math.floor(this.#next() * list.length)]!;
  }

  /** A waiting time with this mean, as between events that know nothing of each other. */
  wait(meanMs: number): number {
    return -Math.log(1 - this.#next()) * meanMs;
  }

  /** Fills with bytes, as a `World` does. */
  readonly fill = (target: Uint8Array): void => {
    for (let i = 0; i < target.length; i++) {
      target[i] = Math.floor(this.#next() * 256);
    }
  };
}
