/**
 * Setting one flipped bit of a record right, in place.
 *
 * A CRC-32 tells apart all single flips of a record: the difference between the
 * checksum that it has and the one that it should have says which bit it was.
 * Where more is wrong, nothing is touched; that such damage looks like one bit
 * happens once in 2^32 / bits.
 *
 * Architecture invariant: what is mended are again the bytes that were stored
 * (law 1); its address, and all others, stay.
 */

import { crc32 } from "../../src/base/crc32.ts";
import { type DatabaseError, hasCode } from "../../src/base/errors.ts";
import type { Storage } from "../../src/storage/storage.ts";
import { loadSegments } from "./reader.ts";
import {
  isPlausible,
  isRecordKind,
  readU32,
  RECORD_HEADER_BYTES,
  recordSeed,
  writeRecordHeader,
} from "./format.ts";
import { findRecords } from "./search.ts";
import { endOfBytes, readRecords, type Segment } from "./segment.ts";

/** The polynomial of CRC-32, reflected. */
const POLYNOMIAL = 0xedb88320;

/** Looking for one bit of a longer record would hold the thread for long. */
const MEND_BYTES_MAX = 16 * 1024 * 1024;

/** Kinds are the last byte of what a record's checksum runs over before its body. */
const KIND_BITS = 8;

/** Mends what it can of a log whose files nobody has open. */
export async function mendLog(
  storage: Storage,
  folder: string,
  names: readonly string[],
): Promise<void> {
  const loaded = loadSegments(storage, folder, { repair: true, names });
  try {
    for (const { segment, isMended } of loaded) {
      if (segment === undefined) continue;
      const isTouched = mendSegment(segment);
      if (isTouched || isMended === true) await segment.file.sync();
    }
  } finally {
    for (const { file } of loaded) file.close();
  }
}

/** Mends every record of a segment that can be; was there any? */
function mendSegment(segment: Segment): boolean {
  let isTouched = false;
  for (let at = segment.start; at < segment.limit;) {
    at = readRecords(segment, at, segment.limit, () => {});
    const next = nextRecord(segment, at);
    const bytes = mendedRecord(segment, at, next);
    if (bytes !== undefined) {
      segment.file.writeAt(bytes, at - segment.base);
      isTouched = true;
      continue; // Read on from it.
    }
    if (next === undefined) break;
    at = next;
  }
  return isTouched;
}

/** Where the next whole record begins behind an address at which none does. */
export function nextRecord(segment: Segment, at: number): number | undefined {
  let next: number | undefined;
  findRecords(segment, at, segment.limit, ({ address }) => {
    next = address - RECORD_HEADER_BYTES;
    return true;
  });
  return next;
}

/**
 * The record at `address` as it was, if one bit of it is wrong.
 *
 * @param next where the next record begins, if one follows
 */
export function mendedRecord(
  segment: Segment,
  address: number,
  next: number | undefined,
): Uint8Array | undefined {
  const length = lengthOf(segment, address, next);
  if (length === undefined || length > MEND_BYTES_MAX) return undefined;
  const bytes = new Uint8Array(RECORD_HEADER_BYTES + length);
  if (segment.file.readAt(bytes, address - segment.base) < bytes.length) {
    return undefined;
  }
  return mendBytes(bytes, address, segment.saltCrc) ? bytes : undefined;
}

/** Bytes of its body: up to the next record, else as its header says. */
function lengthOf(
  segment: Segment,
  address: number,
  next: number | undefined,
): number | undefined {
  const header = new Uint8Array(RECORD_HEADER_BYTES);
  const read = segment.file.readAt(header, address - segment.base);
  if (read < header.length) return undefined;
  const said = readU32(header, 0);
  const length = next === undefined
    ? said
    : next - address - RECORD_HEADER_BYTES;
  const room = (next ?? segment.limit) - address;
  // The kind may be what is wrong.
  return length > 0 && isPlausible(length, 1, room) &&
      (next !== undefined ||
        endOfBytes(segment, address, segment.limit) > address)
    ? length
    : undefined;
}

/** Sets one bit of a whole record right; `false` where that is not enough. */
function mendBytes(
  bytes: Uint8Array,
  address: number,
  saltCrc: number,
): boolean {
  const length = bytes.length - RECORD_HEADER_BYTES;
  const said = readU32(bytes, 0);
  const crc = readU32(bytes, 4);
  const kind = bytes[8]!;
  const body = bytes.subarray(RECORD_HEADER_BYTES);
  const sum = crc32(body, recordSeed(saltCrc, address, length, kind));
  const syndrome = (crc ^ sum) >>> 0;
  if (said !== length) {
    if (syndrome !== 0 || !isOneBit((said ^ length) >>> 0)) return false;
  } else if (syndrome === 0) return false; // Nothing is wrong.
  else if (!isOneBit(syndrome)) {
    const back = flippedBit(syndrome, length * 8 + KIND_BITS);
    if (back === undefined) return false;
    const at = bytes.length - 1 - (back >> 3);
    // The header has the kind last, right before the body.
    bytes[at]! ^= 0x80 >> (back & 7);
    if (!isRecordKind(bytes[8]!)) return false;
    return true;
  }
  writeRecordHeader(bytes, length, sum, kind);
  return isRecordKind(kind);
}

/** How many bits before the last one the flip is that changes a checksum so. */
function flippedBit(syndrome: number, bits: number): number | undefined {
  let change = POLYNOMIAL;
  for (let back = 0; back < bits; back++) {
    if ((change >>> 0) === syndrome) return back;
    change = change & 1 ? (change >>> 1) ^ POLYNOMIAL : change >>> 1;
  }
  return undefined;
}

function isOneBit(value: number): boolean {
  return value !== 0 && (value & (value - 1)) === 0;
}

/** Is it damage of bytes, and no failure of the medium? */
export function isDamage(cause: unknown): cause is DatabaseError {
  return hasCode(cause, "log-damaged", "format-unknown");
}
