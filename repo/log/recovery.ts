/**
 * Opening a log: docs/format.md, "Recovery", step by step.
 *
 * Steps: load the segments from the asked address on; read records up to the
 * first byte that is none. Where the log does not end there `unclean.ts` says why.
 */

import type { Storage } from "../../src/storage/storage.ts";
import { SEGMENT_HEADER_BYTES } from "./format.ts";
import { type LoadedSegment, loadSegments, LogReader } from "./reader.ts";
import { type OnRecord, readRecords, type Segment } from "./segment.ts";
import type { RecoveredLog, RecoverOptions, Stop } from "./unclean.ts";

export type { RecoverOptions, Recovery } from "./unclean.ts";

/**
 * Opens the log in `folder`. `undefined` when there is none, or when its
 * creation never became durable: then nothing of it is left either.
 */
export async function recoverLog(
  storage: Storage,
  folder: string,
  options: RecoverOptions,
): Promise<RecoveredLog | undefined> {
  const from = options.from ?? 0;
  const loaded = loadSegments(storage, folder, options);
  const segments: Segment[] = [];
  try {
    for (const { file, isMended } of loaded) {
      if (isMended === true) await file.sync();
    }
    const stop = readLoaded(storage, folder, loaded, segments, options);
    if (stop !== undefined && wasClosedWell(stop, options)) {
      const { reader, last, end } = stop;
      const recovery = { clean: true, droppedBytes: 0, survivors: [] };
      return { reader, last, end, recovery };
    }
    // As a rule nothing is to be recovered: what does it comes when it is.
    const { recoverAt, recoverStart } = await import("./unclean.ts");
    return stop === undefined
      ? recoverStart(storage, folder, loaded, from)
      : await recoverAt(stop, options);
  } catch (error) {
    for (const { file } of [...loaded, ...segments]) file.close();
    throw error;
  }
}

/** Is there nothing behind the last record, and is none missing? */
function wasClosedWell(
  { last, end, later, from }: Stop,
  { tornAt }: RecoverOptions,
): boolean {
  return end === last.limit && end >= from && end > SEGMENT_HEADER_BYTES &&
    later.length === 0 && tornAt?.() === undefined;
}

/**
 * Reads records across segments until the first byte that is none; `undefined`
 * when the first segment has no header. Puts open segments into `segments`.
 */
function readLoaded(
  storage: Storage,
  folder: string,
  loaded: readonly LoadedSegment[],
  segments: Segment[],
  options: RecoverOptions,
): Stop | undefined {
  const first = loaded[0];
  if (first?.segment === undefined) return undefined;
  let last = first.segment;
  segments.push(last);
  const reader = new LogReader(storage, folder, segments);
  options.onReader?.(reader);
  const { from = 0 } = options;
  // What the callback answers stops nothing: records left unread would be cut.
  const onRecord: OnRecord = (kind, body, address) =>
    void options.onRecord(kind, body, address);
  let end = readRecords(last, Math.max(from, last.start), last.limit, onRecord);
  let count = 1;
  for (; count < loaded.length; count++) {
    const next = loaded[count]!.segment;
    if (next === undefined || next.base !== end) break;
    last = next;
    segments.push(last);
    end = readRecords(last, last.start, last.limit, onRecord);
  }
  const later = loaded.slice(count);
  const place = { storage, folder, loaded, reader, segments };
  return { ...place, last, end, later, from };
}
