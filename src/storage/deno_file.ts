/**
 * One open file of a Deno file system.
 *
 * Keeps the file's position in mind, so that appending costs one system call.
 * Syncing blocks while the medium is quick, as a lone write then costs no more
 * than the flush, and leaves the thread free where it is slow, or where other
 * files are synced meanwhile: the medium then works on all of them at once.
 *
 * Architecture invariant: a failed sync is final for this handle (law 12).
 *
 * @module
 */

import type { DatabaseError } from "../base/errors.ts";
import { lostForWriting, storageFailure } from "./failure.ts";
import type { StorageFile } from "./storage.ts";

/** A sync that takes longer than this should not block the thread. */
const QUICK_SYNC_MS = 1;

/** How much of the estimate one more sync replaces. */
const ESTIMATE_WEIGHT = 0.25;

/** A file behind a `Deno.FsFile`. */
export class DenoFile implements StorageFile {
  readonly #file: Deno.FsFile;
  readonly #path: string;
  /** Where the next read or write of the handle would be; -1 when unknown. */
  #position = 0;
  #syncMs = 0;
  #flight: Promise<void> | undefined;
  #queued: Promise<void> | undefined;
  #failure: DatabaseError | undefined;
  #closed = false;

  /**
   * @param file open for reading and writing, at its start
   * @param path for messages
   */
  constructor(file: Deno.FsFile, path: string) {
    this.#file = file;
    this.#path = path;
  }

  size(): number {
    try {
      this.#position = this.#file.seekSync(0, Deno.SeekMode.End);
      return this.#position;
    } catch (cause) {
      throw this.#failed("measure", cause);
    }
  }

  readAt(target: Uint8Array, offset: number): number {
    try {
      this.#seek(offset);
      let done = 0;
      while (done < target.length) {
        const part = done === 0 ? target : target.subarray(done);
        const count = this.#file.readSync(part);
        if (count === null) break;
        done += count;
        this.#position += count;
      }
      return done;
    } catch (cause) {
      throw this.#failed("read", cause);
    }
  }

  writeAt(bytes: Uint8Array, offset: number): void {
    this.#checkWritable("write");
    try {
      this.#seek(offset);
      let done = 0;
      while (done < bytes.length) {
        const part = done === 0 ? bytes : bytes.subarray(done);
        const count = this.#file.writeSync(part);
        if (count === 0) throw new Error("nothing was written");
        done += count;
        this.#position += count;
      }
    } catch (cause) {
      throw this.#failed("write", cause);
    }
  }

  truncate(length: number): void {
    this.#checkWritable("cut");
    try {
      this.#file.truncateSync(length);
    } catch (cause) {
      throw this.#failed("cut", cause);
    }
  }

  sync(isMet = false): Promise<void> | undefined {
    this.#checkWritable("sync");
    if (this.#flight !== undefined) return this.#syncAfter(this.#flight, isMet);
    if (isMet || this.#syncMs > QUICK_SYNC_MS) return this.#launchSync(isMet);
    const start = performance.now();
    try {
      this.#file.syncDataSync();
    } catch (cause) {
      throw this.#syncFailed(cause);
    }
    this.#measured(start);
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#file.close();
  }

  /** One sync may be under way and one waiting, which serves all who ask meanwhile. */
  #syncAfter(flight: Promise<void>, isMet: boolean): Promise<void> {
    this.#queued ??= flight.then(() => {
      this.#queued = undefined;
      return this.sync(isMet);
    });
    return this.#queued;
  }

  #launchSync(isMet: boolean): Promise<void> {
    const start = performance.now();
    this.#flight = this.#file.syncData().then(
      () => {
        this.#flight = undefined;
        // What others made it wait for says nothing of a lone sync.
        if (!isMet) this.#measured(start);
      },
      (cause) => {
        this.#flight = undefined;
        throw this.#syncFailed(cause);
      },
    );
    return this.#flight;
  }

  #measured(start: number): void {
    const tookMs = performance.now() - start;
    this.#syncMs += (tookMs - this.#syncMs) * ESTIMATE_WEIGHT;
  }

  #seek(offset: number): void {
    if (this.#position === offset) return;
    this.#file.seekSync(offset, Deno.SeekMode.Start);
    this.#position = offset;
  }

  #checkWritable(verb: string): void {
    if (this.#failure === undefined) return;
    throw lostForWriting(`${verb} ${this.#path}`, this.#failure);
  }

  #syncFailed(cause: unknown): DatabaseError {
    this.#failure = storageFailure(`sync ${this.#path}`, cause);
    return this.#failure;
  }

  #failed(verb: string, cause: unknown): DatabaseError {
    this.#position = -1;
    return storageFailure(`${verb} ${this.#path}`, cause);
  }
}
