/**
 * All files of a storage as values, and storages made of them: what a process
 * finds that starts after another one has died.
 *
 * @module
 */

import { memoryStorage } from "../../src/storage/memory_storage.ts";
import type { Storage } from "../../src/storage/storage.ts";
import { StorageOver } from "../../src/storage/storage_over.ts";

/** Files by name. */
export type Files = readonly (readonly [name: string, bytes: Uint8Array])[];

/** Copies of all files in a storage, sorted by name. */
export function filesOf(storage: Storage, folder = ""): Files {
  const path = (name: string) => folder === "" ? name : `${folder}/${name}`;
  const files: (readonly [string, Uint8Array])[] = [];
  for (const name of storage.list(folder).sort()) {
    files.push([path(name), bytesOf(storage, path(name))]);
  }
  for (const name of storage.folders(folder).sort()) {
    files.push(...filesOf(storage, path(name)));
  }
  return files;
}

function bytesOf(storage: Storage, name: string): Uint8Array {
  const file = storage.open(name)!;
  const bytes = new Uint8Array(file.size());
  file.readAt(bytes, 0);
  file.close();
  return bytes;
}

/** The same files with one of them changed. */
export function withFile(files: Files, name: string, bytes: Uint8Array): Files {
  return files.map((file) => file[0] === name ? [name, bytes] : file);
}

/** A storage in memory that lies where the files lay: nobody has it open. */
export function restored(files: Files, identity = "restored"): Storage {
  return new Restored(files, identity);
}

class Restored extends StorageOver {
  readonly #identity: string;

  constructor(files: Files, identity: string) {
    super(memoryStorage(files));
    this.#identity = identity;
  }

  override identity(): string {
    return this.#identity;
  }
}
