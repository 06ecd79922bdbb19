/**
 * Rows that stay in the log: reads them by address, checked.
 *
 * A row's record may be a bulk load of megabytes, so the record's own checksum
 * is of no use for one row; the checkpoint keeps one for every 4 KiB of the log
 * instead.
 *
 * Architecture invariant: no byte of the log is decoded here before the
 * checksum of its page was compared.
 */

import { ByteReader } from "../../src/base/bytes.ts";
import { crc32 } from "../../src/base/crc32.ts";
import { DatabaseError } from "../../src/base/errors.ts";
import { limits } from "../../src/base/limits.ts";
import { LOG_PAGE } from "./layout.ts";
import type { PagePart } from "./page_file.ts";

/** Reads bytes of the log from an address on; says how many there were. */
export type ReadLog = (target: Uint8Array, address: number) => number;

/** Bytes that a row is expected to take at first; afterwards the last row tells. */
const ROW_LIKELY = 512;
/** Bytes of one read when many rows are wanted. */
const CHUNK = 256 * 1024;
/** Two wanted rows with more between them are read apart. */
const GAP_MAX = 8 * 1024;

/** Reads go here: the first touch of memory costs more than the reading. */
let chunk: Uint8Array | undefined;

/** Memory for one read, which is decoded before the next one begins; nothing keeps a view of it. */
function bufferOf(size: number): Uint8Array {
  if (size > CHUNK) return new Uint8Array(size);
  return chunk ??= new Uint8Array(CHUNK);
}

export type DecodeRow = (reader: ByteReader, index: number) => void;

export class LogRows {
  readonly #readLog: ReadLog;
  readonly checks: PagePart;
  readonly #covers: number;
  /** Checksums of pages that were overwritten since. */
  readonly #anew = new Map<number, number>();
  /** Bytes that the next row is expected to take at most. */
  #likely = ROW_LIKELY;

  constructor(readLog: ReadLog, checks: PagePart, covers: number) {
    this.#readLog = readLog;
    this.checks = checks;
    this.#covers = covers;
  }

  row<T>(address: number, decode: (reader: ByteReader) => T): T {
    const start = address - address % LOG_PAGE;
    const at = smallInteger(address - start);
    let room = this.#likely;
    for (;;) {
      const size = Math.ceil((at + room) / LOG_PAGE) * LOG_PAGE;
      const bytes = this.#read(start, size, bufferOf(size));
      const reader = new ByteReader(
        bytes,
        at,
        Math.min(at + room, bytes.length),
      );
      try {
        const row = decode(reader);
        this.#likely = Math.max(ROW_LIKELY, 2 * (reader.at - at));
        return row;
      } catch (error) {
        this.#checkCut(error, address, address + room);
        room *= 4;
      }
    }
  }

  /**
   * Decodes rows at ascending addresses in few large reads; ends a step after
   * each of them. What `decode` keeps must not be a view of the reader's bytes.
   */
  *rows(
    addresses: Float64Array,
    count: number,
    decode: DecodeRow,
  ): Generator<void> {
    for (let row = 0; row < count;) {
      const start = addresses[row]! - addresses[row]! % LOG_PAGE;
      const end = endOfRun(addresses, row, count, start + CHUNK, GAP_MAX);
      const wanted = addresses[end - 1]! + 2 * this.#likely - start;
      const length = Math.min(CHUNK, Math.ceil(wanted / LOG_PAGE) * LOG_PAGE);
      const bytes = this.#read(start, length, bufferOf(length));
      const done = decodeRows(bytes, start, addresses, row, end, decode);
      // The last row of a read may be cut: it starts the next one, or is read alone.
      if (done === row) {
        this.row(addresses[row]!, (reader) => decode(reader, row));
      }
      row = Math.max(done, row + 1);
      yield;
    }
  }

  /** Checked bytes of whole pages; fewer at the end of what is covered. */
  #read(start: number, length: number, target: Uint8Array): Uint8Array {
    const size = Math.min(length, this.#covers - start);
    if (!(size > 0)) throw damaged(start, "an address lies behind its end");
    const bytes = this.#fill(target.subarray(0, size), start);
    for (let at = 0; at < size; at += LOG_PAGE) {
      this.#check(bytes.subarray(at, at + LOG_PAGE), (start + at) / LOG_PAGE);
    }
    return bytes;
  }

  #fill(target: Uint8Array, address: number): Uint8Array {
    for (let at = 0; at < target.length;) {
      const read = this.#readLog(target.subarray(at), address + at);
      if (read === 0) throw damaged(address + at, "it ends too early");
      at += read;
    }
    return target;
  }

  checkAt(page: number): number {
    const anew = this.#anew.get(page);
    if (anew !== undefined) return anew;
    const { perPage, width } = this.checks;
    const view = this.checks.page(Math.floor(page / perPage));
    return view.getUint32(page % perPage * width, true);
  }

  /** Bytes of the log were overwritten: from now on they are as they are now. */
  rewritten(address: number, length: number): void {
    const end = Math.min(address + length, this.#covers);
    for (
      let at = address - address % LOG_PAGE;
      at < end;
      at += LOG_PAGE
    ) {
      const size = Math.min(LOG_PAGE, this.#covers - at);
      const bytes = this.#fill(new Uint8Array(size), at);
      this.#anew.set(at / LOG_PAGE, crc32(bytes, (at / LOG_PAGE) >>> 0));
    }
  }

  #check(bytes: Uint8Array, page: number): void {
    if (crc32(bytes, page >>> 0) !== this.checkAt(page)) {
      throw damaged(page * LOG_PAGE, "the checksum differs");
    }
  }

  /** A row that does not end where its bytes end may go on; others are damage. */
  #checkCut(error: unknown, address: number, end: number): void {
    if (!isCut(error)) throw error;
    const isWhole = end >= this.#covers || end - address > limits.itemBytesMax;
    if (isWhole) throw damaged(address, "there is no item", error);
  }

  /** Checks every page, one step per chunk. */
  *verify(): Generator<void> {
    for (let at = 0; at < this.#covers; at += CHUNK) {
      this.#read(at, CHUNK, bufferOf(CHUNK));
      yield;
    }
  }
}

/** The first row that is not read together with `row`; no part of the generator, whose loops V8 interprets. */
export function endOfRun(
  addresses: Float64Array,
  row: number,
  count: number,
  limit: number,
  gapMax: number,
): number {
  let end = row + 1;
  while (
    end < count && addresses[end]! < limit &&
    addresses[end]! - addresses[end - 1]! <= gapMax
  ) end++;
  return end;
}

/**
 * An offset below 2^31 as V8 keeps small integers. The difference of two
 * addresses is an object of its own there, and a reader that starts at one
 * would make another at every step until its code is optimized.
 */
function smallInteger(offset: number): number {
  return offset | 0;
}

/** Decodes rows; says which is the first that is cut. */
function decodeRows(
  bytes: Uint8Array,
  start: number,
  addresses: Float64Array,
  row: number,
  end: number,
  decode: DecodeRow,
): number {
  const reader = new ByteReader(bytes);
  let i = row;
  try {
    for (; i < end; i++) {
      reader.at = smallInteger(addresses[i]! - start);
      decode(reader, i);
    }
  } catch (error) {
    if (!isCut(error)) throw error;
  }
  return i;
}

function isCut(error: unknown): boolean {
  return error instanceof SyntaxError;
}

function damaged(address: number, why: string, cause?: unknown): DatabaseError {
  return new DatabaseError(
    "log-damaged",
    `The log is damaged at address ${address}: ${why}. ` +
      "Open it without the checkpoint, with repair, to set the damage aside",
    { cause },
  );
}
