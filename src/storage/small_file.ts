/** Small files of a storage: read and written whole. */

import type { Storage, StorageFile } from "./storage.ts";

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

/** Makes a file durable that has these bytes and no others; a crash may leave some of them. */
export async function writeWhole(
  storage: Storage,
  path: string,
  bytes: Uint8Array,
): Promise<void> {
  const file = rewritten(storage, path, bytes);
  try {
    await file.sync();
  } finally {
    file.close();
  }
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
  await writeWhole(storage, `${path}.new`, bytes);
  storage.rename(`${path}.new`, path);
  await storage.syncFolder(folder, true);
}

/** All of a file; `undefined` where it is missing, or larger than it may be. */
export function readWhole(
  storage: Storage,
  path: string,
  bytesMax = Infinity,
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
