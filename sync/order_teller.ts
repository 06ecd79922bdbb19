/**
 * What one peer is told of a log's order, as far as the log was read for it.
 */

import type { Accepted, Flush, OrderStep } from "../repo/log/order.ts";
import { equalBytes } from "../src/base/bytes.ts";
import type { Place } from "./frame_fields.ts";

/** The order of a repository's log, as `repo/log/served_order.ts` keeps it. */
export interface LogOrder {
  /** The life of the log, 16 bytes. */
  readonly epoch: Uint8Array;
  /** The order at the last mark. */
  readonly last: Place;
  /** The last mark at or before a position that is durable. */
  before(position: number): Place | undefined;
  /** Was this the order at a position? */
  stands(position: number, order: Uint8Array): boolean;
}

const PLACE_BYTES = 48;
const FLUSH_BYTES = 16;
const BATCH_BYTES = 64;
const RANGE_BYTES = 16;

/** Follows the marks of a log behind what is sent of it. */
export class OrderTeller {
  readonly #epoch: Uint8Array;
  /** What was read and not reached. */
  #steps: OrderStep[] = [];
  /** Log address up to which steps were noted: what is read again says the same. */
  #noted: number;
  /** What was accepted behind the last mark. */
  #batches: Accepted[] = [];
  #flushes: Flush[] = [];
  /** Does the peer follow the order flush by flush? Until it has all that there is, it is told where that stands. */
  #isFollowed: boolean;
  /** The last mark that was reached. */
  place: Place | undefined;

  /**
   * @param epoch which is told of
   * @param place what the peer knows of the order; `undefined`: the log is read from its beginning
   */
  constructor(epoch: Uint8Array, place: Place | undefined) {
    this.#epoch = epoch;
    this.#noted = place?.position ?? 0;
    this.#isFollowed = place !== undefined;
    this.place = place;
  }

  /** Log address of the place that was told, where nothing behind it is known; -1 elsewhere. */
  get restsAt(): number {
    const isTold = this.#isFollowed && this.#steps.length === 0 &&
      this.#batches.length === 0 && this.#flushes.length === 0;
    return isTold ? this.place!.position : -1;
  }

  /** What led to a place was told in common with others. */
  pass(place: Place): void {
    this.#noted = Math.max(this.#noted, place.position);
    this.place = place;
  }

  /** What it takes at most to tell what waits. */
  get bytes(): number {
    let bytes = PLACE_BYTES;
    for (const { batches } of this.#flushes) {
      bytes += FLUSH_BYTES;
      for (const { voids } of batches) {
        bytes += BATCH_BYTES + RANGE_BYTES * voids.size;
      }
    }
    return bytes;
  }

  /** Takes what was read. */
  note(steps: readonly OrderStep[]): void {
    for (const step of steps) {
      if (step.next <= this.#noted) continue;
      this.#steps.push(step);
      this.#noted = step.next;
    }
  }

  /** Everything before a log address was sent. */
  reach(position: number): void {
    const steps = this.#steps;
    let count = 0;
    while (count < steps.length && steps[count]!.next <= position) {
      this.#step(steps[count++]!);
    }
    if (count > 0) this.#steps = steps.slice(count);
  }

  #step(step: OrderStep): void {
    if ("batch" in step) {
      // Before the first mark nothing is in the order.
      if (this.place !== undefined) this.#batches.push(step.batch);
      return;
    }
    const { epoch, accepted, position, order } = step.mark;
    const batches = this.#batches;
    this.#batches = [];
    if (!equalBytes(epoch, this.#epoch)) return;
    if (this.#isFollowed) this.#flushes.push({ accepted, batches });
    this.place = { position, order };
  }

  /** What to tell: where the order stands, and what was accepted since that was taken last. */
  take():
    | { readonly flushes: readonly Flush[]; readonly place: Place }
    | undefined {
    const { place } = this;
    if (place === undefined) return undefined;
    const flushes = this.#flushes;
    this.#flushes = [];
    return { flushes, place };
  }

  /** From now on the peer follows it. */
  follow(): void {
    this.#isFollowed = this.place !== undefined;
  }
}
