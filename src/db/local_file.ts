/**
 * A small file beside a repository, for what is worth keeping and no loss: read
 * and written whole.
 *
 * Architecture invariant: nothing that is wrong with such a file is ever an
 * error (law 5).
 */

import { limits } from "../base/limits.ts";
import { hasReplica } from "../../repo/mod.ts";
import type { Storage, StorageFile } from "../storage/storage.ts";

export interface LocalFile {
  /** What was written last; `undefined` where there is nothing to be had. */
  read(): Promise<Uint8Array | undefined>;
  /** Takes the place of what was written before. */
  write(bytes: Uint8Array): Promise<void>;
}

export interface LocalFileOptions {
  /** Its name in the repository's folder. */
  readonly name: string;
  /** Characters of what it keeps, as UTF-16 counts them; a larger file is none. */
  readonly charsMax: number;
  /** Is it synced before it takes the place of what was there? */
  readonly isDurable: boolean;
}

export const undoFile: LocalFileOptions = {
  name: "undo",
  charsMax: limits.undoBytesMax,
  isDurable: false,
};

/** Own edits that lost in a repository, and are not taken yet. */
export const overwrittenFile: LocalFileOptions = {
  name: "overwritten",
  charsMax: limits.overwrittenCharsMax,
  isDurable: true,
};

export function localFileOf(
  storage: Storage,
  folder: string,
  { name, charsMax, isDurable }: LocalFileOptions,
): LocalFile {
  const path = `${folder}/${name}`;
  // A character takes three bytes at most; what stands around them takes less than as many.
  const bytesMax = charsMax * 4;
  return {
    read: () => new Promise((done) => done(readWhole(storage, path, bytesMax))),
    async write(bytes) {
      if (!hasReplica(storage, folder)) return; // It was deleted.
      if (isDurable) await replaceDurably(storage, folder, name, bytes);
      else replace(storage, path, bytes);
    },
  };
}

/** A file that has these bytes and no others, still open. */
export function rewritten(
  storage: Storage,
  path: string,
  bytes: Uint8Array,
): StorageFile {
  const file = storage.open(path, { create: true })!;
  try {
    file.truncate(0);
    file.writeAt(bytes, 0);
  } catch (cause) {
    file.close();
    throw cause;
  }
  return file;
}

/** Writes a file beside another, and renames it to that; nothing is synced. */
export function replace(
  storage: Storage,
  path: string,
  bytes: Uint8Array,
): void {
  rewritten(storage, `${path}.new`, bytes).close();
  storage.rename(`${path}.new`, path);
}

/** As {@linkcode replace}, durably: a crash leaves the old file or the new one. */
export async function replaceDurably(
  storage: Storage,
  folder: string,
  name: string,
  bytes: Uint8Array,
): Promise<void> {
  const path = folder === "" ? name : `${folder}/${name}`;
  const file = rewritten(storage, `${path}.new`, bytes);
  try {
    await file.sync();
  } finally {
    file.close();
  }
  storage.rename(`${path}.new`, path);
  storage.syncFolder(folder);
}

/** All of a file; `undefined` where it is missing, or larger than it may be. */
export function readWhole(
  storage: Storage,
  path: string,
  bytesMax: number,
): Uint8Array | undefined {
  const file = storage.open(path);
  if (file === undefined) return undefined;
  try {
    const size = file.size();
    if (size > bytesMax) return undefined;
    const bytes = new Uint8Array(size);
    return file.readAt(bytes, 0) === size ? bytes : undefined;
  } finally {
    file.close();
  }
}
