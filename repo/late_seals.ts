/**
 * Records that stand in the log and whose seal is still to come, since a key
 * that cannot be read signs later.
 *
 * Never writes: the log puts a seal into its record when it is there.
 *
 * @module
 */

import type { Segment } from "./log_segment.ts";

/** A record whose seal is still to come. */
export interface LateRecord {
  readonly segment: Segment;
  /** Of its first byte. */
  readonly address: number;
  /** Bytes of its body, seal included. */
  readonly length: number;
  /** Its kind, with its sync mark. */
  readonly kind: number;
  /** Its checksum up to the seal, which continues it. */
  readonly crc: number;
}

/** Those of one log, in its order. */
export class LateSeals {
  /** Record → when its seal is in the file. */
  readonly #records = new Map<LateRecord, Promise<void>>();

  /** Address of the first one. */
  get first(): number | undefined {
    for (const { address } of this.#records.keys()) return address;
    return undefined;
  }

  /** Takes one; they come in the order of the log. */
  add(record: LateRecord, sealed: Promise<void>): void {
    this.#records.set(record, sealed);
  }

  /** Its seal is in the file. */
  remove(record: LateRecord): void {
    this.#records.delete(record);
  }

  /** Is there one in this segment? */
  isIn(segment: Segment): boolean {
    return [...this.#records.keys()].some((record) =>
      record.segment === segment
    );
  }

  /** Resolves when those before `end` have their seals; `undefined` when there are none. */
  before(end: number): Promise<unknown> | undefined {
    const waiting: Promise<void>[] = [];
    for (const [{ address }, sealed] of this.#records) {
      if (address < end) waiting.push(sealed);
    }
    return waiting.length === 0 ? undefined : Promise.all(waiting);
  }
}
