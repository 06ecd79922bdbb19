/**
 * Logs that were never given to anybody: what a power cut left of their
 * creation, before the keys that they belong to were durable.
 */

import { DatabaseError } from "../../src/base/errors.ts";
import type { Storage, StorageFile } from "../../src/storage/storage.ts";
import {
  decodeSegmentHeader,
  isBatch,
  LIFE,
  SEGMENT_HEADER_BYTES,
  segmentName,
} from "../log/format.ts";
import { findRecords } from "../log/search.ts";
import { Segment } from "../log/segment.ts";

const LOG = segmentName(0);
const ASIDE = `quarantine-${LOG}`;

/**
 * Sets aside the logs of a folder whose keys are missing, where none of them
 * holds a commit; otherwise does nothing and answers `false`.
 */
export async function setUnbornAside(
  storage: Storage,
  folders: readonly string[],
): Promise<boolean> {
  for (const folder of folders) {
    await storage.prepare?.(folder);
    try {
      if (!isUnborn(storage, folder)) return false;
    } finally {
      storage.release?.(folder);
    }
  }
  for (const folder of folders) {
    if (!storage.list(folder).includes(LOG)) continue;
    storage.rename(`${folder}/${LOG}`, `${folder}/${ASIDE}`);
    storage.syncFolder(folder);
  }
  return true;
}

function isUnborn(storage: Storage, folder: string): boolean {
  const names = storage.list(folder)
    .filter((name) => name !== ASIDE && name !== LIFE);
  if (names.length === 0) return true;
  const file = names.length === 1
    ? storage.open(`${folder}/${LOG}`)
    : undefined;
  if (file === undefined) return false;
  try {
    return !hasCommits(file, `${folder}/${LOG}`);
  } finally {
    file.close();
  }
}

/** A header that is damaged, and not only missing, counts as a log in use. */
function hasCommits(file: StorageFile, where: string): boolean {
  const size = file.size();
  const head = new Uint8Array(SEGMENT_HEADER_BYTES);
  const read = file.readAt(head, 0);
  if (read < head.length || head.every((byte) => byte === 0)) return false;
  try {
    const segment = new Segment(file, decodeSegmentHeader(head, where), size);
    let found = false;
    const isSearched = findRecords(segment, segment.start, size, ({ kind }) => {
      found = isBatch(kind);
      return found;
    });
    return found || !isSearched;
  } catch (cause) {
    if (cause instanceof DatabaseError) return true;
    throw cause;
  }
}
