/**
 * A wire whose incoming frames are dealt with as fast as their sender may cost
 * work: what comes faster waits, and who sends on is a flood.
 *
 * Records and credit have windows and quotas of their own and cost nothing
 * here, unless some were refused, but keep their place in the order.
 *
 * Architecture invariant: what waits is bounded in frames and bytes (law 10).
 */

import { limits } from "../../src/base/limits.ts";
import type { World } from "../../src/base/world.ts";
import type { Transport, TransportEvents } from "./transport.ts";

/** How a wire is paced. */
export interface Pace {
  readonly world: Pick<World, "monotonic" | "after">;
  /** Charges milliseconds of work; says how long to wait before more is done. */
  charge(workMs: number): number;
  /** Was anything refused since this was last asked? */
  hasRefused(): boolean;
  /** More came than may wait. */
  flooded(): void;
}

/** What a frame costs before anybody has looked at it. */
const FRAME_MS = 0.05;
/** What is begun by an `open` goes on after its frame. */
const OPEN_MS = 0.5;
const OPEN = 0x10;
/** prove, records, part, credit. */
const FREE = new Set([0x02, 0x20, 0x21, 0x24]);

/** Another wire, paced. */
export class PacedTransport implements Transport {
  readonly #wire: Transport;
  readonly #pace: Pace;
  #events: TransportEvents | undefined;
  #waiting: Uint8Array[] = [];
  #waitingBytes = 0;
  #cancel: (() => void) | undefined;
  #isOver = false;

  constructor(wire: Transport, pace: Pace) {
    this.#wire = wire;
    this.#pace = pace;
  }

  get buffered(): number {
    return this.#wire.buffered;
  }

  listen(events: TransportEvents): void {
    this.#events = events;
    this.#wire.listen({
      frame: (bytes) => this.#frame(bytes),
      ended: (end) => {
        this.#stop();
        events.ended(end);
      },
    });
  }

  send(frame: Uint8Array): void {
    this.#wire.send(frame);
  }

  close(code: string, detail: string): void {
    this.#stop();
    this.#wire.close(code, detail);
  }

  #stop(): void {
    this.#isOver = true;
    this.#waiting = [];
    this.#cancel?.();
    this.#cancel = undefined;
  }

  #frame(bytes: Uint8Array): void {
    if (this.#isOver) return;
    if (this.#cancel === undefined) return this.#work(bytes);
    this.#waiting.push(bytes);
    this.#waitingBytes += bytes.length;
    const isFlood = this.#waiting.length > limits.pacedFramesMax ||
      this.#waitingBytes > limits.pacedBytesMax;
    if (isFlood) this.#pace.flooded();
  }

  #work(bytes: Uint8Array): void {
    const { world, charge, hasRefused } = this.#pace;
    const kind = bytes[0] ?? 0;
    const begunMs = world.monotonic();
    this.#events?.frame(bytes);
    const isFree = FREE.has(kind) && !hasRefused();
    if (isFree || this.#isOver) return;
    const workMs = world.monotonic() - begunMs + FRAME_MS;
    const delayMs = charge(kind === OPEN ? workMs + OPEN_MS : workMs);
    if (delayMs > 0) this.#cancel = world.after(delayMs, () => this.#goOn());
  }

  #goOn(): void {
    this.#cancel = undefined;
    while (this.#cancel === undefined) {
      const bytes = this.#waiting.shift();
      if (bytes === undefined) return;
      this.#waitingBytes -= bytes.length;
      this.#work(bytes);
    }
  }
}
