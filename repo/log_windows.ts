/**
 * Decoding what stands at scattered addresses of a log, without a read of its
 * files for each: the last windows are kept, as a database keeps pages.
 *
 * A window ends where the log did when it was read. What stands before that end
 * is never written again, but for seals and the headers that count on them, and
 * who comes here reads neither.
 *
 * Architecture invariant: derived data is disposable (law 5); never writes.
 *
 * @module
 */

import { ByteReader } from "../src/base/bytes.ts";
import { limits } from "../src/base/limits.ts";
import type { Log } from "./log.ts";

/** Bytes that most commits fit into, with the head of their batch and some neighbours. */
const WINDOW_BYTES = 4_096;
/** So many are kept: 128 KiB. */
const WINDOWS = 32;

/** Some bytes of the log. */
interface Window {
  readonly bytes: Uint8Array;
  at: number;
  end: number;
  reader: ByteReader;
}

/** Decodes from one log. */
export class LogWindows {
  readonly #log: Log;
  readonly #windows: Window[] = [];
  /** The one that was read from last, and the one that was filled last. */
  #last: Window | undefined;
  #filled = -1;

  constructor(log: Log) {
    this.#log = log;
  }

  /**
   * Decodes what stands at an address; reads more where it was cut. The reader
   * and its bytes are the decoder's only while it runs.
   */
  decode<T>(address: number, decode: (reader: ByteReader) => T): T {
    const known = this.#find(address);
    if (known !== undefined) {
      try {
        return decode(known);
      } catch (error) {
        if (!(error instanceof SyntaxError)) throw error;
      }
    }
    for (let room = WINDOW_BYTES;; room *= 8) {
      const reader = room === WINDOW_BYTES
        ? this.#fill(address)
        : this.#read(new Uint8Array(room), address);
      const isAll = reader.end < room || room >= limits.batchBytesMax;
      try {
        return decode(reader);
      } catch (error) {
        if (!(error instanceof SyntaxError) || isAll) throw error;
      }
    }
  }

  /** A reader that stands at an address, where a window has it. */
  #find(address: number): ByteReader | undefined {
    const last = this.#last;
    if (last !== undefined && last.at <= address && address < last.end) {
      last.reader.at = address - last.at;
      return last.reader;
    }
    for (const window of this.#windows) {
      if (window.at > address || address >= window.end) continue;
      this.#last = window;
      window.reader.at = address - window.at;
      return window.reader;
    }
    return undefined;
  }

  /** Reads into the oldest window. */
  #fill(address: number): ByteReader {
    const next = (this.#filled + 1) % WINDOWS;
    const old = this.#windows[next];
    if (old !== undefined) old.end = old.at; // Reading may fail.
    const bytes = old?.bytes ?? new Uint8Array(WINDOW_BYTES);
    const reader = this.#read(bytes, address);
    this.#filled = next;
    const end = address + reader.end;
    this.#last = this.#windows[next] = { bytes, at: address, end, reader };
    return reader;
  }

  #read(bytes: Uint8Array, address: number): ByteReader {
    const size = this.#log.readAt(bytes, address);
    return new ByteReader(bytes, 0, Math.min(size, this.#log.end - address));
  }
}
