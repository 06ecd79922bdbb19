/**
 * Which repositories a database folder holds: read from their genesis records,
 * since folders are named by hashes.
 *
 * @module
 */

import type { Storage } from "../src/storage/storage.ts";
import { decodeGenesis } from "./genesis.ts";
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
