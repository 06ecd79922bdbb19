/**
 * A small file beside a repository, for what is worth keeping and no loss: read
 * and written whole.
 *
 * Architecture invariant: nothing that is wrong with such a file is ever an
 * error (law 5).
 *
 * @module
 */

import { limits } from "../base/limits.ts";
import type { Storage } from "../storage/storage.ts";

/** One small file. */
export interface LocalFile {
  /** What was written last; `undefined` where there is nothing to be had. */
  read(): Promise<Uint8Array | undefined>;
  /** Takes the place of what was written before. */
  write(bytes: Uint8Array): Promise<void>;
}

/** The file that keeps what can be undone in the repository of a folder. */
export function undoFileOf(storage: Storage, folder: string): LocalFile {
  const name = `${folder}/undo`;
  return {
    read: () => Promise.try(() => readWhole(storage, name)),
    write: (bytes) => Promise.try(() => writeWhole(storage, name, bytes)),
  };
}

/** The limit counts characters, which take four bytes at most. */
const BYTES_MAX = limits.undoBytesMax * 4;

function readWhole(storage: Storage, name: string): Uint8Array | undefined {
  const file = storage.open(name);
  if (file === undefined) return undefined;
  try {
    const size = file.size();
    if (size > BYTES_MAX) return undefined;
    const bytes = new Uint8Array(size);
    return file.readAt(bytes, 0) === size ? bytes : undefined;
  } finally {
    file.close();
  }
}

/** Beside it first, then renamed: whole or not at all. It is not synced. */
function writeWhole(storage: Storage, name: string, bytes: Uint8Array): void {
  const file = storage.open(`${name}.new`, { create: true })!;
  try {
    file.truncate(0);
    file.writeAt(bytes, 0);
  } finally {
    file.close();
  }
  storage.rename(`${name}.new`, name);
}
