/**
 * A server's clock, as it is known on a device whose own may be wrong.
 *
 * What a server says of its time was true when it left, so an estimate that
 * starts there is never ahead of the server, whatever becomes of this device's
 * wall clock: time goes on by whichever of its two clocks has gone further.
 * The monotonic one stands still in machines that sleep, the wall clock is set.
 */

import { limits } from "./limits.ts";
import type { World } from "./world.ts";

/** This device's clocks at one moment, in milliseconds. */
export interface Clocks {
  /** Wall milliseconds since 1970. */
  readonly nowMs: number;
  /** Milliseconds that never go back. */
  readonly monotonicMs: number;
}

/** What a server's clock shows at any moment after it was read. */
export class ServerTime {
  readonly #serverMs: number;
  readonly #heard: Clocks;

  /**
   * @param serverMs the server's wall clock, in milliseconds since 1970
   * @param heard when that was heard
   */
  constructor(serverMs: number, { nowMs, monotonicMs }: Clocks) {
    this.#serverMs = serverMs;
    this.#heard = { nowMs, monotonicMs };
  }

  /** Milliseconds since 1970. */
  at({ nowMs, monotonicMs }: Clocks): number {
    const heard = this.#heard;
    const passedMs = Math.max(
      0,
      monotonicMs - heard.monotonicMs,
      nowMs - heard.nowMs,
    );
    return this.#serverMs + passedMs;
  }
}

/**
 * A world whose wall clock follows a server's once it was heard. A server that
 * lies moves it by `clockCorrectionMsMax` at most, however often it is heard.
 */
export class FollowingWorld implements World {
  readonly #world: World;
  #time: ServerTime | undefined;

  constructor(world: World) {
    this.#world = world;
  }

  /** Follows a server whose clock shows `offsetMs` more than this device's does now. */
  follow(offsetMs: number): void {
    const isBelieved = Math.abs(offsetMs) <= limits.clockCorrectionMsMax;
    const clocks = this.#clocks();
    this.#time = isBelieved
      ? new ServerTime(clocks.nowMs + offsetMs, clocks)
      : undefined;
  }

  #clocks(): Clocks {
    const world = this.#world;
    return { nowMs: world.now(), monotonicMs: world.monotonic() };
  }

  now(): number {
    return this.#time?.at(this.#clocks()) ?? this.#world.now();
  }

  monotonic(): number {
    return this.#world.monotonic();
  }

  random(target: Uint8Array): void {
    this.#world.random(target);
  }

  after(delayMs: number, task: () => void): () => void {
    return this.#world.after(delayMs, task);
  }
}
