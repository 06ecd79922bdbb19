/**
 * One file of a pool, and one open handle of it.
 *
 * Architecture invariant: a failed flush is final for the file (law 12), and
 * nothing is acknowledged when a younger storage has come meanwhile.
 */

import type { DatabaseError } from "../base/errors.ts";
import type { BrowserWatch } from "./browser_watch.ts";
import { lostForWriting, storageFailure } from "./failure.ts";
import type { Guard } from "./opfs_guard.ts";
import { type AccessHandle, resize, writeAll } from "./opfs_types.ts";
import type { StorageFile } from "./storage.ts";

export interface FileHost {
  readonly guard: Guard;
  readonly watch: BrowserWatch;
  closed(file: PoolFile): void;
}

export class PoolFile {
  readonly id: string;
  name: string | undefined;
  /** Present while its folder is prepared. */
  handle: AccessHandle | undefined;
  opening: Promise<void> | undefined;
  /** Open handles of the storage's users. */
  users = 0;
  failure: DatabaseError | undefined;

  constructor(id: string, name?: string) {
    this.id = id;
    this.name = name;
  }
}

export class OpfsFile implements StorageFile {
  readonly #file: PoolFile;
  readonly #handle: AccessHandle;
  readonly #host: FileHost;
  /** Reused, so that a write makes no object. */
  readonly #at = { at: 0 };
  #isClosed = false;

  constructor(file: PoolFile, handle: AccessHandle, host: FileHost) {
    this.#file = file;
    this.#handle = handle;
    this.#host = host;
    file.users++;
  }

  size(): number {
    try {
      return this.#handle.getSize();
    } catch (cause) {
      throw this.#failed("measure", cause);
    }
  }

  readAt(target: Uint8Array, offset: number): number {
    try {
      this.#at.at = offset;
      return this.#handle.read(target, this.#at);
    } catch (cause) {
      throw this.#failed("read", cause);
    }
  }

  writeAt(bytes: Uint8Array, offset: number): void {
    this.#checkWritable("write");
    try {
      this.#host.guard.before(this.#file.id);
      this.#at.at = offset;
      writeAll(this.#handle, bytes, this.#at);
    } catch (cause) {
      throw this.#failed("write", cause);
    }
  }

  truncate(length: number): void {
    this.#checkWritable("cut");
    try {
      this.#host.guard.before(this.#file.id);
      resize(this.#handle, length);
    } catch (cause) {
      throw this.#failed("cut", cause);
    }
  }

  sync(): undefined {
    this.#checkWritable("sync");
    try {
      this.#handle.flush();
    } catch (cause) {
      throw this.#file.failure = this.#failed("sync", cause);
    }
    this.#host.guard.check();
    this.#host.watch.lookSoon();
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#file.users--;
    this.#host.closed(this.#file);
  }

  #checkWritable(verb: string): void {
    const { failure, name } = this.#file;
    if (failure !== undefined) throw lostForWriting(`${verb} ${name}`, failure);
  }

  #failed(verb: string, cause: unknown): DatabaseError {
    const { name, id } = this.#file;
    const failure = storageFailure(`${verb} ${name ?? id}`, cause);
    if (failure.code === "storage-full") this.#host.watch.full();
    else this.#host.watch.lookSoon(); // Are the files still there?
    return failure;
  }
}
