/**
 * Records of a log of this very device, as they stand there: what its tabs and
 * the owner of its files give each other.
 */

import { crc32 } from "../../src/base/crc32.ts";
import type { Store } from "./store.ts";
import { recordKind, SEGMENT_HEADER_BYTES } from "./format.ts";
import type { Sharing } from "../graph/sharing.ts";
import { hasCode } from "../../src/base/errors.ts";

export interface OwnRecord {
  /** What it is: a number of `recordKind`, or one that a later version knows. */
  readonly kind: number;
  readonly bytes: Uint8Array;
}

/** An address in a log, and what tells that log from others. */
export interface LogPoint {
  readonly address: number;
  /** Checksum of the bytes before it. */
  readonly crc: number;
}

/**
 * So many bytes before an address tell whether it is the same log: a small
 * record whole, with chain and clock. The ends of two commits may be the same.
 */
const POINT_BYTES = 1024;

export function pointAt(log: Store, address: number): LogPoint {
  // Its first bytes are dice: no log that was made anew begins so.
  const head = bytesOf(log, 0, SEGMENT_HEADER_BYTES);
  const from = Math.max(0, address - POINT_BYTES);
  const crc = crc32(bytesOf(log, from, address), crc32(head));
  return { address, crc };
}

function bytesOf(log: Store, from: number, to: number): Uint8Array {
  const bytes = new Uint8Array(to - from);
  for (let at = 0; at < bytes.length;) {
    const read = log.readAt(bytes.subarray(at), from + at); // One segment at a time.
    if (read === 0) return bytes.subarray(0, at);
    at += read;
  }
  return bytes;
}

/** May a reading of a log up to `to` begin at `address`? */
export function isRecordStart(
  log: Pick<Store, "records">,
  address: number,
  to: number,
): boolean {
  if (address === 0 || address === to) return true;
  if (!Number.isSafeInteger(address) || address < 0 || address > to) {
    return false;
  }
  try {
    log.records(address, to, () => true);
    return true;
  } catch (cause) {
    if (hasCode(cause, "log-damaged")) return false;
    throw cause;
  }
}

export interface MirrorSlice {
  readonly records: readonly OwnRecord[];
  /** Where to read on. */
  readonly next: LogPoint;
}

export class Mirror {
  readonly #log: Store;
  readonly #sharing: Sharing;

  constructor(log: Store, sharing: Sharing) {
    this.#log = log;
    this.#sharing = sharing;
  }

  /** Up to where it shows the log; `Sharing.onShareable` tells when that grows. */
  get next(): LogPoint {
    return pointAt(this.#log, this.#sharing.shareable);
  }

  get shown(): number {
    return this.#sharing.shareable;
  }

  /** Where the log ends, shown or not yet. */
  get end(): number {
    return this.#log.end;
  }

  isPoint(point: LogPoint): boolean {
    return isRecordStart(this.#log, point.address, this.shown) &&
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
      this.#log.records(from, to, (kind, body, address) => {
        if (kind === recordKind.genesis) return false; // Every log has it.
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
