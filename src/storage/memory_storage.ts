/**
 * A storage in memory: the declared last resort of browsers, and the medium of
 * tests. What is written stays as long as the object does, so that a database
 * can be closed and opened again on it.
 */

import { DatabaseError } from "../base/errors.ts";
import { InstanceLock } from "./instance_lock.ts";
import { checkFileName, checkFolderName, filesIn, foldersIn } from "./names.ts";
import type {
  OpenFileOptions,
  Storage,
  StorageFile,
  StorageUsage,
} from "./storage.ts";

let storages = 0;

/**
 * An empty storage in memory, optionally with `files`: it never changes their
 * bytes, nor may anybody else while it is used.
 */
export function memoryStorage(
  files: Iterable<readonly [name: string, bytes: Uint8Array]> = [],
): Storage {
  const storage = new MemoryStorage();
  for (const [name, bytes] of files) storage.put(name, bytes);
  return storage;
}

class MemoryStorage implements Storage {
  readonly #files = new Map<string, Content>();
  readonly #identity = `memory-${++storages}`;
  readonly #lock = new InstanceLock();

  put(name: string, bytes: Uint8Array): void {
    checkFileName(name);
    this.#files.set(name, new Content(bytes));
  }

  open(name: string, options: OpenFileOptions = {}): StorageFile | undefined {
    checkFileName(name);
    let content = this.#files.get(name);
    if (content === undefined) {
      if (options.create !== true) return undefined;
      content = new Content(new Uint8Array(0));
      this.#files.set(name, content);
    }
    return new MemoryFile(content);
  }

  list(folder: string): string[] {
    return filesIn(this.#files.keys(), folder);
  }

  folders(folder: string): string[] {
    return foldersIn(this.#files.keys(), folder);
  }

  makeFolder(folder: string): void {
    checkFolderName(folder);
  }

  syncFolder(folder: string): void {
    checkFolderName(folder);
  }

  rename(from: string, to: string): void {
    checkFileName(from);
    checkFileName(to);
    const content = this.#files.get(from);
    if (content === undefined) {
      throw new DatabaseError(
        "storage-failed",
        `Cannot rename ${from}: there is no such file`,
      );
    }
    this.#files.delete(from);
    this.#files.set(to, content);
  }

  remove(name: string): void {
    checkFileName(name);
    this.#files.delete(name);
  }

  lock(): () => void {
    return this.#lock.take();
  }

  identity(): string {
    return this.#identity;
  }

  usage(): StorageUsage {
    return { backend: "memory", persisted: false };
  }
}

/**
 * A file's bytes, shared by all who have it open: those that it began with, which
 * are not copied before somebody writes into them, and those behind them.
 */
class Content {
  #head: Uint8Array;
  #isOwn = false;
  #rest = new Uint8Array(0);
  length: number;

  constructor(bytes: Uint8Array) {
    this.#head = bytes;
    this.length = bytes.length;
  }

  /** Makes the file `length` bytes long; new bytes are zero. */
  resize(length: number): void {
    const need = length - this.#head.length;
    if (need < 0) {
      this.#head = this.#head.subarray(0, length);
      this.#rest = new Uint8Array(0);
    } else if (need > this.#rest.length) {
      const grown = new Uint8Array(Math.max(need, this.#rest.length * 2));
      grown.set(this.#rest);
      this.#rest = grown;
    } else if (length < this.length) this.#rest.fill(0, need);
    this.length = length;
  }

  read(target: Uint8Array, offset: number): number {
    const count = Math.max(0, Math.min(target.length, this.length - offset));
    const head = this.#head.subarray(offset, offset + count);
    target.set(head);
    const from = offset + head.length - this.#head.length;
    const rest = count - head.length;
    if (rest > 0) {
      target.set(this.#rest.subarray(from, from + rest), head.length);
    }
    return count;
  }

  write(bytes: Uint8Array, offset: number): void {
    const end = offset + bytes.length;
    if (end > this.length) this.resize(end);
    const inHead = Math.max(
      0,
      Math.min(bytes.length, this.#head.length - offset),
    );
    if (inHead > 0) {
      if (!this.#isOwn) this.#head = this.#head.slice();
      this.#isOwn = true;
      this.#head.set(bytes.subarray(0, inHead), offset);
    }
    const at = offset + inHead - this.#head.length;
    if (inHead < bytes.length) this.#rest.set(bytes.subarray(inHead), at);
  }
}

class MemoryFile implements StorageFile {
  readonly #content: Content;

  constructor(content: Content) {
    this.#content = content;
  }

  size(): number {
    return this.#content.length;
  }

  readAt(target: Uint8Array, offset: number): number {
    return this.#content.read(target, offset);
  }

  writeAt(bytes: Uint8Array, offset: number): void {
    this.#content.write(bytes, offset);
  }

  truncate(length: number): void {
    this.#content.resize(length);
  }

  sync(): undefined {
    return undefined;
  }

  close(): void {}
}
