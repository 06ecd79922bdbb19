/**
 * Opening a log that may have been cut short, or damaged: docs/format.md,
 * "Recovery", step by step.
 *
 * Steps: load the segments from the asked address on; read records up to the
 * first byte _e_ that is none; tell apart a clean end, a zero tail, a torn tail
 * (cut and counted) and damage (an error, or a repair into quarantine).
 *
 * Architecture invariant: bytes that were acknowledged are never cut without an
 * error or a repair that was asked for. A sync mark behind _e_ proves that the
 * bytes at _e_ had been durable.
 *
 * @module
 */

import { DatabaseError } from "../src/base/errors.ts";
import type { Storage, StorageFile } from "../src/storage/storage.ts";
import {
  decodeSegmentHeader,
  mendSegmentHeader,
  parseSegmentName,
  SEGMENT_HEADER_BYTES,
  segmentName,
} from "./log_format.ts";
import { freeName, Quarantine, type Survivor } from "./log_quarantine.ts";
import {
  endOfBytes,
  endOfFileBytes,
  findRecords,
  type OnRecord,
  readRecords,
  Segment,
} from "./log_segment.ts";

/** What opening found. */
export interface Recovery {
  /** Was the log closed in good order? */
  readonly clean: boolean;
  /** Bytes of a torn tail that were cut: nobody was told that they are durable. */
  readonly droppedBytes: number;
  /** Name of the file in which a repair set damaged bytes aside. */
  readonly quarantine?: string;
  /** Valid records behind the damage, in order; the caller may append them again. */
  readonly survivors: readonly Survivor[];
}

/** How to recover. */
export interface RecoverOptions {
  /** Records before this address are not read: the checkpoint covers them. */
  readonly from?: number;
  /** Set damaged bytes aside and go on, instead of failing. */
  readonly repair?: boolean;
  /** Names of the files in the log's folder, where the caller has listed them. */
  readonly names?: readonly string[];
  /** Takes each record from `from` on, in order. */
  readonly onRecord: OnRecord;
}

/** A log that can be appended to. */
export interface RecoveredLog {
  /** Open segments, ascending; earlier ones stay closed. */
  readonly segments: Segment[];
  /** Address after the last record. */
  readonly end: number;
  /** What was found and done. */
  readonly recovery: Recovery;
}

/** A segment file: read, or torn when it was made, or damaged. */
interface Loaded {
  readonly name: string;
  readonly file: StorageFile;
  readonly size: number;
  /** `undefined` when the header was never written. */
  readonly segment: Segment | undefined;
  /** Why the header cannot be read. */
  readonly damage?: DatabaseError;
}

/** Where reading stopped. */
interface Stop {
  readonly segments: Segment[];
  readonly end: number;
  /** Files behind the segment in which reading stopped. */
  readonly later: readonly Loaded[];
}

/**
 * Opens the log in `folder`. `undefined` when there is none, or when its
 * creation never became durable: then nothing of it is left either.
 */
export async function recoverLog(
  storage: Storage,
  folder: string,
  options: RecoverOptions,
): Promise<RecoveredLog | undefined> {
  const loaded = loadFrom(storage, folder, options);
  try {
    return await recoverLoaded(storage, folder, loaded, options);
  } catch (error) {
    for (const { file } of loaded) file.close();
    throw error;
  }
}

async function recoverLoaded(
  storage: Storage,
  folder: string,
  loaded: readonly Loaded[],
  options: RecoverOptions,
): Promise<RecoveredLog | undefined> {
  const from = options.from ?? 0;
  if (loaded.length === 0) {
    if (from > 0) throw lostTail(folder, from, 0);
    return undefined;
  }
  const stop = readLoaded(loaded, from, options.onRecord);
  const last = stop.segments.at(-1);
  if (from > 0 && (last === undefined || last.limit < from)) {
    throw lostTail(folder, from, last?.limit ?? 0);
  }
  const used = last === undefined ? 0 : endOfBytes(last, stop.end, last.limit);
  if (last !== undefined && used === stop.end && stop.later.length === 0) {
    if (stop.end === SEGMENT_HEADER_BYTES) {
      discard(storage, folder, loaded);
      return undefined;
    }
    return await keepAll(stop, last);
  }
  const damaged = isDamaged(stop, used);
  if (damaged && options.repair !== true) {
    throw damage(folder, stop);
  }
  if (!damaged && stop.end <= SEGMENT_HEADER_BYTES) {
    discard(storage, folder, loaded);
    return undefined;
  }
  if (last === undefined) throw damage(folder, stop); // nothing can be read at all
  return await cut(storage, folder, stop, used, damaged);
}

/** Nothing to cut: a clean end, or zeros that a crash left behind. */
async function keepAll(stop: Stop, last: Segment): Promise<RecoveredLog> {
  const clean = stop.end === last.limit;
  const { segments, end } = stop;
  if (!clean) await syncAll(segments);
  return { segments, end, recovery: { clean, droppedBytes: 0, survivors: [] } };
}

/** Cuts the log at its first bad byte, after setting damaged bytes aside. */
async function cut(
  storage: Storage,
  folder: string,
  stop: Stop,
  used: number,
  damaged: boolean,
): Promise<RecoveredLog> {
  const { segments, end, later } = stop;
  const last = segments.at(-1)!;
  const quarantine = damaged
    ? await setAside(storage, folder, stop, used)
    : undefined;
  let droppedBytes = used - end;
  for (const { file, size } of later) {
    droppedBytes += endOfFileBytes(file, 0, size);
  }
  removeFiles(storage, folder, later);
  last.file.truncate(end - last.base);
  last.size = end - last.base;
  // Durable before anything is appended: stale bytes must not come back behind it.
  await syncAll(segments);
  const recovery = {
    clean: false,
    droppedBytes,
    survivors: quarantine?.survivors ?? [],
    ...(quarantine !== undefined && { quarantine: quarantine.name }),
  };
  return { segments, end, recovery };
}

/** A crash of the process alone leaves records that were never synced. */
async function syncAll(segments: readonly Segment[]): Promise<void> {
  for (const { file } of segments) await file.sync();
}

async function setAside(
  storage: Storage,
  folder: string,
  stop: Stop,
  used: number,
): Promise<Quarantine> {
  const quarantine = new Quarantine(storage, folder, stop.end);
  quarantine.addTail(stop.segments.at(-1)!, used);
  for (const { segment, file, size } of stop.later) {
    if (segment === undefined) quarantine.addFile(file, size);
    else quarantine.addSegment(segment);
  }
  await quarantine.finish();
  return quarantine;
}

/** Loads the segment that holds `from` and all later ones. */
function loadFrom(
  storage: Storage,
  folder: string,
  options: RecoverOptions,
): Loaded[] {
  const names = options.names ?? storage.list(folder);
  const count = countSegments(folder, names);
  const loaded: Loaded[] = [];
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
): Loaded {
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
): Loaded {
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
    if (error.code === "format-too-new") throw error;
    if (mend && mendSegmentHeader(bytes)) {
      file.writeAt(bytes, 0);
      return loadHeader(name, file, size, bytes, index, false);
    }
    return { name, file, size, segment: undefined, damage: error };
  }
}

/** Reads records across segments until the first byte that is none. */
function readLoaded(
  loaded: readonly Loaded[],
  from: number,
  onRecord: OnRecord,
): Stop {
  const segments: Segment[] = [];
  let end = 0;
  for (const { segment } of loaded) {
    if (segment === undefined) break;
    if (segments.length > 0 && segment.base !== end) break;
    end = readRecords(
      segment,
      Math.max(from, segment.start),
      segment.limit,
      onRecord,
    );
    segments.push(segment);
  }
  return { segments, end, later: loaded.slice(segments.length) };
}

/** Had the bytes where reading stopped been durable once? */
function isDamaged(stop: Stop, used: number): boolean {
  const last = stop.segments.at(-1);
  if (stop.later.some(({ damage }) => damage !== undefined)) return true;
  if (last !== undefined && hasMark(last, stop.end, used)) return true;
  return stop.later.some(({ segment }) =>
    segment !== undefined && hasMark(segment, segment.start, segment.limit)
  );
}

function hasMark(segment: Segment, from: number, to: number): boolean {
  let found = false;
  const finished = findRecords(
    segment,
    from,
    to,
    (record) => found = record.marked,
  );
  return found || !finished; // in doubt nothing is cut
}

/**
 * Clears away what a creation left that never became durable. No rule can tell
 * it from a log whose first bytes are lost, so that bytes of records are kept.
 */
function discard(
  storage: Storage,
  folder: string,
  loaded: readonly Loaded[],
): void {
  for (const { name, file, size } of loaded) {
    const used = endOfFileBytes(file, 0, size);
    if (used <= SEGMENT_HEADER_BYTES) continue;
    storage.rename(name, `${folder}/${freeName(storage, folder, 0)}`);
  }
  removeFiles(storage, folder, loaded);
}

/** Removes files from the last on, so that a crash leaves no gap. */
function removeFiles(
  storage: Storage,
  folder: string,
  files: readonly Loaded[],
): void {
  for (const { name, file } of files.toReversed()) {
    file.close();
    storage.remove(name);
    storage.syncFolder(folder);
  }
}

function damage(folder: string, stop: Stop): DatabaseError {
  const header = stop.later.find(({ damage }) => damage !== undefined)?.damage;
  return new DatabaseError(
    "log-damaged",
    `Cannot open the log in ${folder}: bytes at address ${stop.end} were durable and are damaged now. ` +
      `Restore the folder from a copy, or open with \`repair: true\`, ` +
      `which sets the rest aside and keeps every record that still connects.`,
    header && { cause: header },
  );
}

function lostTail(folder: string, from: number, limit: number): DatabaseError {
  return new DatabaseError(
    "log-damaged",
    `Cannot open the log in ${folder}: its checkpoint covers ${from} bytes and the log ends at address ${limit}. ` +
      `Restore the folder from a copy, or open with \`repair: true\`.`,
  );
}
