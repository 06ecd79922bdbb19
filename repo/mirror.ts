/**
 * A log as the tabs of its device see it: record by record, in its own order,
 * with what was withdrawn and what withdrew it. Who replays it has what the log
 * has.
 *
 * Architecture invariant: nothing is shown that this replica could lose (law 3).
 *
 * @module
 */

import type { Log } from "./log.ts";
import {
  isRecordStart,
  kindName,
  type LogPoint,
  type OwnRecord,
  pointAt,
} from "./own_log.ts";
import type { Sharing } from "./sharing.ts";

/** Records read from a log. */
export interface MirrorSlice {
  readonly records: readonly OwnRecord[];
  /** Where to read on. */
  readonly next: LogPoint;
}

/** Shows one log to the tabs of its device. */
export class Mirror {
  readonly #log: Log;
  readonly #sharing: Sharing;

  constructor(log: Log, sharing: Sharing) {
    this.#log = log;
    this.#sharing = sharing;
  }

  /** Up to where it shows the log; `Sharing.onShareable` tells when that grows. */
  get next(): LogPoint {
    return pointAt(this.#log, this.#sharing.shareable);
  }

  /** Where the log ends, shown or not yet. */
  get end(): number {
    return this.#log.end;
  }

  /** May a reading begin at this address? */
  isStart(address: number): boolean {
    return isRecordStart(this.#log, address, this.#sharing.shareable);
  }

  /** Is this a point of this very log? */
  isPoint(point: LogPoint): boolean {
    return this.isStart(point.address) &&
      pointAt(this.#log, point.address).crc === point.crc;
  }

  /** Records from an address on: at least one where there is one, else about `bytesMax` bytes. */
  read(from: number, bytesMax: number): MirrorSlice {
    const to = this.#sharing.shareable;
    const records: OwnRecord[] = [];
    let next = Math.max(from, to);
    let previous = from;
    let bytes = 0;
    if (from < to) {
      this.#log.records(from, to, (number, body, address) => {
        const kind = kindName(number);
        if (kind === undefined) return false;
        if (bytes > 0 && bytes + body.length > bytesMax) {
          next = previous;
          return true;
        }
        records.push({ kind, bytes: body.slice() });
        bytes += body.length;
        previous = address + body.length;
        return false;
      });
    }
    return { records, next: pointAt(this.#log, next) };
  }
}
