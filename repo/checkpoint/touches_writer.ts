/**
 * Writes what touches each item into a checkpoint: what the one before knows,
 * and what came since, in steps; and the checkpoints in which it stands: that over
 * which a log was opened, and those that are written while it is open. For who
 * does not load his code into a page.
 */

import { ByteWriter } from "../../src/base/bytes.ts";
import { chainBytes } from "../commit/commit.ts";
import type { TailPicture, TouchRun } from "../history/touch_tail.ts";
import type { Records, Stream } from "./layout.ts";
import type { PageWriter } from "./page_writer.ts";
import { type NextRecord, StoredTouches, touchWidths } from "./touches.ts";
import type { Storage } from "../../src/storage/storage.ts";
import { PageFile } from "./page_file.ts";
import { hasCode } from "../../src/base/errors.ts";

/** Records of one step. */
const STEP = 1_024;

/** What is known of a log up to where a checkpoint holds. */
export interface TouchesPicture {
  /** What a checkpoint before it holds. */
  readonly stored: StoredTouches | undefined;
  /** What came since. */
  readonly tail: TailPicture;
}

/** Writes it, and says where. */
export function* writeTouches(
  writer: PageWriter,
  { stored, tail }: TouchesPicture,
): Generator<void, Stream> {
  const places = [
    yield* writeRecords(
      writer,
      merged(stored?.sweep("touch"), tail.runs.map(touchesOf)),
    ),
    yield* writeRecords(writer, after(stored?.sweep("mark"), marksOf(tail))),
    yield* writeRecords(writer, after(stored?.sweep("link"), linksOf(tail))),
  ];
  const directory = new ByteWriter(1024);
  directory.u48(tail.end);
  directory.varint(tail.chains.length);
  for (const { chain, length } of tail.chains) {
    directory.bytes(chainBytes(chain));
    directory.varint(length);
  }
  for (const { first, count } of places) {
    directory.varint(first);
    directory.varint(count);
  }
  return writer.stream(directory.view());
}

function* writeRecords(
  writer: PageWriter,
  next: NextRecord,
): Generator<void, Records> {
  const first = writer.begin();
  let count = 0;
  for (let more = STEP; more === STEP;) {
    more = writeSome(writer, next);
    count += more;
    yield;
  }
  writer.end();
  return { first, count };
}

/** No part of the generator, whose loops V8 interprets. */
function writeSome(writer: PageWriter, next: NextRecord): number {
  for (let i = 0; i < STEP; i++) {
    const record = next();
    if (record === undefined) return i;
    writer.whole(record);
  }
  return STEP;
}

function after(before: NextRecord | undefined, next: NextRecord): NextRecord {
  let isPast = before === undefined;
  return () => {
    const record = isPast ? undefined : before!();
    if (record !== undefined) return record;
    isPast = true;
    return next();
  };
}

/** By hash, those of one hash in the log's order: that of the runs. */
function merged(
  stored: NextRecord | undefined,
  runs: readonly NextRecord[],
): NextRecord {
  const all = stored === undefined ? runs : [stored, ...runs];
  const heads = all.map((next) => next());
  const hashes = heads.map(hashOf);
  let last = -1;
  return () => {
    if (last >= 0) hashes[last] = hashOf(heads[last] = all[last]!());
    last = -1;
    let least = Infinity;
    for (let i = 0; i < hashes.length; i++) {
      if (hashes[i]! < least) least = hashes[last = i]!;
    }
    return heads[last];
  };
}

/** Infinite where there is no more. */
function hashOf(record: Uint8Array | undefined): number {
  if (record === undefined) return Infinity;
  const high = record[2]! << 16 | record[3]! << 24;
  return (record[0]! | record[1]! << 8 | high) >>> 0;
}

function recordsOf(
  count: number,
  width: number,
  write: (view: DataView, i: number) => void,
): NextRecord {
  const bytes = new Uint8Array(width);
  const view = new DataView(bytes.buffer);
  let i = 0;
  return () => {
    if (i === count) return undefined;
    write(view, i++);
    return bytes;
  };
}

function touchesOf({ hashes, offsets, base }: TouchRun): NextRecord {
  return recordsOf(hashes.length, touchWidths.touch, (view, i) => {
    view.setUint32(0, hashes[i]!, true);
    setU48(view, 4, base + offsets[i]!);
  });
}

function marksOf({ marks, indexes }: TailPicture): NextRecord {
  return recordsOf(marks.length, touchWidths.mark, (view, i) => {
    setU48(view, 0, marks[i]!);
    view.setUint32(6, indexes[i]!, true);
  });
}

function linksOf({ links }: TailPicture): NextRecord {
  return recordsOf(links.length / 4, touchWidths.link, (view, i) => {
    view.setUint32(0, links[4 * i]!, true);
    setU48(view, 4, links[4 * i + 1]!);
    view.setUint32(10, links[4 * i + 2]!, true);
    setU48(view, 14, links[4 * i + 3]!);
  });
}

function setU48(view: DataView, at: number, value: number): void {
  view.setUint32(at, value >>> 0, true);
  view.setUint16(at + 4, Math.floor(value / 2 ** 32), true);
}

export type WriteTouches = (writer: PageWriter) => Generator<void, Stream>;

export class TouchFiles {
  readonly #first: PageFile | undefined;
  /** What was opened here. */
  #own: PageFile | undefined;

  /** @param first that over which the log was opened */
  constructor(first: PageFile | undefined) {
    this.#first = first;
  }

  /** What the first one knows; nothing where nobody wrote it, or it is damaged. */
  open(): StoredTouches | undefined {
    try {
      return this.#first && StoredTouches.in(this.#first);
    } catch (error) {
      if (isDamage(error)) return undefined;
      throw error;
    }
  }

  /** What a file knows that was written just now. */
  rebase(storage: Storage, path: string): StoredTouches | undefined {
    const file = storage.open(path);
    if (file === undefined) return undefined;
    try {
      const own = new PageFile(file, path);
      const stored = StoredTouches.in(own);
      this.close();
      this.#own = own;
      return stored;
    } catch (error) {
      file.close();
      if (isDamage(error)) return undefined;
      throw error;
    }
  }

  /** Writes a picture; tells where the file before it is damaged. */
  writing(picture: TouchesPicture, onDamage: () => void): WriteTouches {
    return function* (writer) {
      try {
        return yield* writeTouches(writer, picture);
      } catch (error) {
        if (isDamage(error)) onDamage();
        throw error;
      }
    };
  }

  close(): void {
    this.#own?.close();
    this.#own = undefined;
  }
}

function isDamage(error: unknown): boolean {
  return error instanceof SyntaxError || hasCode(error, "checkpoint-damaged");
}
