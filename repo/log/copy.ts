/**
 * Copies a log while somebody writes it: its longest valid prefix, record by
 * record checked, without taking the lock.
 *
 * A log only grows, so that whatever prefix was read is a state that the
 * repository was in. Checkpoints are not copied: they are derived (law 5); nor
 * is the life of the log (its epoch): a copy begins another one.
 *
 * Never writes to the source.
 */

import { DatabaseError } from "../../src/base/errors.ts";
import type { Storage, StorageFile } from "../../src/storage/storage.ts";
import { loadSegments } from "./reader.ts";
import { segmentName } from "./format.ts";
import {
  copyBytes,
  endOfBytes,
  type OnRecord,
  readRecords,
  type Segment,
  segmentIn,
  ZEROS_BEHIND,
} from "./segment.ts";
import { batchIn } from "../commit/batch.ts";

export interface LogCopy {
  readonly records: number;
  readonly commits: number;
  readonly bytes: number;
  /**
   * Bytes behind the copied prefix that are no valid records: one that is being
   * written just now, or damage.
   */
  readonly leftOutBytes: number;
}

/** Copies the log in `folder` of one storage to the same folder of another, and checks the copy. */
export async function copyLog(
  source: Storage,
  target: Storage,
  folder: string,
): Promise<LogCopy> {
  const loaded = loadSegments(source, folder, {});
  const counts = { records: 0, commits: 0, bytes: 0, leftOutBytes: 0 };
  try {
    const segments = loaded.map(({ segment }) => segment);
    const count = segments.findIndex((segment) => segment === undefined);
    const readable = segments.slice(0, count < 0 ? segments.length : count);
    target.makeFolder(folder);
    for (const [index, segment] of readable.entries()) {
      const next = readable[index + 1];
      const end = await copySegment(segment!, next, target, folder, counts);
      if (next !== undefined && end === next.base) continue;
      counts.leftOutBytes = leftOut(segment!, end);
      break;
    }
    target.syncFolder(folder);
    return counts;
  } finally {
    for (const { file } of loaded) file.close();
  }
}

type Counts = { -readonly [name in keyof LogCopy]: LogCopy[name] };

async function copySegment(
  segment: Segment,
  next: Segment | undefined,
  target: Storage,
  folder: string,
  counts: Counts,
): Promise<number> {
  const limit = next?.base ?? segment.base + segment.file.size();
  const found = { records: 0, commits: 0 };
  const end = readRecords(segment, segment.start, limit, counting(found));
  const length = end - segment.base;
  const name = `${folder}/${segmentName(segment.index)}`;
  const file = target.open(name, { create: true })!;
  try {
    file.truncate(0);
    copyBytes(segment.file, 0, length, file, 0); // The check of the copy will tell.
    if (end !== next?.base) file.truncate(length + ZEROS_BEHIND);
    await file.sync();
    checkCopy(file, name, end, found);
  } finally {
    file.close();
  }
  counts.records += found.records;
  counts.commits += found.commits;
  counts.bytes += length;
  return end;
}

function counting(found: { records: number; commits: number }): OnRecord {
  return (kind, body) => {
    found.records++;
    found.commits += batchIn(kind, body)?.commits.length ?? 0;
  };
}

/** Reads the copy again: every checksum, and as many records. */
function checkCopy(
  file: StorageFile,
  name: string,
  end: number,
  expected: { readonly records: number },
): void {
  const copy = segmentIn(file, name);
  let records = 0;
  const stopped = readRecords(copy, copy.start, end, () => void records++);
  if (stopped === end && records === expected.records) return;
  throw new DatabaseError(
    "storage-failed",
    `Cannot copy ${name}: what was written does not read back the same. ` +
      "Check the medium, and copy to another one.",
  );
}

/** Bytes up to the last one that is not zero. */
function leftOut(segment: Segment, end: number): number {
  const limit = segment.base + segment.file.size();
  return end >= limit ? 0 : endOfBytes(segment, end, limit) - end;
}
