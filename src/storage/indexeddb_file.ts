/**
 * A file of a storage over IndexedDB: bytes in memory, and which pages of them
 * the medium does not have yet.
 *
 * @module
 */

import { PAGE_BYTES } from "./indexeddb_medium.ts";
import type { StorageFile } from "./storage.ts";

/** What a file needs of its storage. */
export interface IdbHost {
  changed(content: IdbContent): void;
  checkWritable(what: string): void;
  sync(): Promise<void>;
}

/** A file's bytes, shared by all who have it open. */
export class IdbContent {
  /** Number of the file in the medium. */
  readonly id: number;
  name: string;
  size: number;
  /** Absent while its folder is not prepared. At least `size` of them; zeros behind. */
  bytes: Uint8Array | undefined;
  loading: Promise<void> | undefined;
  users = 0;
  #dirty = new Set<number>();

  /** A file whose bytes are not here yet. */
  constructor(id: number, name: string, size: number) {
    this.id = id;
    this.name = name;
    this.size = size;
  }

  /** Takes the bytes that the medium has. */
  fill(pages: readonly (readonly [page: number, bytes: Uint8Array])[]): void {
    const bytes = new Uint8Array(this.size);
    for (const [page, part] of pages) {
      const at = page * PAGE_BYTES;
      if (at < bytes.length) {
        bytes.set(part.subarray(0, bytes.length - at), at);
      }
    }
    this.bytes = bytes;
  }

  /** Changes bytes, growing where needed. */
  write(bytes: Uint8Array, offset: number): void {
    const end = offset + bytes.length;
    if (end > this.size) this.resize(end);
    this.bytes!.set(bytes, offset);
    this.#mark(offset, end);
  }

  /** Cuts, or extends with zeros. */
  resize(size: number): void {
    const bytes = this.bytes!;
    if (size > bytes.length) {
      const grown = new Uint8Array(Math.max(size, bytes.length * 2));
      grown.set(bytes.subarray(0, this.size));
      this.bytes = grown;
    } else if (size < this.size) {
      bytes.fill(0, size, this.size);
      this.#mark(size, this.size);
    }
    this.size = size;
  }

  /** The pages that the medium lacks, copied; from now on it has them. */
  takePages(): [id: number, page: number, bytes: Uint8Array | undefined][] {
    const taken = Array.from(this.#dirty, (page) => {
      const start = page * PAGE_BYTES;
      const end = Math.min(start + PAGE_BYTES, this.size);
      const bytes = this.bytes!.slice(start, Math.max(start, end));
      const isEmpty = bytes.every((byte) => byte === 0);
      return [this.id, page, isEmpty ? undefined : bytes] as [
        number,
        number,
        Uint8Array | undefined,
      ];
    });
    this.#dirty = new Set();
    return taken;
  }

  #mark(from: number, to: number): void {
    const last = Math.floor((to - 1) / PAGE_BYTES);
    for (let page = Math.floor(from / PAGE_BYTES); page <= last; page++) {
      this.#dirty.add(page);
    }
  }
}

/** A file as its users see it. */
export class IdbFile implements StorageFile {
  readonly #content: IdbContent;
  readonly #host: IdbHost;
  #isClosed = false;

  constructor(content: IdbContent, host: IdbHost) {
    this.#content = content;
    this.#host = host;
    content.users++;
  }

  size(): number {
    return this.#content.size;
  }

  readAt(target: Uint8Array, offset: number): number {
    const { bytes, size } = this.#content;
    const count = Math.max(0, Math.min(target.length, size - offset));
    target.set(bytes!.subarray(offset, offset + count));
    return count;
  }

  writeAt(bytes: Uint8Array, offset: number): void {
    this.#host.checkWritable(`write ${this.#content.name}`);
    this.#content.write(bytes, offset);
    this.#host.changed(this.#content);
  }

  truncate(length: number): void {
    this.#host.checkWritable(`cut ${this.#content.name}`);
    this.#content.resize(length);
    this.#host.changed(this.#content);
  }

  sync(): Promise<void> {
    this.#host.checkWritable(`sync ${this.#content.name}`);
    return this.#host.sync();
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#content.users--;
  }
}
