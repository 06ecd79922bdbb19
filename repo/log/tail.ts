/**
 * The segment that a log is appended to: one record at a time, in a file that
 * grows ahead by zeros, so that a sync need not write file-system metadata.
 *
 * Never syncs, and never reads.
 *
 * Order of effects: zeros behind the record's place, then the record, so that a
 * failure leaves no record that its caller was told is not there.
 */

import { crc32 } from "../../src/base/crc32.ts";
import { assert, hasCode } from "../../src/base/errors.ts";
import { limits } from "../../src/base/limits.ts";
import type { World } from "../../src/base/world.ts";
import type { Storage, StorageFile } from "../../src/storage/storage.ts";
import {
  encodeSegmentHeader,
  RECORD_HEADER_BYTES,
  recordSeed,
  SEAL_BYTES,
  segmentName,
  UNSEALED_MARK,
  writeRecordHeader,
} from "./format.ts";
import { Segment } from "./segment.ts";

/** Bodies up to this size are copied, so that header and body are one write. */
const COPY_BYTES_MAX = 64 * 1024;

/** Zeros are written in pieces of this size. */
const ZEROS: Uint8Array = /* @__PURE__ */ new Uint8Array(256 * 1024);

const NO_SEAL: Uint8Array = /* @__PURE__ */ new Uint8Array(SEAL_BYTES);

/**
 * A file in use is longer than its records by at least this much, so that only
 * a clean close can leave it ending with its last record.
 */
const TAIL_BYTES_MIN = 1;

const SALT_BYTES = 8;

/** How much a log grows ahead. */
export interface ExtentSizes {
  /** The first extent; every further one is twice as large … */
  readonly extentBytesFirst?: number;
  /** … up to this. */
  readonly extentBytesMax?: number;
}

export class LogTail {
  segment: Segment;
  readonly #extentBytesFirst: number;
  readonly #extentBytesMax: number;
  #extentBytes: number;
  #staging = new Uint8Array(512);

  constructor(segment: Segment, sizes: ExtentSizes) {
    this.segment = segment;
    this.#extentBytesFirst = sizes.extentBytesFirst ?? limits.extentBytesFirst;
    this.#extentBytesMax = sizes.extentBytesMax ?? limits.extentBytes;
    this.#extentBytes = this.#extentBytesFirst;
  }

  write(
    kind: number,
    parts: readonly Uint8Array[],
    length: number,
    address: number,
  ): void {
    const size = RECORD_HEADER_BYTES + length;
    const end = address - this.segment.base + size;
    if (end + TAIL_BYTES_MIN > this.segment.size) this.#grow(end, size);
    if (length <= COPY_BYTES_MAX) {
      this.#writeCopied(kind, parts, length, address);
    } else {
      this.#writeParts(kind, parts, length, address);
    }
  }

  /** Writes a record whose last bytes, the seal, are still to come. */
  writeUnsealed(
    kind: number,
    parts: readonly Uint8Array[],
    length: number,
    address: number,
  ): LateRecord {
    const { segment } = this;
    let crc = recordSeed(segment.saltCrc, address, length, kind);
    for (const part of parts) crc = crc32(part, crc);
    this.write(kind | UNSEALED_MARK, [...parts, NO_SEAL], length, address);
    return { segment, address, length, kind, crc };
  }

  /** Makes it a whole record: first the seal, then the header that counts on it. */
  seal(record: LateRecord, seal: Uint8Array): void {
    const { segment: { file, base }, address, length, kind, crc } = record;
    const at = address - base;
    file.writeAt(seal, at + RECORD_HEADER_BYTES + length - SEAL_BYTES);
    const header = this.#staging.subarray(0, RECORD_HEADER_BYTES);
    writeRecordHeader(header, length, crc32(seal, crc), kind);
    file.writeAt(header, at);
  }

  /** Grows the file behind the last record, at `end`; `false` when it is done already. */
  growAhead(end: number): boolean {
    const offset = end - this.segment.base;
    if (offset + TAIL_BYTES_MIN <= this.segment.size) return false;
    this.#grow(offset, 0);
    return true;
  }

  /** One write for header and body. */
  #writeCopied(
    kind: number,
    parts: readonly Uint8Array[],
    length: number,
    address: number,
  ): void {
    const { file, base, saltCrc } = this.segment;
    const size = RECORD_HEADER_BYTES + length;
    if (size > this.#staging.length) this.#staging = new Uint8Array(size * 2);
    const staging = this.#staging;
    let at = RECORD_HEADER_BYTES;
    for (const part of parts) {
      staging.set(part, at);
      at += part.length;
    }
    const seed = recordSeed(saltCrc, address, length, kind);
    const crc = crc32(staging.subarray(RECORD_HEADER_BYTES, size), seed);
    writeRecordHeader(staging, length, crc, kind);
    file.writeAt(staging.subarray(0, size), address - base);
  }

  /** One write for each part: large bodies are not copied. */
  #writeParts(
    kind: number,
    parts: readonly Uint8Array[],
    length: number,
    address: number,
  ): void {
    const { file, base, saltCrc } = this.segment;
    let crc = recordSeed(saltCrc, address, length, kind);
    for (const part of parts) crc = crc32(part, crc);
    writeRecordHeader(this.#staging, length, crc, kind);
    let offset = address - base;
    file.writeAt(this.#staging.subarray(0, RECORD_HEADER_BYTES), offset);
    offset += RECORD_HEADER_BYTES;
    for (const part of parts) {
      file.writeAt(part, offset);
      offset += part.length;
    }
  }

  /**
   * Grows the file behind the coming record, which is `size` bytes and ends at
   * `end`. Little after a large record, which pays for its own metadata; else
   * more each time, so that a few writes after opening stay cheap.
   */
  #grow(end: number, size: number): void {
    const { segment } = this;
    const isLarge = size * 4 > this.#extentBytes;
    const extent = isLarge ? this.#extentBytesFirst : this.#extentBytes;
    this.#extentBytes = Math.min(this.#extentBytes * 2, this.#extentBytesMax);
    try {
      writeZeros(segment.file, end, end + extent);
      segment.size = end + extent;
    } catch (error) {
      if (!hasCode(error, "storage-full")) throw error;
      // The extent is a convenience: a nearly full medium still takes the record.
      segment.file.truncate(segment.size);
      segment.file.writeAt(ZEROS.subarray(0, TAIL_BYTES_MIN), end);
      segment.size = end + TAIL_BYTES_MIN;
    }
  }
}

/** Creates the file of a new segment, header written; its size counts no extent yet. */
export function createSegment(
  storage: Storage,
  folder: string,
  world: World,
  index: number,
  base: number,
): Segment {
  const name = `${folder}/${segmentName(index)}`;
  const file = storage.open(name, { create: true });
  assert(file !== undefined, "a file that is created is there");
  assert(file.size() === 0, "a log is created where there is none");
  const salt = new Uint8Array(SALT_BYTES);
  world.random(salt);
  const header = { index, base, salt };
  const bytes = encodeSegmentHeader(header);
  file.writeAt(bytes, 0);
  return new Segment(file, header, bytes.length);
}

function writeZeros(file: StorageFile, from: number, to: number): void {
  for (let at = from; at < to; at += ZEROS.length) {
    file.writeAt(ZEROS.subarray(0, Math.min(ZEROS.length, to - at)), at);
  }
}

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

  remove(record: LateRecord): void {
    this.#records.delete(record);
  }

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
