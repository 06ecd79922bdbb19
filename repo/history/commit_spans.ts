/**
 * Which commit stands at a place of the log, found from marks: some addresses at
 * which commits start. Reads a few kilobytes from the mark on, and keeps what was
 * found last, as a database keeps pages.
 *
 * Architecture invariant: derived data is disposable (law 5); never writes.
 */

import { ByteReader } from "../../src/base/bytes.ts";
import { DatabaseError } from "../../src/base/errors.ts";
import type { Hlc } from "../../src/base/hlc.ts";
import type { Operation, Shape } from "../../src/schema/patch.ts";
import { readOperation } from "../../src/schema/patch_codec.ts";
import { readPatchHead } from "../../src/schema/patch_parts.ts";
import { type BatchHead, batchHead } from "../commit/batch.ts";
import {
  chainBytesLength,
  type Position,
  readParents,
} from "../commit/commit.ts";
import type { Store } from "../log/store.ts";
import { RECORD_HEADER_BYTES } from "../log/format.ts";
import { limits } from "../../src/base/limits.ts";

/** Where batches start, and in long ones some of their commits; ascending. */
export interface Marks {
  /** The last one at or before a place. */
  markOf(place: number): number;
  /** Its address: of the first commit of a batch, that of the batch; 0 behind the last one. */
  markAt(mark: number): number;
  /** Which commit of its batch it is; 0 behind the last one. */
  indexAt(mark: number): number;
}

export interface CommitHead extends Position, Hlc {
  readonly parents: readonly Position[];
  readonly shapes: readonly Shape[];
}

export interface CommitSpot extends Position {
  readonly address: number;
  /** Log address of its batch. */
  readonly body: number;
}

/** Neighbours in one batch. */
interface Span {
  readonly chain: string;
  readonly first: number;
  /** Where each starts. */
  readonly starts: readonly number[];
  readonly body: number;
  /** Where the next mark is; 0 where there is none yet. */
  readonly end: number;
}

/** So many heads of batches, and of commits, are kept. */
const KEPT = 256;

export class CommitSpans {
  readonly #log: Store;
  readonly #marks: Marks;
  readonly #windows: LogWindows;
  #last: Span | undefined;
  readonly #batches = new Map<number, BatchHead>();
  readonly #heads = new Map<number, CommitHead>();

  constructor(log: Store, marks: Marks) {
    this.#log = log;
    this.#marks = marks;
    this.#windows = new LogWindows(log);
  }

  /** The commit in which a place lies: the last one that starts before it. */
  find(place: number): CommitSpot {
    let span = this.#last;
    const isIn = span !== undefined && span.starts[0]! <= place &&
      place < span.end;
    if (!isIn) span = this.#last = this.#readSpan(this.#marks.markOf(place));
    const { chain, first, starts, body } = span!;
    let index = starts.length - 1;
    while (starts[index]! > place) index--;
    return { chain, number: first + index, address: starts[index]!, body };
  }

  #readSpan(mark: number): Span {
    const marks = this.#marks;
    let start = mark;
    while (marks.indexAt(start) > 0) start--;
    const body = marks.markAt(start);
    const batch = this.#batchAt(body);
    const index = marks.indexAt(mark);
    // Where the next mark is another batch's, or there is none yet, it goes on to the end.
    const count = (marks.indexAt(mark + 1) || batch.count) - index;
    const end = marks.markAt(mark + 1);
    const at = index === 0 ? body + batch.start : marks.markAt(mark);
    const starts = this.#decode(
      at,
      body,
      (reader) => startsOf(reader, at, count),
    );
    return {
      chain: batch.chain,
      first: batch.first + index,
      starts,
      body,
      end,
    };
  }

  #batchAt(body: number): BatchHead {
    let head = this.#batches.get(body);
    if (head !== undefined) return head;
    head = this.#decode(
      body,
      body,
      ({ bytes, at, end }) => batchHead(bytes.subarray(at, end)),
    );
    if (this.#batches.size >= KEPT) this.#batches.clear();
    this.#batches.set(body, head);
    return head;
  }

  rewritten(): void {
    this.#windows.forget();
  }

  headOf({ chain, number, address, body }: CommitSpot): CommitHead {
    let head = this.#heads.get(address);
    if (head !== undefined) return head;
    head = this.#decode(address, body, (reader) => {
      const [wall, count] = [reader.u48(), reader.u16()];
      const parents = readParents(reader, chain);
      reader.varint();
      const shapes = readPatchHead(reader);
      return { chain, number, wall, count, parents, shapes };
    });
    if (this.#heads.size >= KEPT) this.#heads.clear();
    this.#heads.set(address, head);
    return head;
  }

  operationAt(
    place: number,
    { body }: CommitSpot,
    head: CommitHead,
  ): Operation {
    return this.#decode(
      place,
      body,
      (reader) => readOperation(reader, head.shapes),
    );
  }

  /**
   * Decodes what stands at an address, in the batch at `body`. Where nothing stands
   * there though the batch is as it was written, the address is wrong: it comes from
   * the checkpoint's marks.
   */
  #decode<T>(
    address: number,
    body: number,
    decode: (reader: ByteReader) => T,
  ): T {
    try {
      return this.#windows.decode(address, decode);
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error;
      this.checkRecord(body);
      throw new DatabaseError(
        "checkpoint-damaged",
        `The checkpoint names a commit where there is none, at byte ${address} ` +
          `of the log: ${error.message}`,
      );
    }
  }

  /** Fails with `log-damaged` where the record of a batch is not what was written. */
  checkRecord(body: number): void {
    const start = body - RECORD_HEADER_BYTES;
    this.#log.records(start, this.#log.end, () => true);
  }
}

/** Where commits start, of which the reader stands at the first. */
function startsOf(
  reader: ByteReader,
  address: number,
  count: number,
): number[] {
  const shift = address - reader.at;
  const starts = [address];
  while (starts.length < count) {
    reader.skip(8);
    for (let parents = reader.u8(); parents > 0; parents--) {
      reader.skip(chainBytesLength);
      reader.varint();
    }
    const length = reader.varint();
    reader.at += length; // What stands there need not be in the window.
    starts.push(reader.at + shift);
  }
  return starts;
}

/** Bytes that most commits fit into, with the head of their batch and some neighbours. */
const WINDOW_BYTES = 4_096;
/** So many are kept: 128 KiB. */
const WINDOWS = 32;

interface Window {
  readonly bytes: Uint8Array;
  at: number;
  end: number;
  reader: ByteReader;
}

class LogWindows {
  readonly #log: Store;
  readonly #windows: Window[] = [];
  /** The one that was read from last, and the one that was filled last. */
  #last: Window | undefined;
  #filled = -1;

  constructor(log: Store) {
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

  forget(): void {
    this.#windows.length = 0;
    this.#last = undefined;
    this.#filled = -1;
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
