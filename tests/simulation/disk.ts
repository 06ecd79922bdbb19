/**
 * The disk of one actor over all its lives.
 *
 * @module
 */

import { FaultyStorage, type Kept } from "../kit/mod.ts";
import type { Dice } from "./dice.ts";
import type { Timeline } from "./timeline.ts";

/** How a disk behaves. */
export interface DiskOptions {
  /** How long a sync takes at most; 0: it is done when it returns. */
  readonly syncMs: number;
}

/** See the file's header. */
export class Disk {
  readonly #timeline: Timeline;
  readonly #dice: Dice;
  readonly #options: DiskOptions;
  /** What the actor that lives now writes to. */
  storage: FaultyStorage;

  constructor(timeline: Timeline, dice: Dice, options: DiskOptions) {
    this.#timeline = timeline;
    this.#dice = dice;
    this.#options = options;
    this.storage = this.empty();
  }

  /** Another medium, with nothing on it. */
  empty(): FaultyStorage {
    const { syncMs } = this.#options;
    const identity = `medium ${this.#dice.between(1, 1e9)}`;
    if (syncMs === 0) return new FaultyStorage({ identity });
    return new FaultyStorage({
      identity,
      slow: (done) =>
        void this.#timeline.after(this.#dice.number() * syncMs, done),
    });
  }

  /** The process dies, and what was not synced may be lost later; with the power gone, only some of it stays. */
  crash(isPowerCut: boolean): string {
    const kept: Kept = !isPowerCut
      ? "all"
      : this.#dice.chance(0.25)
      ? "synced"
      : this.#dice.between(1, 1e6);
    const { storage } = this;
    storage.freeze();
    this.storage = isPowerCut
      ? storage.afterPowerCut(kept)
      : storage.nextProcess();
    return `kept ${kept}`;
  }

  /** Everything on it is gone. */
  wipe(): void {
    this.storage.freeze();
    this.storage = this.empty();
  }

  /** Flips a bit on a medium that nobody uses; gives the name of the file. */
  rot(): string | undefined {
    return this.storage.rot(this.#dice.number(), this.#dice.number());
  }

  /** A medium with what is durable on another disk. */
  copyOf(other: Disk): void {
    const copy = this.empty();
    copy.adopt(other.storage.powerCut("synced"), "");
    this.storage = copy;
  }

  /** Puts another medium in the place of this one, which nobody uses; gives it back. */
  exchange(other: FaultyStorage): FaultyStorage {
    const { storage } = this;
    this.storage = other;
    return storage;
  }
}
