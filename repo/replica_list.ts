/**
 * Which repositories a database folder holds: read from their genesis records,
 * since folders are named by hashes.
 *
 * @module
 */

import type { Storage } from "../src/storage/storage.ts";
import { decodeGenesis, folderOf, type RepositoryName } from "./genesis.ts";
import {
  readU32,
  RECORD_HEADER_BYTES,
  SEGMENT_HEADER_BYTES,
  segmentName,
} from "./log_format.ts";
import { REPOSITORIES } from "./replica_open.ts";

/** A genesis is its name and a key: never longer than this. */
const GENESIS_BYTES_MAX = 1024;

/** Names of all repositories, sorted; folders without a readable genesis are left out. */
export function listReplicas(storage: Storage): string[] {
  const names: string[] = [];
  for (const folder of storage.folders(REPOSITORIES)) {
    const name = nameIn(storage, `${REPOSITORIES}/${folder}`);
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
        const name = nameIn(storage, path);
        if (name !== undefined) names.push(name);
      } finally {
        storage.release?.(path);
      }
    }
  };
  await Promise.all(Array.from({ length: LOOKS_MAX }, look));
  return names;
}

/** The folder of a repository. */
export function replicaFolder(name: RepositoryName): string {
  return `${REPOSITORIES}/${folderOf(name)}`;
}

function nameIn(storage: Storage, folder: string): string | undefined {
  const file = storage.open(`${folder}/${segmentName(0)}`);
  if (file === undefined) return undefined;
  try {
    const start = new Uint8Array(
      SEGMENT_HEADER_BYTES + RECORD_HEADER_BYTES + GENESIS_BYTES_MAX,
    );
    const length = file.readAt(start, 0);
    const body = SEGMENT_HEADER_BYTES + RECORD_HEADER_BYTES;
    if (length < body) return undefined;
    const end = body + readU32(start, SEGMENT_HEADER_BYTES);
    return end > length
      ? undefined
      : decodeGenesis(start.subarray(body, end)).name;
  } catch (cause) {
    if (cause instanceof SyntaxError) return undefined;
    throw cause;
  } finally {
    file.close();
  }
}
