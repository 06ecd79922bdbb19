/**
 * The segment files of a log: loading them, and reading at any address across
 * them. Segments before the one at which a log was opened are opened when they
 * are asked for.
 *
 * Never writes, but for the one byte of a header that a repair sets right.
 */

import { assert, DatabaseError, hasCode } from "../../src/base/errors.ts";
import type { Storage, StorageFile } from "../../src/storage/storage.ts";
import {
  decodeSegmentHeader,
  mendSegmentHeader,
  parseSegmentName,
  SEGMENT_HEADER_BYTES,
  segmentName,
  UNSEALED_MARK,
} from "./format.ts";
import { type OnRecord, readRecords, Segment, segmentIn } from "./segment.ts";

export class LogReader {
  readonly #storage: Storage;
  readonly #folder: string;
  /** Ascending, without gaps; those before the first are not open yet. */
  readonly #segments: Segment[];

  constructor(storage: Storage, folder: string, segments: Segment[]) {
    assert(segments.length > 0, "a log has a segment");
    this.#storage = storage;
    this.#folder = folder;
    this.#segments = segments;
  }

  /** Takes a segment that was begun behind the last one. */
  add(segment: Segment): void {
    this.#segments.push(segment);
  }

  /** Reads bytes from `address` on, within one segment; says how many. */
  readAt(target: Uint8Array, address: number): number {
    const { file, base } = this.segmentAt(address);
    return file.readAt(target, address - base);
  }

  /**
   * Calls `onRecord` for each record from address `from` (of a record's first
   * byte, or of a segment's) up to `to`, checksums verified. Throws
   * `log-damaged` with the address of the first bad byte. Says where it
   * stopped.
   */
  records(from: number, to: number, onRecord: OnRecord): number {
    let stopped = false;
    const take: OnRecord = (kind, body, address) =>
      stopped = onRecord(kind, body, address) === true;
    for (let at = from; at < to;) {
      const segment = this.segmentAt(at);
      const next = this.#segments[segment.index - this.#segments[0]!.index + 1];
      const limit = Math.min(to, next?.base ?? to);
      const start = Math.max(at, segment.start);
      const end = start < limit
        ? readRecords(segment, start, limit, take, UNSEALED_MARK)
        : limit;
      if (stopped) return end;
      if (end < limit) throw this.#damaged(segment, end);
      at = limit;
    }
    return to;
  }

  close(): void {
    for (const { file } of this.#segments) file.close();
  }

  segmentAt(address: number): Segment {
    const segments = this.#segments;
    while (address < segments[0]!.base) segments.unshift(this.#openEarlier());
    let at = segments.length - 1;
    while (segments[at]!.base > address) at--;
    return segments[at]!;
  }

  #openEarlier(): Segment {
    const next = this.#segments[0]!;
    const name = `${this.#folder}/${segmentName(next.index - 1)}`;
    const file = this.#storage.open(name);
    if (file === undefined) {
      throw new DatabaseError(
        "log-damaged",
        `Cannot read ${name}: it is missing. Restore it from a copy.`,
      );
    }
    try {
      return segmentIn(file, name);
    } catch (error) {
      file.close();
      throw error;
    }
  }

  #damaged({ index, base }: Segment, address: number): DatabaseError {
    return new DatabaseError(
      "log-damaged",
      `Cannot read the log in ${this.#folder}: the record at address ${address} ` +
        `(${segmentName(index)}, byte ${
          address - base
        }) does not match its checksum. ` +
        `Restore the folder from a copy, or open with \`repair: true\`.`,
    );
  }
}

export interface LoadOptions {
  /** Records before this address are not read: a checkpoint covers them. */
  readonly from?: number;
  /** Set damaged bytes aside and go on, instead of failing. */
  readonly repair?: boolean;
  /** Names of the files in the log's folder, where the caller has listed them. */
  readonly names?: readonly string[];
}

/** A segment file: read, or torn when it was made, or damaged. */
export interface LoadedSegment {
  readonly name: string;
  readonly file: StorageFile;
  readonly size: number;
  readonly segment: Segment | undefined;
  readonly damage?: DatabaseError;
  /** Was its header mended just now? It is not durable yet. */
  readonly isMended?: boolean;
}

/** Loads the segment that holds `from` and all later ones. */
export function loadSegments(
  storage: Storage,
  folder: string,
  options: LoadOptions,
): LoadedSegment[] {
  const names = options.names ?? storage.list(folder);
  const count = countSegments(folder, names);
  const loaded: LoadedSegment[] = [];
  try {
    for (let index = count - 1; index >= 0; index--) {
      const one = load(storage, folder, index, options.repair === true);
      loaded.unshift(one);
      if (
        one.segment !== undefined && one.segment.base <= (options.from ?? 0)
      ) {
        break;
      }
    }
    const damage = loaded[0]?.damage;
    if (damage !== undefined) throw damage;
  } catch (error) {
    for (const { file } of loaded) file.close();
    throw error;
  }
  return loaded;
}

/** How many segments there are; none may be missing in between. */
function countSegments(folder: string, names: readonly string[]): number {
  let count = 0;
  let highest = -1;
  for (const name of names) {
    const index = parseSegmentName(name);
    if (index === undefined) continue;
    count++;
    highest = Math.max(highest, index);
  }
  if (count === highest + 1) return count;
  throw new DatabaseError(
    "log-damaged",
    `Cannot open the log in ${folder}: one of its files before ${
      segmentName(highest)
    } is missing. Restore it from a copy.`,
  );
}

function load(
  storage: Storage,
  folder: string,
  index: number,
  mend: boolean,
): LoadedSegment {
  const name = `${folder}/${segmentName(index)}`;
  const file = storage.open(name);
  if (file === undefined) {
    throw new DatabaseError(
      "log-damaged",
      `Cannot open ${name}: it is missing. Restore it from a copy.`,
    );
  }
  try {
    const size = file.size();
    const bytes = new Uint8Array(SEGMENT_HEADER_BYTES);
    const read = file.readAt(bytes, 0);
    if (read < bytes.length || bytes.every((byte) => byte === 0)) {
      return { name, file, size, segment: undefined };
    }
    return loadHeader(name, file, size, bytes, index, mend);
  } catch (error) {
    file.close();
    throw error;
  }
}

function loadHeader(
  name: string,
  file: StorageFile,
  size: number,
  bytes: Uint8Array,
  index: number,
  mend: boolean,
): LoadedSegment {
  try {
    const header = decodeSegmentHeader(bytes, name);
    if (header.index === index) {
      return { name, file, size, segment: new Segment(file, header, size) };
    }
    const damage = new DatabaseError(
      "log-damaged",
      `Cannot open ${name}: it is segment ${header.index} under another name. Rename it back.`,
    );
    return { name, file, size, segment: undefined, damage };
  } catch (error) {
    if (!(error instanceof DatabaseError)) throw error;
    if (hasCode(error, "format-too-new", "format-too-old")) throw error;
    if (mend && mendSegmentHeader(bytes)) {
      file.writeAt(bytes, 0);
      const mended = loadHeader(name, file, size, bytes, index, false);
      return { ...mended, isMended: true };
    }
    return { name, file, size, segment: undefined, damage: error };
  }
}
