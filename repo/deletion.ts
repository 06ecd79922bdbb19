/**
 * Deleting a repository for good: all files of its folder.
 *
 * The first segment of its log is renamed out of the folder, to `deleted-` and
 * the folder's name: from when that is durable there is no way back. Then the
 * other files go, and it last. Renaming needs no room on a medium that is full.
 *
 * Architecture invariant: whatever a power cut leaves of a deletion, opening the
 * database shows all of the repository or nothing of it.
 */

import type { Storage } from "../src/storage/storage.ts";
import { LIFE, SEGMENT_HEADER_BYTES, segmentName } from "./log/format.ts";
import { DELETED, deletionsIn, removeFiles } from "./replica_list.ts";
import { REPOSITORIES } from "./replica_open.ts";

/** Deletes the repository in a folder; fine where there is none. */
export async function deleteReplica(
  storage: Storage,
  folder: string,
  keepsLife: boolean,
): Promise<void> {
  await storage.prepare?.(folder);
  try {
    const names = storage.list(folder).filter((name) => name !== LIFE).sort();
    const log = segmentName(0);
    const [first] = names.includes(log) ? [log] : names;
    if (first === undefined) return;
    const deletion = DELETED + folder.slice(REPOSITORIES.length + 1);
    storage.rename(`${folder}/${first}`, deletion);
    await finish(storage, deletion, keepsLife);
  } finally {
    storage.release?.(folder);
  }
}

export async function finishDeletions(
  storage: Storage,
  keepsLife: boolean,
): Promise<void> {
  for (const name of deletionsIn(storage)) {
    await finish(storage, name, keepsLife);
  }
}

/**
 * @param keepsLife is a file left that tells the next repository of this name from
 * the one that was deleted?
 */
async function finish(
  storage: Storage,
  deletion: string,
  keepsLife: boolean,
): Promise<void> {
  const folder = `${REPOSITORIES}/${deletion.slice(DELETED.length)}`;
  await syncFile(storage, deletion);
  storage.syncFolder("");
  storage.makeFolder(folder);
  removeFiles(storage, folder);
  storage.syncFolder(folder);
  if (keepsLife) {
    await syncFile(storage, deletion, SEGMENT_HEADER_BYTES);
    storage.rename(deletion, `${folder}/${LIFE}`);
    storage.syncFolder(folder);
  } else {
    storage.remove(folder);
    storage.syncFolder(REPOSITORIES);
    storage.remove(deletion);
  }
  storage.syncFolder(""); // As does who makes a repository of this name.
}

/** Makes durable what a file is, or its first bytes and no more. */
async function syncFile(
  storage: Storage,
  name: string,
  length?: number,
): Promise<void> {
  const file = storage.open(name)!;
  try {
    if (length !== undefined) file.truncate(Math.min(length, file.size()));
    await file.sync();
  } finally {
    file.close();
  }
}
