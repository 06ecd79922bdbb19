/**
 * Rows that stay in the log: reads them by address, checked.
 *
 * A row's record may be a bulk load of megabytes, so the record's own checksum
 * is of no use for one row; the checkpoint keeps one for every 4 KiB of the log
 * instead.
 *
 * Architecture invariant: no byte of the log is decoded here before the
 * checksum of its page was compared.
 *
 * @module
 */

import { ByteReader } from "../../src/base/bytes.ts";
import { crc32 } from "../../src/base/crc32.ts";
import { DatabaseError } from "../../src/base/errors.ts";
import { limits } from "../../src/base/limits.ts";
import { LOG_PAGE } from "./layout.ts";
import type { PagePart } from "./page_file.ts";

/** Reads bytes of the log from an address on; says how many there were. */
export type ReadLog = (target: Uint8Array, address: number) => number;

/** Rows that end this close to the page's end are read with the next page at once. */
const ROW_LIKELY = 512;
/** Bytes of one read when many rows are wanted. */
const CHUNK = 256 * 1024;
/** Two wanted rows with more between them are read apart. */
const GAP_MAX = 8 * 1024;

/** Decodes the row at the reader's place. */
export type DecodeRow = (reader: ByteReader, index: number) => void;

/** The covered part of a log. */
export class LogRows {
  readonly #readLog: ReadLog;
  readonly #checks: PagePart;
  readonly #covers: number;
  /** Reused: the first touch of memory costs more than the reading. */
  #chunk: Uint8Array | undefined;

  /**
   * @param readLog reads the log
   * @param checks checksums of its pages
   * @param covers where they end
   */
  constructor(readLog: ReadLog, checks: PagePart, covers: number) {
    this.#readLog = readLog;
    this.#checks = checks;
    this.#covers = covers;
  }

  /** Decodes the row at `address`. */
  row<T>(address: number, decode: (reader: ByteReader) => T): T {
    const start = address - address % LOG_PAGE;
    const need = address - start + ROW_LIKELY;
    let size = need > LOG_PAGE ? 2 * LOG_PAGE : LOG_PAGE;
    for (;;) {
      const bytes = this.#read(start, size, new Uint8Array(size));
      try {
        return decode(new ByteReader(bytes, address - start));
      } catch (error) {
        size = this.#larger(error, address, start, size);
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
    let size = CHUNK;
    for (let row = 0; row < count;) {
      const address = addresses[row]!;
      const start = address - address % LOG_PAGE;
      let end = row + 1;
      while (
        end < count && addresses[end]! < start + size &&
        addresses[end]! - addresses[end - 1]! <= GAP_MAX
      ) end++;
      const wanted = addresses[end - 1]! + GAP_MAX - start;
      const length = size > CHUNK
        ? size
        : Math.min(size, Math.ceil(wanted / LOG_PAGE) * LOG_PAGE);
      const bytes = this.#read(start, length, this.#room(length));
      const reader = new ByteReader(bytes);
      const first = row;
      try {
        for (; row < end; row++) {
          reader.at = addresses[row]! - start;
          decode(reader, row);
        }
        size = CHUNK;
      } catch (error) {
        // The last row of a read may be cut: it starts the next read.
        size = row > first && isCut(error)
          ? CHUNK
          : this.#larger(error, address, start, size);
      }
      yield;
    }
  }

  #room(length: number): Uint8Array {
    if (length > CHUNK) return new Uint8Array(length);
    this.#chunk ??= new Uint8Array(CHUNK);
    return this.#chunk.subarray(0, length);
  }

  /** Checked bytes of whole pages; fewer at the end of what is covered. */
  #read(start: number, length: number, target: Uint8Array): Uint8Array {
    const size = Math.min(length, this.#covers - start);
    if (!(size > 0)) throw damaged(start, "an address lies behind its end");
    const bytes = target.subarray(0, size);
    for (let at = 0; at < size;) {
      const read = this.#readLog(bytes.subarray(at), start + at);
      if (read === 0) throw damaged(start + at, "it ends too early");
      at += read;
    }
    for (let at = 0; at < size; at += LOG_PAGE) {
      this.#check(bytes.subarray(at, at + LOG_PAGE), (start + at) / LOG_PAGE);
    }
    return bytes;
  }

  #check(bytes: Uint8Array, page: number): void {
    const checks = this.#checks;
    const view = checks.page(Math.floor(page / checks.perPage));
    const crc = view.getUint32(page % checks.perPage * checks.width, true);
    if (crc32(bytes, page >>> 0) !== crc) {
      throw damaged(page * LOG_PAGE, "the checksum differs");
    }
  }

  /** How much to read after a row did not fit in `size` bytes. */
  #larger(
    error: unknown,
    address: number,
    start: number,
    size: number,
  ): number {
    if (!isCut(error)) throw error;
    const isWhole = start + size >= this.#covers ||
      size > limits.itemBytesMax + LOG_PAGE;
    if (isWhole) throw damaged(address, "there is no item", error);
    return size * 2;
  }

  /** Checks every page, one step per chunk. */
  *verify(): Generator<void> {
    for (let at = 0; at < this.#covers; at += CHUNK) {
      this.#read(at, CHUNK, this.#room(CHUNK));
      yield;
    }
  }
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
