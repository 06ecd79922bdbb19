/**
 * Parking: batches that wait for a commit that has not come yet.
 *
 * Nothing parked is part of the repository. What waits for a parent has a sound
 * seal; what waits for its own predecessor cannot have been checked, so an owner
 * gives each peer a parking of its own and drops it with the peer.
 *
 * Architecture invariant: bounded in batches and in bytes (law 10). When it is
 * full, newcomers are refused with the reason and may be sent again.
 *
 * @module
 */

import { toHex } from "../src/base/bytes.ts";
import { sha256 } from "../crypto/mod.ts";
import { type Refusal, refuse } from "../src/base/errors.ts";
import { limits } from "../src/base/limits.ts";
import type { AdmitBatch, Arrival, Park } from "./arrival.ts";

interface Parked {
  readonly arrival: Arrival;
  readonly digest: string;
}

/** Batches by the commit that they wait for. */
export class Parking {
  readonly #waiting = new Map<string, Map<number, Parked[]>>();
  readonly #digests = new Set<string>();
  readonly #parkedMax: number;
  readonly #bytesMax: number;
  #bytes = 0;

  /**
   * @param parkedMax batches it holds
   * @param bytesMax bytes it holds
   */
  constructor(
    parkedMax: number = limits.parkedMax,
    bytesMax: number = limits.parkedBytesMax,
  ) {
    this.#parkedMax = parkedMax;
    this.#bytesMax = bytesMax;
  }

  /** How many batches wait. */
  get size(): number {
    return this.#digests.size;
  }

  /** Their bytes. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Keeps a batch until what it misses has come; a refusal when there is no room. */
  park(arrival: Arrival, { batch, missing }: Park): Refusal | undefined {
    const digest = toHex(sha256(arrival.bytes));
    if (this.#digests.has(digest)) return undefined;
    const bytes = this.#bytes + arrival.bytes.length;
    if (this.size >= this.#parkedMax || bytes > this.#bytesMax) {
      const isGap = missing.chain === batch.chain;
      return refuse(isGap ? "gap" : "missing-parent", "The parking is full");
    }
    this.#digests.add(digest);
    this.#bytes = bytes;
    this.#waitersOf(missing.chain, missing.number).push({ arrival, digest });
    return undefined;
  }

  #waitersOf(chain: string, number: number): Parked[] {
    let byNumber = this.#waiting.get(chain);
    if (byNumber === undefined) {
      this.#waiting.set(chain, byNumber = new Map<number, Parked[]>());
    }
    let waiters = byNumber.get(number);
    if (waiters === undefined) byNumber.set(number, waiters = []);
    return waiters;
  }

  /** Takes out what waited for a commit of an admitted batch, in order of arrival. */
  release({ batch, from }: AdmitBatch): Arrival[] {
    const released: Arrival[] = [];
    const byNumber = this.#waiting.get(batch.chain);
    if (byNumber === undefined) return released;
    const end = batch.first + batch.commits.length;
    for (let number = batch.first + from; number < end; number++) {
      for (const { arrival, digest } of byNumber.get(number) ?? []) {
        this.#digests.delete(digest);
        this.#bytes -= arrival.bytes.length;
        released.push(arrival);
      }
      byNumber.delete(number);
    }
    if (byNumber.size === 0) this.#waiting.delete(batch.chain);
    return released;
  }
}
