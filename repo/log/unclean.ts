/**
 * A log that may have been cut short, or damaged: docs/format.md, "Recovery".
 * Tells apart a zero tail, a torn tail (cut and counted) and damage (an error, or
 * a repair into quarantine); loaded with the first log that was not closed well.
 *
 * Architecture invariant: bytes that were acknowledged are never cut without an
 * error or a repair that was asked for. A sync mark behind the first byte _e_ that
 * is no record proves that the bytes at _e_ had been durable.
 */

// As in src/db/online.ts.
import "../mod.ts";

import { DatabaseError } from "../../src/base/errors.ts";
import type { Storage } from "../../src/storage/storage.ts";
import { SEGMENT_HEADER_BYTES } from "./format.ts";
import { Quarantine, type Survivor } from "./quarantine.ts";
import type { LoadedSegment, LoadOptions, LogReader } from "./reader.ts";
import { freeName } from "./quarantine.ts";
import { findRecords } from "./search.ts";
import {
  endOfBytes,
  endOfFileBytes,
  type OnRecord,
  type Segment,
  writeAnew,
  ZEROS_BEHIND,
} from "./segment.ts";

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

export interface RecoverOptions extends LoadOptions {
  /** Takes each record from `from` on, in order; what it answers is ignored. */
  readonly onRecord: OnRecord;
  /** Is given, before the first record, what can read the log meanwhile. */
  readonly onReader?: (reader: Pick<LogReader, "readAt">) => void;
  /**
   * Asked behind the last record: where does a group of records begin that is
   * whole or nothing, and whose end is missing?
   */
  readonly tornAt?: () => number | undefined;
}

export interface RecoveredLog {
  /** Reads any address of it. */
  readonly reader: LogReader;
  /** The segment to append to. */
  readonly last: Segment;
  /** Address after the last record. */
  readonly end: number;
  readonly recovery: Recovery;
}

export interface Stop {
  readonly storage: Storage;
  readonly folder: string;
  readonly loaded: readonly LoadedSegment[];
  readonly reader: LogReader;
  readonly segments: Segment[];
  readonly last: Segment;
  readonly end: number;
  readonly later: readonly LoadedSegment[];
  /** Address at which reading began. */
  readonly from: number;
}

/** Where not even a first header is: the log never began, or its start is damaged. */
export function recoverStart(
  storage: Storage,
  folder: string,
  loaded: readonly LoadedSegment[],
  from: number,
): undefined {
  if (from > 0) throw lostTail(folder, from, 0);
  if (isDamaged(loaded)) throw damage(folder, 0, loaded);
  discard(storage, folder, loaded);
  return undefined;
}

/** Decides what the bytes are that follow the last valid record. */
export async function recoverAt(
  stop: Stop,
  { repair, tornAt }: RecoverOptions,
): Promise<RecoveredLog | undefined> {
  const { storage, folder, last, end, later, loaded, from } = stop;
  if (last.limit < from) throw lostTail(folder, from, last.limit);
  const used = endOfBytes(last, end, last.limit);
  // A record may end with zeros, which `used` does not count.
  // Who asks for a repair wants every record that is left, also of a torn tail.
  const damaged = used > end && hasRecord(last, end, repair === true) ||
    isDamaged(later);
  if (damaged && repair !== true) throw damage(folder, end, later);
  if (!damaged && end === SEGMENT_HEADER_BYTES) {
    discard(storage, folder, [loaded[0]!, ...later]);
    return undefined;
  }
  const torn = tornAt?.();
  if (torn !== undefined) return await cutBack(stop, torn, damaged);
  if (used === end && later.length === 0) return await keepAll(stop);
  return await cut(stop, used, damaged);
}

/** Nothing to cut: a clean end, or zeros that a crash left behind. */
async function keepAll(stop: Stop): Promise<RecoveredLog> {
  const { reader, last, end } = stop;
  const clean = end === last.limit;
  if (!clean) await syncAll(stop);
  const recovery = { clean, droppedBytes: 0, survivors: [] };
  return { reader, last, end, recovery };
}

/** Cuts the log where a group of records begins whose end is missing. */
async function cutBack(
  stop: Stop,
  end: number,
  damaged: boolean,
): Promise<RecoveredLog> {
  const { loaded, segments } = stop;
  let count = segments.length;
  while (segments[count - 1]!.base > end) count--;
  segments.length = count; // The reader's own list.
  const last = segments[count - 1]!;
  const used = endOfBytes(last, end, last.limit);
  const later = loaded.slice(count);
  return await cut({ ...stop, last, end, later }, used, damaged);
}

/** Cuts the log at its first bad byte, after setting damaged bytes aside. */
async function cut(
  stop: Stop,
  used: number,
  damaged: boolean,
): Promise<RecoveredLog> {
  const { storage, folder, reader, last, end, later } = stop;
  const quarantine = damaged ? await setAside(stop, used) : undefined;
  let droppedBytes = used - end;
  for (const { file, size } of later) {
    droppedBytes += endOfFileBytes(file, 0, size);
  }
  removeFiles(storage, folder, later);
  last.file.truncate(end - last.base);
  // A crash that comes before anybody acted on this one must not look like a clean close.
  last.size = end - last.base + ZEROS_BEHIND;
  last.file.truncate(last.size);
  // Durable before anything is appended: stale bytes must not come back behind it.
  await syncAll(stop);
  const recovery = {
    clean: false,
    droppedBytes,
    survivors: quarantine?.survivors ?? [],
    ...(quarantine !== undefined && { quarantine: quarantine.name }),
  };
  return { reader, last, end, recovery };
}

/**
 * A crash of the process alone leaves records and names that were never synced,
 * and a failed sync some that no sync ever will: from the last sync mark on, and
 * from where reading began, everything is written once more.
 */
async function syncAll(
  { storage, folder, segments, from, end }: Stop,
): Promise<void> {
  const proved = Math.max(from, ...segments.map(({ markedAt }) => markedAt));
  for (const { file, base, size } of segments) {
    // Of the zeros behind the last record one is enough.
    const to = Math.min(size, end - base + 1);
    writeAnew(file, Math.max(0, proved - base), to);
    await file.sync();
  }
  storage.syncFolder(folder);
}

async function setAside(
  { storage, folder, last, end, later }: Stop,
  used: number,
): Promise<Quarantine> {
  const quarantine = new Quarantine(storage, folder, end);
  quarantine.addTail(last, used);
  for (const { segment, file, size } of later) {
    if (segment === undefined) quarantine.addFile(file, size);
    else quarantine.addSegment(segment);
  }
  await quarantine.finish();
  return quarantine;
}

/** Had any of these files been durable once? */
function isDamaged(files: readonly LoadedSegment[]): boolean {
  return files.some(({ segment, damage }) =>
    damage !== undefined ||
    segment !== undefined && hasRecord(segment, segment.start, false)
  );
}

/** Is there a record from an address on, with a sync mark unless any will do? */
function hasRecord(segment: Segment, from: number, isAny: boolean): boolean {
  let found = false;
  const finished = findRecords(
    segment,
    from,
    segment.limit,
    ({ marked }) => found = isAny || marked,
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
  loaded: readonly LoadedSegment[],
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
  files: readonly LoadedSegment[],
): void {
  for (const { name, file } of files.toReversed()) {
    file.close();
    storage.remove(name);
    storage.syncFolder(folder);
  }
}

function damage(
  folder: string,
  address: number,
  later: readonly LoadedSegment[],
): DatabaseError {
  const header = later.find(({ damage }) => damage !== undefined)?.damage;
  return new DatabaseError(
    "log-damaged",
    `Cannot open the log in ${folder}: bytes at address ${address} were durable and are damaged now. ` +
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
