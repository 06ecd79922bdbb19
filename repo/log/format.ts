/**
 * The bytes of a log: file names, segment headers and record frames, as in
 * docs/format.md. Pure; reads and writes no file.
 */

import { ByteReader, ByteWriter, decodeText } from "../../src/base/bytes.ts";
import { crc32, crc32Portable } from "../../src/base/crc32.ts";
import { DatabaseError } from "../../src/base/errors.ts";
import { limits } from "../../src/base/limits.ts";

/**
 * What a record holds. The number tells what becomes of one of a kind that is not
 * known (law 13): up to 31 it must be understood, and nobody goes on without;
 * 32 to 47 are statements (`statement.ts`), which are kept and passed on; from 48
 * on they are this device's own, never travel, and are skipped.
 */
export const recordKind = {
  /** The repository's name, root key and mode. */
  genesis: 1,
  /** A session certificate. */
  certificate: 2,
  /** A batch with a seal. */
  signedBatch: 3,
  /** A batch without one. */
  unsignedBatch: 4,
  /** A revocation of a session. */
  revocation: 5,
  /** Commits that their author has given up. */
  void: 6,
  /** What commits may not say any more. */
  redaction: 7,
  /** Chains that their author has ended. */
  retirement: 8,
  /** The ends of chains that do not go on here; never travels. */
  cut: 48,
  /** What became of a refused commit; never travels. */
  resolution: 49,
  /** Own commits that were refused; never travels. */
  refusal: 50,
  /** The order of acceptance up to here; never travels. */
  order: 51,
  /** What was erased here; never travels. */
  erasure: 52,
} as const;

const STATEMENT_MIN = 32;
const LOCAL_MIN = 48;
const KIND_MAX = 63;

export function isStatement(kind: number): boolean {
  return kind >= STATEMENT_MIN && kind < LOCAL_MIN;
}

export function isBatch(kind: number): boolean {
  return kind === recordKind.signedBatch || kind === recordKind.unsignedBatch;
}

/** The kind of a batch with a seal, or of one without. */
export function batchKind(isSigned: boolean): number {
  return isSigned ? recordKind.signedBatch : recordKind.unsignedBatch;
}

/** Do peers get records of this kind? They have the genesis, and need nothing of what is local. */
export function travels(kind: number): boolean {
  return kind > recordKind.genesis && kind < LOCAL_MIN;
}

/** Do replicas of one device tell each other of them, and of what became of refused commits? */
export function travelsHere(kind: number): boolean {
  return travels(kind) || kind === recordKind.resolution ||
    kind === recordKind.refusal;
}

/** The file of what repairs could not connect. */
export const SALVAGE = "salvage";

/** The file that notes what is being overwritten in the log. */
export const REWRITING = "rewriting";

/** An empty file: what was read of this repository is damaged, and the next opening repairs it. */
export const DAMAGED = "damaged";

/**
 * The header of the log that was deleted last under this name, in the folder of a
 * device with many replicas: one of a deleted log must not go on in this one.
 */
export const LIFE = "life";

/** Set in the kind of the first record after a successful sync. */
export const SYNC_MARK = 0x80;

/**
 * Set in the kind of a record whose seal, its last bytes, is still to come: only
 * the process that wrote it takes it for a record.
 */
export const UNSEALED_MARK = 0x40;

export const SEAL_BYTES = 64;

export const SEGMENT_HEADER_BYTES = 64;

/** Bytes of a record before its body. */
export const RECORD_HEADER_BYTES = 9;

const MAGIC = "SHEAFLOG";
const FORMAT = 2;
const SALT_BYTES = 8;
const CRC_AT = 60;
const RESERVED_BYTES = 28;
const PREFIX_BYTES = 11;
const TWO_32 = 2 ** 32;

export interface SegmentHeader {
  /** 0 for the first segment of a log, then 1, 2, … */
  readonly index: number;
  /** Address of the segment's first byte. */
  readonly base: number;
  /** Makes records of other segments invalid in this one. */
  readonly salt: Uint8Array;
}

export function segmentName(index: number): string {
  return `log-${index.toString().padStart(8, "0")}`;
}

export function parseSegmentName(name: string): number | undefined {
  return /^log-\d{8}$/.test(name) ? Number(name.slice(4)) : undefined;
}

/** What names of files of damaged bytes begin with. */
export const QUARANTINE = "quarantine-";

/** The file name for damaged bytes from `address` on that were set aside. */
export function quarantineName(address: number): string {
  return `${QUARANTINE}${address.toString().padStart(12, "0")}`;
}

export function encodeSegmentHeader(header: SegmentHeader): Uint8Array {
  const out = new ByteWriter(SEGMENT_HEADER_BYTES);
  for (let i = 0; i < MAGIC.length; i++) out.u8(MAGIC.charCodeAt(i));
  out.u16(FORMAT);
  out.u16(0);
  out.u32(header.index);
  out.u48(header.base);
  out.u16(0);
  out.bytes(header.salt);
  out.bytes(new Uint8Array(RESERVED_BYTES));
  out.u32(crc32(out.view()));
  return out.view();
}

export function decodeSegmentHeader(
  bytes: Uint8Array,
  where: string,
): SegmentHeader {
  const input = new ByteReader(bytes);
  if (!isMagic(input.take(MAGIC.length))) {
    throw new DatabaseError(
      "format-unknown",
      `Cannot read ${where}: it is not a log of Sheaf, or its first bytes are damaged. ` +
        `Restore it from a copy, or remove it.`,
    );
  }
  const format = input.u16();
  input.skip(2);
  const index = input.u32();
  const base = input.u48();
  input.skip(2);
  const salt = input.take(SALT_BYTES).slice();
  input.skip(RESERVED_BYTES);
  if (input.u32() !== crc32(bytes.subarray(0, CRC_AT))) {
    throw new DatabaseError(
      "log-damaged",
      `Cannot read ${where}: the header does not match its checksum. ` +
        `Restore the file from a copy, or open with \`repair: true\`.`,
    );
  }
  if (format < FORMAT) {
    throw new DatabaseError(
      "format-too-old",
      `Cannot read ${where}: it has format ${format}, which Sheaf 0.1 wrote. ` +
        "Nothing was changed: export it with that version (`sheaf export`), and import it here.",
    );
  }
  if (format > FORMAT) {
    throw new DatabaseError(
      "format-too-new",
      `Cannot read ${where}: it has format ${format}, this version knows ${FORMAT}. ` +
        `Open it with a newer version of Sheaf.`,
    );
  }
  return { index, base, salt };
}

function isMagic(bytes: Uint8Array): boolean {
  try {
    return decodeText(bytes) === MAGIC;
  } catch {
    return false;
  }
}

/**
 * Finds the one byte of a damaged header that is wrong and sets it right; `false`
 * when more are. Another damage passes for that once in 2^18, and then hardly
 * with the magic: no record behind it has a checksum that fits.
 */
export function mendSegmentHeader(bytes: Uint8Array): boolean {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  for (let at = 0; at < bytes.length; at++) {
    const was = bytes[at]!;
    for (let byte = 0; byte < 256; byte++) {
      bytes[at] = byte;
      const sum = crc32(bytes.subarray(0, CRC_AT));
      if (view.getUint32(CRC_AT, true) === sum) return true;
    }
    bytes[at] = was;
  }
  return false;
}

const prefix = new Uint8Array(PREFIX_BYTES);

/**
 * The checksum of a record up to its body: of
 * `salt ‖ address ‖ length ‖ kind`. The body's checksum continues it.
 *
 * @param saltCrc checksum of the segment's salt
 * @param address of the record's first byte
 * @param length of its body
 * @param kind with its sync mark
 */
export function recordSeed(
  saltCrc: number,
  address: number,
  length: number,
  kind: number,
): number {
  let high = Math.floor(address / TWO_32);
  let low = address >>> 0;
  for (let i = 0; i < 4; i++, low >>>= 8) prefix[i] = low;
  for (let i = 4; i < 6; i++, high >>>= 8) prefix[i] = high;
  let rest = length;
  for (let i = 6; i < 10; i++, rest >>>= 8) prefix[i] = rest;
  prefix[10] = kind;
  // A loop over eleven bytes beats a call into the platform.
  return crc32Portable(prefix, saltCrc);
}

export function writeRecordHeader(
  target: Uint8Array,
  length: number,
  crc: number,
  kind: number,
): void {
  for (let i = 0; i < 4; i++) target[i] = length >>> (8 * i);
  for (let i = 0; i < 4; i++) target[4 + i] = crc >>> (8 * i);
  target[8] = kind;
}

/** Four bytes at `at` as an integer. */
export function readU32(bytes: Uint8Array, at: number): number {
  return (bytes[at]! | bytes[at + 1]! << 8 | bytes[at + 2]! << 16 |
    bytes[at + 3]! << 24) >>> 0;
}

/** Is it the kind of a record, with or without the sync mark? */
export function isRecordKind(kind: number): boolean {
  const plain = kind & ~SYNC_MARK;
  return plain > 0 && plain <= KIND_MAX;
}

/**
 * Could a record with such a header stand where `room` bytes are left? Says
 * nothing of its checksum.
 */
export function isPlausible(
  length: number,
  kind: number,
  room: number,
): boolean {
  return length <= room - RECORD_HEADER_BYTES && isRecordKind(kind) &&
    length <= limits.batchBytesMax;
}
