/**
 * One direction of a connection: frames in order, as late as its lane makes
 * them.
 *
 * @module
 */

import type { TransportEnd } from "../../sync/transport/transport.ts";
import type { Dice } from "./dice.ts";
import type { Timeline } from "./timeline.ts";

/** One direction of a link. */
export interface Lane {
  delayMs: number;
  jitterMs: number;
  bytesPerMs: number;
  /** Does what is sent wait? */
  isStalled: boolean;
}

interface Sent {
  readonly item: Uint8Array | TransportEnd;
  readonly bytes: number;
  /** When its last byte has left. */
  readonly leftMs: number;
  readonly dueMs: number;
}

/** See the file's header. */
export class Pipe {
  readonly #timeline: Timeline;
  readonly #dice: Dice;
  readonly #lane: Lane;
  readonly #isCut: () => boolean;
  #queue: Sent[] = [];
  #isPlanned = false;
  /** Is nothing taken any more? */
  #isClosed = false;
  deliver: (item: Uint8Array | TransportEnd) => void = () => {};

  constructor(
    timeline: Timeline,
    dice: Dice,
    lane: Lane,
    isCut: () => boolean,
  ) {
    this.#timeline = timeline;
    this.#dice = dice;
    this.#lane = lane;
    this.#isCut = isCut;
  }

  /** Bytes that have not left yet. */
  get buffered(): number {
    let bytes = 0;
    const isHeld = this.#isHeld;
    for (const sent of this.#queue) {
      if (isHeld || sent.leftMs > this.#timeline.nowMs) bytes += sent.bytes;
    }
    return bytes;
  }

  get #isHeld(): boolean {
    return this.#lane.isStalled || this.#isCut();
  }

  /** Sends. */
  push(item: Uint8Array | TransportEnd): void {
    if (this.#isClosed) return;
    const { delayMs, jitterMs, bytesPerMs } = this.#lane;
    const bytes = item instanceof Uint8Array ? item.length : 0;
    const last = this.#queue.at(-1);
    const nowMs = this.#timeline.nowMs;
    const leftMs = Math.max(nowMs, last?.leftMs ?? 0) + bytes / bytesPerMs;
    const lateMs = leftMs + delayMs + this.#dice.number() * jitterMs;
    const dueMs = Math.max(lateMs, last?.dueMs ?? 0);
    this.#queue.push({ item, bytes, leftMs, dueMs });
    if (!(item instanceof Uint8Array)) this.#isClosed = true;
    this.pump();
  }

  /** Plans the next delivery. */
  pump(): void {
    const [next] = this.#queue;
    if (next === undefined || this.#isPlanned || this.#isHeld) return;
    this.#isPlanned = true;
    this.#timeline.after(next.dueMs - this.#timeline.nowMs, () => {
      this.#isPlanned = false;
      if (this.#isHeld) return;
      const sent = this.#queue.shift();
      this.pump();
      if (sent !== undefined) this.deliver(sent.item);
    });
  }

  /** Takes nothing more, and loses all behind a share of what is under way. */
  cutTo(share: number): void {
    this.#isClosed = true;
    this.#queue.length = Math.floor(this.#queue.length * share);
  }
}
