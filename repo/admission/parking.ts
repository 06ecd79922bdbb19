/**
 * Parking: batches that wait for commits of others.
 *
 * It judges nothing and loads nothing of the door: an inbox has one for its peer.
 *
 * Architecture invariant: what is parked is bounded in batches and in bytes (law 10).
 */

import { getOrMake } from "../../src/base/collections.ts";
import { type Refusal, refuse } from "../../src/base/errors.ts";
import { limits } from "../../src/base/limits.ts";
import type { Position } from "../commit/commit.ts";
import type { AdmitBatch, Arrival, Park } from "./arrival.ts";

interface Parked {
  readonly missing: Position;
  readonly times: number;
}

/** Batches by the commit that they wait for. */
export class Parking {
  readonly #waiting = new Map<string, Map<number, Set<Arrival>>>();
  readonly #parked = new Map<Arrival, Parked>();
  readonly #parkedMax: number;
  readonly #bytesMax: number;
  #bytes = 0;

  constructor(
    parkedMax: number = limits.parkedMax,
    bytesMax: number = limits.parkedBytesMax,
  ) {
    this.#parkedMax = parkedMax;
    this.#bytesMax = bytesMax;
  }

  get size(): number {
    return this.#parked.size;
  }

  /** Keeps a batch until what it misses has come; a refusal when there is no room, or it was judged too often. */
  park(arrival: Arrival, { batch, missing }: Park): Refusal | undefined {
    const times = (this.#parked.get(arrival)?.times ?? 0) + 1;
    this.leave(arrival);
    const bytes = this.#bytes + arrival.bytes.length;
    const isFull = this.size >= this.#parkedMax || bytes > this.#bytesMax;
    if (isFull || times > limits.parkedTimesMax) {
      const isGap = missing.chain === batch.chain;
      const detail = isFull
        ? "The parking is full"
        : "Too much of it is missing";
      return refuse(isGap ? "gap" : "missing-parent", detail);
    }
    this.#parked.set(arrival, { missing, times });
    this.#bytes = bytes;
    const { chain, number } = missing;
    const byNumber = getOrMake(this.#waiting, chain, () => new Map());
    getOrMake(byNumber, number, () => new Set()).add(arrival);
    return undefined;
  }

  leave(arrival: Arrival): void {
    const parked = this.#parked.get(arrival);
    if (parked === undefined) return;
    const { chain, number } = parked.missing;
    this.#parked.delete(arrival);
    this.#bytes -= arrival.bytes.length;
    const byNumber = this.#waiting.get(chain);
    const waiting = byNumber?.get(number);
    if (waiting?.delete(arrival) && waiting.size === 0) {
      byNumber!.delete(number);
    }
    if (byNumber?.size === 0) this.#waiting.delete(chain);
  }

  /** What waits for a commit of an admitted batch, in order of arrival: to be judged, and to leave or to be parked again. */
  release({ batch, from }: AdmitBatch): Arrival[] {
    const released: Arrival[] = [];
    const byNumber = this.#waiting.get(batch.chain);
    if (byNumber === undefined) return released;
    const end = batch.first + batch.commits.length;
    for (let number = batch.first + from; number < end; number++) {
      released.push(...byNumber.get(number) ?? []);
    }
    return released;
  }
}
