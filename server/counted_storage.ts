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

/** Wraps a storage; `synced` runs before every sync of a file. */
export function countedStorage(storage: Storage, synced: () => void): Storage {
  return {
    open(name: string, options?: OpenFileOptions): StorageFile | undefined {
      const file = storage.open(name, options);
      return file && countedFile(file, synced);
    },
    list: (folder) => storage.list(folder),
    folders: (folder) => storage.folders(folder),
    makeFolder: (folder) => storage.makeFolder(folder),
    syncFolder: (folder) => storage.syncFolder(folder),
    rename: (from, to) => storage.rename(from, to),
    remove: (name) => storage.remove(name),
    lock: () => storage.lock(),
    identity: () => storage.identity(),
    usage: () => storage.usage(),
  };
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
