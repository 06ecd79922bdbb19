/**
 * One open file of a disk.
 *
 * Reads and writes name their place, so that each costs one system call.
 * Syncing blocks while the medium is quick, as a lone write then costs no more
 * than the flush, and leaves the thread free where it is slow, or where other
 * files are synced meanwhile: the medium then works on all of them at once. How
 * quick it is was learned by all files of a storage: a server that opens one
 * after the other does not stand still for each.
 *
 * Architecture invariant: a failed sync is final for this handle (law 12).
 */

import type { DatabaseError } from "../base/errors.ts";
import type { DiskCalls } from "./disk_calls.ts";
import { lostForWriting, storageFailure } from "./failure.ts";
import type { StorageFile } from "./storage.ts";

/** A sync that takes longer than this should not block the thread. */
const QUICK_SYNC_MS = 1;

/** How much of the estimate one more sync replaces. */
const ESTIMATE_WEIGHT = 0.25;

export type FileCalls = Pick<
  DiskCalls,
  | "closeSync"
  | "fdatasync"
  | "fdatasyncSync"
  | "fstatSync"
  | "ftruncateSync"
  | "readSync"
  | "writeSync"
>;

/** How quick a medium is, as far as lone syncs of its files have shown. */
export class SyncPace {
  #ms = 0;

  /** May a sync block the thread? */
  get isQuick(): boolean {
    return this.#ms <= QUICK_SYNC_MS;
  }

  /** A lone sync took so long. */
  measured(tookMs: number): void {
    this.#ms += (tookMs - this.#ms) * ESTIMATE_WEIGHT;
  }
}

export class DiskFile implements StorageFile {
  readonly #fs: FileCalls;
  readonly #descriptor: number;
  readonly #path: string;
  readonly #pace: SyncPace;
  #flight: Promise<void> | undefined;
  #queued: Promise<void> | undefined;
  #failure: DatabaseError | undefined;
  #closed = false;

  constructor(
    fs: FileCalls,
    descriptor: number,
    path: string,
    pace: SyncPace,
  ) {
    this.#fs = fs;
    this.#descriptor = descriptor;
    this.#path = path;
    this.#pace = pace;
  }

  size(): number {
    try {
      return Number(this.#fs.fstatSync(this.#descriptor).size);
    } catch (cause) {
      throw this.#failed("measure", cause);
    }
  }

  readAt(target: Uint8Array, offset: number): number {
    try {
      let done = 0;
      while (done < target.length) {
        const count = this.#fs.readSync(
          this.#descriptor,
          target,
          done,
          target.length - done,
          offset + done,
        );
        if (count === 0) break;
        done += count;
      }
      return done;
    } catch (cause) {
      throw this.#failed("read", cause);
    }
  }

  writeAt(bytes: Uint8Array, offset: number): void {
    this.#checkWritable("write");
    try {
      let done = 0;
      while (done < bytes.length) {
        const count = this.#fs.writeSync(
          this.#descriptor,
          bytes,
          done,
          bytes.length - done,
          offset + done,
        );
        if (count === 0) throw new Error("nothing was written");
        done += count;
      }
    } catch (cause) {
      throw this.#failed("write", cause);
    }
  }

  truncate(length: number): void {
    this.#checkWritable("cut");
    try {
      this.#fs.ftruncateSync(this.#descriptor, length);
    } catch (cause) {
      throw this.#failed("cut", cause);
    }
  }

  sync(isMet = false): Promise<void> | undefined {
    this.#checkWritable("sync");
    if (this.#flight !== undefined) return this.#syncAfter(this.#flight, isMet);
    if (isMet || !this.#pace.isQuick) return this.#launchSync(isMet);
    const start = performance.now();
    try {
      this.#fs.fdatasyncSync(this.#descriptor);
    } catch (cause) {
      throw this.#syncFailed(cause);
    }
    this.#pace.measured(performance.now() - start);
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#fs.closeSync(this.#descriptor);
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
    this.#flight = new Promise((resolve, reject) => {
      this.#fs.fdatasync(this.#descriptor, (cause) => {
        this.#flight = undefined;
        if (cause) return reject(this.#syncFailed(cause));
        // What others made it wait for says nothing of a lone sync.
        if (!isMet) this.#pace.measured(performance.now() - start);
        resolve();
      });
    });
    return this.#flight;
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
    return storageFailure(`${verb} ${this.#path}`, cause);
  }
}
