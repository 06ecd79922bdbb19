/**
 * One segment of a log: its file, and two ways to go through its bytes: record
 * by record, and looking for the end of a zero tail.
 *
 * Addresses in, addresses out; only this file turns them into
 * offsets.
 */

import { crc32 } from "../../src/base/crc32.ts";
import type { StorageFile } from "../../src/storage/storage.ts";
import {
  decodeSegmentHeader,
  isPlausible,
  readU32,
  RECORD_HEADER_BYTES,
  recordSeed,
  SEGMENT_HEADER_BYTES,
  type SegmentHeader,
  SYNC_MARK,
} from "./format.ts";

/** Read at once: large enough for few calls, small enough to stay in the cache. */
export const CHUNK_BYTES: number = 256 * 1024;

/**
 * Takes one record. `body` is a view that is valid only during the call;
 * `address` is that of the body's first byte. Reading stops behind a record for
 * which it answers `true`.
 */
export type OnRecord = (
  kind: number,
  body: Uint8Array,
  address: number,
) => unknown;

export class Segment {
  readonly file: StorageFile;
  readonly index: number;
  readonly base: number;
  /** Checksum of its salt, which every record's checksum continues. */
  readonly saltCrc: number;
  /** Bytes of the file: records, then zeros. */
  size: number;
  /** Address of the last record read that has a sync mark: what is before it had been durable. */
  markedAt = 0;

  constructor(file: StorageFile, header: SegmentHeader, size: number) {
    this.file = file;
    this.index = header.index;
    this.base = header.base;
    this.saltCrc = crc32(header.salt);
    this.size = size;
  }

  /** Address of its first record. */
  get start(): number {
    return this.base + SEGMENT_HEADER_BYTES;
  }

  /** Address of the first byte after the file. */
  get limit(): number {
    return this.base + this.size;
  }
}

/** What a log in use has behind its last record at least: a file that ends there says that it was closed well. */
export const ZEROS_BEHIND = 1;

/** The segment in a file, by what its header says. */
export function segmentIn(file: StorageFile, name: string): Segment {
  const header = new Uint8Array(SEGMENT_HEADER_BYTES);
  file.readAt(header, 0);
  return new Segment(file, decodeSegmentHeader(header, name), file.size());
}

/**
 * The buffer of the last reading, for the next one: the first touch of fresh
 * memory costs more than reading into it. Readings may nest, so that each takes
 * it and gives it back.
 */
let spare: Uint8Array | undefined;

function takeBuffer(): Uint8Array {
  const buffer = spare ?? new Uint8Array(CHUNK_BYTES);
  spare = undefined;
  return buffer;
}

/** A stretch of a file, read ahead into one buffer that is used again. */
class Window {
  bytes: Uint8Array = takeBuffer();
  start = 0;
  #filled = 0;
  #offset: number;
  readonly #limit: number;
  readonly #file: StorageFile;

  constructor(file: StorageFile, offset: number, limit: number) {
    this.#file = file;
    this.#offset = offset;
    this.#limit = limit;
  }

  /** Gives the buffer back. */
  close(): void {
    if (this.bytes.length === CHUNK_BYTES) spare = this.bytes;
  }

  /** Bytes from `start` to the end of the stretch, in the buffer or not. */
  get room(): number {
    return this.#limit - this.#offset + this.#filled - this.start;
  }

  /** Sees to it that `count` bytes stand at `start`; `false` when there are fewer. */
  need(count: number): boolean {
    return this.#filled - this.start >= count || this.#fill(count);
  }

  #fill(count: number): boolean {
    if (count > this.room) return false;
    const kept = this.#filled - this.start;
    if (count > this.bytes.length) {
      const grown = new Uint8Array(count);
      grown.set(this.bytes.subarray(this.start, this.#filled));
      this.bytes = grown;
    } else {
      this.bytes.copyWithin(0, this.start, this.#filled);
    }
    const end = Math.min(
      Math.max(count, CHUNK_BYTES),
      this.bytes.length,
      kept + this.#limit - this.#offset,
    );
    const read = this.#file.readAt(
      this.bytes.subarray(kept, end),
      this.#offset,
    );
    this.start = 0;
    this.#filled = kept + read;
    this.#offset += read;
    return this.#filled >= count;
  }
}

/**
 * Reads the records of `[from, to)` in order and says where the first byte
 * stands that is no part of a valid record. One whose seal is still to come is
 * valid for its writer alone, who says so by `accepted`, the mark of such ones.
 */
export function readRecords(
  segment: Segment,
  from: number,
  to: number,
  onRecord: OnRecord,
  accepted = 0,
): number {
  const { base, saltCrc } = segment;
  if (from >= to) return from;
  const window = new Window(segment.file, from - base, to - base);
  let address = from;
  while (window.need(RECORD_HEADER_BYTES)) {
    const head = window.start;
    const length = readU32(window.bytes, head);
    const crc = readU32(window.bytes, head + 4);
    const kind = window.bytes[head + 8]!;
    if (!isPlausible(length, kind & ~accepted, window.room)) break;
    if (!window.need(RECORD_HEADER_BYTES + length)) break;
    const start = window.start + RECORD_HEADER_BYTES;
    const body = window.bytes.subarray(start, start + length);
    const seed = recordSeed(saltCrc, address, length, kind);
    if (crc32(body, seed) !== crc) break;
    if ((kind & SYNC_MARK) !== 0) segment.markedAt = address;
    const stops = onRecord(
      kind & ~SYNC_MARK & ~accepted,
      body,
      address + RECORD_HEADER_BYTES,
    );
    window.start = start + length;
    address += RECORD_HEADER_BYTES + length;
    if (stops === true) break;
  }
  window.close();
  return address;
}

/**
 * Address after the last byte of `[from, to)` that is not zero; `from` when
 * all are.
 */
export function endOfBytes(segment: Segment, from: number, to: number): number {
  const offset = endOfFileBytes(
    segment.file,
    from - segment.base,
    to - segment.base,
  );
  return segment.base + offset;
}

/** Copies the stretch `[from, to)` of a file to a place in another; says how much there was. */
export function copyBytes(
  file: StorageFile,
  from: number,
  to: number,
  target: StorageFile,
  offset: number,
): number {
  const buffer = takeBuffer();
  let at = from;
  while (at < to) {
    const part = buffer.subarray(0, Math.min(CHUNK_BYTES, to - at));
    const read = file.readAt(part, at);
    if (read === 0) break;
    target.writeAt(part.subarray(0, read), offset + at - from);
    at += read;
  }
  spare = buffer;
  return at - from;
}

/**
 * Writes a stretch of a file once more as it shows: after a failed sync a page
 * cache may show what the medium does not have, and never write it by itself.
 */
export function writeAnew(file: StorageFile, from: number, to: number): void {
  copyBytes(file, from, to, file, from);
}

/** The same of any file, in offsets. */
export function endOfFileBytes(
  file: StorageFile,
  from: number,
  to: number,
): number {
  if (from === to) return from;
  const buffer = takeBuffer();
  const words = new Uint32Array(buffer.buffer);
  let last = from;
  for (let at = from; at < to;) {
    const wanted = Math.min(CHUNK_BYTES, to - at);
    const read = file.readAt(buffer.subarray(0, wanted), at);
    if (read === 0) break;
    buffer.fill(0, read, (read + 3) & ~3);
    let word = (read + 3) >> 2;
    while (word > 0 && words[word - 1] === 0) word--;
    if (word > 0) {
      let byte = word * 4;
      while (buffer[byte - 1] === 0) byte--;
      last = at + byte;
    }
    at += read;
  }
  spare = buffer;
  return last;
}
