/**
 * Reading a log at any address, across its segments. Segments before the one at
 * which a log was opened are opened when they are asked for.
 *
 * Never writes.
 *
 * @module
 */

import { assert, DatabaseError } from "../src/base/errors.ts";
import type { Storage } from "../src/storage/storage.ts";
import {
  decodeSegmentHeader,
  SEGMENT_HEADER_BYTES,
  segmentName,
  UNSEALED_MARK,
} from "./log_format.ts";
import { type OnRecord, readRecords, Segment } from "./log_segment.ts";

/** The segments of a log, for reading. */
export class LogReader {
  readonly #storage: Storage;
  readonly #folder: string;
  /** Ascending, without gaps; those before the first are not open yet. */
  readonly #segments: Segment[];

  /**
   * @param storage where the log is
   * @param folder of the log
   * @param segments open ones, ascending, without gaps
   */
  constructor(storage: Storage, folder: string, segments: Segment[]) {
    assert(segments.length > 0, "a log has a segment");
    this.#storage = storage;
    this.#folder = folder;
    this.#segments = segments;
  }

  /** Takes a segment that was begun behind the last one. */
  add(segment: Segment): void {
    this.#segments.push(segment);
  }

  /** Reads bytes from `address` on, within one segment; says how many. */
  readAt(target: Uint8Array, address: number): number {
    const { file, base } = this.segmentAt(address);
    return file.readAt(target, address - base);
  }

  /**
   * Calls `onRecord` for each record from address `from` (of a record's first
   * byte, or of a segment's) up to `to`, checksums verified. Throws
   * `log-damaged` with the address of the first bad byte. Says where it
   * stopped.
   */
  records(from: number, to: number, onRecord: OnRecord): number {
    let stopped = false;
    const take: OnRecord = (kind, body, address) =>
      stopped = onRecord(kind, body, address) === true;
    for (let at = from; at < to;) {
      const segment = this.segmentAt(at);
      const next = this.#segments[segment.index - this.#segments[0]!.index + 1];
      const limit = Math.min(to, next?.base ?? to);
      const start = Math.max(at, segment.start);
      const end = start < limit
        ? readRecords(segment, start, limit, take, UNSEALED_MARK)
        : limit;
      if (stopped) return end;
      if (end < limit) throw this.#damaged(segment, end);
      at = limit;
    }
    return to;
  }

  /** Gives all files back. */
  close(): void {
    for (const { file } of this.#segments) file.close();
  }

  /** The segment that holds an address. */
  segmentAt(address: number): Segment {
    const segments = this.#segments;
    while (address < segments[0]!.base) segments.unshift(this.#openEarlier());
    let at = segments.length - 1;
    while (segments[at]!.base > address) at--;
    return segments[at]!;
  }

  /** Opens the segment before the first open one. */
  #openEarlier(): Segment {
    const next = this.#segments[0]!;
    const name = `${this.#folder}/${segmentName(next.index - 1)}`;
    const file = this.#storage.open(name);
    if (file === undefined) {
      throw new DatabaseError(
        "log-damaged",
        `Cannot read ${name}: it is missing. Restore it from a copy.`,
      );
    }
    try {
      const bytes = new Uint8Array(SEGMENT_HEADER_BYTES);
      file.readAt(bytes, 0);
      const header = decodeSegmentHeader(bytes, name);
      return new Segment(file, header, file.size());
    } catch (error) {
      file.close();
      throw error;
    }
  }

  #damaged({ index, base }: Segment, address: number): DatabaseError {
    return new DatabaseError(
      "log-damaged",
      `Cannot read the log in ${this.#folder}: the record at address ${address} ` +
        `(${segmentName(index)}, byte ${
          address - base
        }) does not match its checksum. ` +
        `Restore the folder from a copy, or open with \`repair: true\`.`,
    );
  }
}
