/**
 * A storage that counts how often files are made durable, and is otherwise the
 * one that it wraps.
 *
 * @module
 */

import type {
  OpenFileOptions,
  Storage,
  StorageFile,
} from "../src/storage/storage.ts";
import { StorageOver } from "../src/storage/storage_over.ts";

/** See the module. */
export class CountedStorage extends StorageOver {
  readonly #synced: () => void;

  /**
   * @param storage what does the work
   * @param synced runs before every sync of a file
   */
  constructor(storage: Storage, synced: () => void) {
    super(storage);
    this.#synced = synced;
  }

  override open(
    name: string,
    options?: OpenFileOptions,
  ): StorageFile | undefined {
    const file = super.open(name, options);
    return file && countedFile(file, this.#synced);
  }
}

function countedFile(file: StorageFile, synced: () => void): StorageFile {
  return {
    size: () => file.size(),
    readAt: (target, offset) => file.readAt(target, offset),
    writeAt: (bytes, offset) => file.writeAt(bytes, offset),
    truncate: (length) => file.truncate(length),
    sync(isMet) {
      synced();
      return file.sync(isMet);
    },
    close: () => file.close(),
  };
}
