/**
 * Which repositories a database folder holds: read from their genesis records,
 * since folders are named by hashes.
 */

import { createView } from "../src/schema/view.ts";
import type { Storage } from "../src/storage/storage.ts";
import { listCheckpoints } from "./checkpoint/files.ts";
import { lateReading } from "./checkpoint/late_reading.ts";
import {
  decodeGenesis,
  folderOf,
  type RepositoryName,
} from "./commit/genesis.ts";
import {
  DAMAGED,
  LIFE,
  readU32,
  RECORD_HEADER_BYTES,
  SEGMENT_HEADER_BYTES,
  segmentName,
} from "./log/format.ts";
import { REPOSITORIES } from "./replica_open.ts";
import { readable } from "../src/base/bytes.ts";

/** A genesis is its name and a key: never longer than this. */
const GENESIS_BYTES_MAX = 1024;

/**
 * Names of all repositories, sorted; a folder is left out of which neither the
 * genesis, but for one bit, nor a checkpoint tells the name.
 */
export function listReplicas(storage: Storage): string[] {
  const names: string[] = [];
  for (const folder of storage.folders(REPOSITORIES)) {
    const path = `${REPOSITORIES}/${folder}`;
    const name = nameIn(storage, path) ?? mendName(storage, path);
    if (name !== undefined) names.push(name);
  }
  return names.sort();
}

/** Folders of a storage whose files must be prepared that are looked into at once: each takes the browser some round trips. */
const LOOKS_MAX = 8;

/** The same of a storage whose files must be prepared, some folders at a time. */
export async function lookForReplicas(storage: Storage): Promise<string[]> {
  const names: string[] = [];
  const folders = storage.folders(REPOSITORIES).values();
  const look = async () => {
    for (const folder of folders) { // All take from the same ones.
      const path = `${REPOSITORIES}/${folder}`;
      await storage.prepare?.(path);
      try {
        let name = nameIn(storage, path);
        if (name === undefined) {
          if (hasCheckpoints(storage, path)) await lateReading.load();
          name = mendName(storage, path);
        }
        if (name !== undefined) names.push(name);
      } finally {
        storage.release?.(path);
      }
    }
  };
  await Promise.all(Array.from({ length: LOOKS_MAX }, look));
  return names;
}

export function markDamaged(storage: Storage, name: RepositoryName): void {
  const folder = replicaFolder(name);
  storage.open(`${folder}/${DAMAGED}`, { create: true })?.close();
  storage.syncFolder(folder);
}

/** What a file's name begins with that was the log of a repository, in a deletion that has not ended. */
export const DELETED = "deleted-";

/** The deletions of a storage that were begun and did not end. */
export function deletionsIn(storage: Storage): string[] {
  return storage.list("").filter((name) => name.startsWith(DELETED));
}

/** Is there anything of a repository that can be deleted? */
export function hasReplica(storage: Storage, folder: string): boolean {
  return storage.list(folder).some((name) => name !== LIFE);
}

export function replicaFolder(name: RepositoryName): string {
  return `${REPOSITORIES}/${folderOf(name)}`;
}

/** Is it the name of the repository in a folder? */
function isOf(path: string, name: string | undefined): boolean {
  return name !== undefined &&
    path.endsWith(`/${folderOf(name as RepositoryName)}`);
}

function nameIn(storage: Storage, path: string): string | undefined {
  const start = startOf(storage, path);
  const said = start && genesisIn(start);
  return isOf(path, said) ? said : undefined;
}

function mendName(storage: Storage, path: string): string | undefined {
  const start = startOf(storage, path);
  if (start === undefined) return undefined;
  const kept = nameInCheckpoint(storage, path);
  if (isOf(path, kept)) return kept;
  // The folder's name tells which bit it was.
  for (let bit = SEGMENT_HEADER_BYTES * 8; bit < start.length * 8; bit++) {
    start[bit >> 3]! ^= 1 << (bit & 7);
    const mended = genesisIn(start);
    start[bit >> 3]! ^= 1 << (bit & 7);
    if (isOf(path, mended)) return mended;
  }
  return undefined;
}

/** The first bytes of a log, up to the end of the longest genesis. */
function startOf(storage: Storage, path: string): Uint8Array | undefined {
  const file = storage.open(`${path}/${segmentName(0)}`);
  if (file === undefined) return undefined;
  try {
    const start = new Uint8Array(
      SEGMENT_HEADER_BYTES + RECORD_HEADER_BYTES + GENESIS_BYTES_MAX,
    );
    return start.subarray(0, file.readAt(start, 0));
  } finally {
    file.close();
  }
}

function genesisIn(start: Uint8Array): string | undefined {
  const body = SEGMENT_HEADER_BYTES + RECORD_HEADER_BYTES;
  if (start.length < body) return undefined;
  const end = body + readU32(start, SEGMENT_HEADER_BYTES);
  if (end > start.length) return undefined;
  return readable(() => decodeGenesis(start.subarray(body, end)).name);
}

function hasCheckpoints(storage: Storage, path: string): boolean {
  return listCheckpoints(storage.list(path)).length > 0;
}

function nameInCheckpoint(storage: Storage, path: string): string | undefined {
  if (!hasCheckpoints(storage, path)) return undefined;
  const noView = () => createView(undefined);
  const { decodeMeta, openCheckpoint } = lateReading.code;
  const { checkpoint } = openCheckpoint(
    storage,
    path,
    () => 0,
    noView,
    listCheckpoints(storage.list(path)),
  );
  try {
    return checkpoint &&
      readable(() => decodeGenesis(decodeMeta(checkpoint.meta).genesis).name);
  } finally {
    checkpoint?.close();
  }
}

/**
 * Sets aside the logs of a folder whose keys are missing, where none of them
 * holds a commit; otherwise does nothing and answers `false`.
 */
export async function setUnbornAside(storage: Storage): Promise<boolean> {
  const folders = storage.folders(REPOSITORIES)
    .map((folder) => `${REPOSITORIES}/${folder}`);
  if (folders.length === 0) return true; // As a rule: the database is new.
  const { setUnbornAside } = await import("./seldom.ts");
  return await setUnbornAside(storage, folders);
}

/** Removes all files of a folder. The first segment is last: without it there is no repository. */
export function removeFiles(storage: Storage, folder: string): void {
  const names = storage.list(folder);
  for (const name of [...names].sort(bySegment)) {
    storage.remove(`${folder}/${name}`);
  }
}

function bySegment(a: string, b: string): number {
  return Number(a === segmentName(0)) - Number(b === segmentName(0));
}
