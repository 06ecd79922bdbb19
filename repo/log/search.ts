/**
 * Looking for records behind bytes that are none.
 *
 * Any byte may begin a record, and random bytes name long ones, so that
 * checking each candidate's body would be quadratic. A CRC is linear: with
 * P(n) the checksum of the first n bytes, the checksum of any stretch follows
 * from P at its two ends,
 *
 *     crc(a ‖ b) = crc(a) · x^(8 |b|) + crc(b)   in GF(2)[x] mod the polynomial,
 *
 * so one pass for P makes every candidate equally cheap, however long.
 */

import { crc32 } from "../../src/base/crc32.ts";
import {
  isPlausible,
  isRecordKind,
  readU32,
  RECORD_HEADER_BYTES,
  recordSeed,
  SYNC_MARK,
} from "./format.ts";
import { CHUNK_BYTES, type Segment } from "./segment.ts";

/** P is kept for every multiple of this many bytes. */
const GRID_BYTES = 1_024;

/**
 * Gives up after so many candidates (seconds): only bytes made for it contain
 * more.
 */
const CANDIDATES_MAX = 4_000_000;

export interface FoundRecord {
  /** Without the sync mark. */
  readonly kind: number;
  /** Had everything before it reached the medium when it was written? */
  readonly marked: boolean;
  /** Address of its body. */
  readonly address: number;
  readonly length: number;
}

/**
 * Looks at every byte of `[from, to)` for valid records, calls `onFound` for
 * each, and stops when that returns `true`. Answers `false` when it gave up
 * before the end.
 */
export function findRecords(
  segment: Segment,
  from: number,
  to: number,
  onFound: (found: FoundRecord) => boolean,
  candidatesMax = CANDIDATES_MAX,
): boolean {
  if (to - from < RECORD_HEADER_BYTES) return true;
  const sums = new PrefixSums(segment, from, to);
  const chunk = new Uint8Array(CHUNK_BYTES);
  let candidates = 0;
  for (let start = from; start + RECORD_HEADER_BYTES <= to;) {
    const wanted = Math.min(CHUNK_BYTES, to - start);
    const read = segment.file.readAt(
      chunk.subarray(0, wanted),
      start - segment.base,
    );
    let at = 0;
    while (at + RECORD_HEADER_BYTES <= read) {
      at = nextCandidate(chunk, at, read, to - start);
      if (at + RECORD_HEADER_BYTES > read) break;
      if (++candidates > candidatesMax) return false;
      const found = checkCandidate(segment, sums, chunk, at, start + at);
      if (found === undefined) {
        at++;
        continue;
      }
      if (onFound(found)) return true;
      at += RECORD_HEADER_BYTES + found.length;
    }
    if (at === 0) break; // the file is shorter than it was
    start += at;
  }
  return true;
}

/** Index of the next plausible record header in `bytes[at, end)`. */
function nextCandidate(
  bytes: Uint8Array,
  at: number,
  end: number,
  room: number,
): number {
  for (; at + RECORD_HEADER_BYTES <= end; at++) {
    const kind = bytes[at + 8]!;
    if (!isRecordKind(kind)) continue;
    if (isPlausible(readU32(bytes, at), kind, room - at)) break;
  }
  return at;
}

function checkCandidate(
  segment: Segment,
  sums: PrefixSums,
  bytes: Uint8Array,
  at: number,
  address: number,
): FoundRecord | undefined {
  const length = readU32(bytes, at);
  const kind = bytes[at + 8]!;
  const seed = recordSeed(segment.saltCrc, address, length, kind);
  const body = address + RECORD_HEADER_BYTES;
  if (sums.crc(body, length, seed) !== readU32(bytes, at + 4)) return undefined;
  return {
    kind: kind & ~SYNC_MARK,
    marked: (kind & SYNC_MARK) !== 0,
    address: body,
    length,
  };
}

/** Checksums of any stretch of `[from, to)`. */
class PrefixSums {
  readonly #segment: Segment;
  readonly #from: number;
  readonly #grid: Uint32Array;
  readonly #block = new Uint8Array(GRID_BYTES);

  constructor(segment: Segment, from: number, to: number) {
    this.#segment = segment;
    this.#from = from;
    this.#grid = new Uint32Array(Math.floor((to - from) / GRID_BYTES) + 1);
    const chunk = new Uint8Array(Math.min(CHUNK_BYTES, to - from));
    for (let start = from, i = 1, sum = 0; start < to;) {
      const part = chunk.subarray(0, Math.min(chunk.length, to - start));
      const read = segment.file.readAt(part, start - segment.base);
      if (read === 0) break;
      for (let at = 0; at + GRID_BYTES <= read; at += GRID_BYTES, i++) {
        sum = crc32(part.subarray(at, at + GRID_BYTES), sum);
        this.#grid[i] = sum;
      }
      start += read;
    }
  }

  /** The checksum of `length` bytes from `address` on, continuing `seed`. */
  crc(address: number, length: number, seed: number): number {
    const before = this.#upTo(address);
    const after = this.#upTo(address + length);
    return (multiply(shiftOf(length), seed ^ before) ^ after) >>> 0;
  }

  /** P: the checksum of all bytes from the first up to `address`. */
  #upTo(address: number): number {
    const rest = (address - this.#from) % GRID_BYTES;
    const sum = this.#grid[(address - this.#from - rest) / GRID_BYTES]!;
    if (rest === 0) return sum;
    const part = this.#block.subarray(0, rest);
    this.#segment.file.readAt(part, address - rest - this.#segment.base);
    return crc32(part, sum);
  }
}

/** The polynomial of CRC-32, reflected: the highest power is the lowest bit. */
const POLYNOMIAL = 0xedb88320;

/** The polynomial 1 in that notation. */
const ONE = 0x80000000;

/** Product of two polynomials modulo {@linkcode POLYNOMIAL}. */
function multiply(a: number, b: number): number {
  let product = 0;
  for (let rest = a; rest !== 0; rest <<= 1) {
    if (rest < 0) product ^= b; // the highest bit is set
    b = b & 1 ? (b >>> 1) ^ POLYNOMIAL : b >>> 1;
  }
  return product;
}

const DIGIT_BITS = 10;
const DIGIT_MASK = (1 << DIGIT_BITS) - 1;

/** x^(8 n), n split into three digits of ten bits: a table for each digit. */
let powers: readonly Int32Array[] | undefined;

/** The factor by which `length` bytes shift a checksum: x^(8 length). */
function shiftOf(length: number): number {
  const [low, middle, high] = powers ??= makePowers();
  return multiply(
    low![length & DIGIT_MASK]!,
    multiply(
      middle![length >>> DIGIT_BITS & DIGIT_MASK]!,
      high![length >>> (2 * DIGIT_BITS)]!,
    ),
  );
}

function makePowers(): Int32Array[] {
  let base = ONE >>> 8; // x^8
  return [0, 1, 2].map(() => {
    const table = new Int32Array(1 << DIGIT_BITS);
    table[0] = ONE;
    for (let i = 1; i < table.length; i++) {
      table[i] = multiply(table[i - 1]!, base);
    }
    base = multiply(table.at(-1)!, base);
    return table;
  });
}
