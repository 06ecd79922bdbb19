/**
 * A storage that hands everything on to another one. Who changes one thing of a
 * storage extends it, and writes down that one thing.
 *
 * It hands on no `prepare`: storages that need it are not wrapped.
 */

import type {
  OpenFileOptions,
  Storage,
  StorageFile,
  StorageUsage,
} from "./storage.ts";

export class StorageOver implements Storage {
  readonly #inner: Storage;

  constructor(inner: Storage) {
    this.#inner = inner;
  }

  open(name: string, options?: OpenFileOptions): StorageFile | undefined {
    return this.#inner.open(name, options);
  }

  list(folder: string): string[] {
    return this.#inner.list(folder);
  }

  folders(folder: string): string[] {
    return this.#inner.folders(folder);
  }

  makeFolder(folder: string): void {
    this.#inner.makeFolder(folder);
  }

  syncFolder(folder: string, mayWait?: boolean): void | Promise<void> {
    return this.#inner.syncFolder(folder, mayWait);
  }

  rename(from: string, to: string): void {
    this.#inner.rename(from, to);
  }

  remove(name: string): void {
    this.#inner.remove(name);
  }

  lock(): () => void {
    return this.#inner.lock();
  }

  identity(): string {
    return this.#inner.identity();
  }

  usage(): StorageUsage {
    return this.#inner.usage();
  }
}
