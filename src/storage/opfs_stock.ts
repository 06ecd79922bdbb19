/**
 * Spare files of a pool: open and empty, so that a file can be made at once;
 * refilled in the background, also with files that have lost their names.
 *
 * Architecture invariant: a file is emptied or removed only after a flush of
 * the table that says it has no name, and a spare is empty on the medium too.
 */

import { DatabaseError } from "../base/errors.ts";
import type { PoolFile } from "./opfs_file.ts";
import type { Guard } from "./opfs_guard.ts";
import type { Pool } from "./opfs_pool.ts";

export interface StockParts {
  readonly pool: Pool;
  readonly guard: Guard;
  wanted(): number;
  syncTable(): void;
  /** Replaces the table when most of it is history. */
  compact(): Promise<void>;
}

export class Stock {
  readonly #parts: StockParts;
  #spares: PoolFile[] = [];
  /** Without name and users, until the table was flushed. */
  #dropped: PoolFile[] = [];
  #tending: Promise<void> | undefined;
  #isClosed = false;

  constructor(parts: StockParts) {
    this.#parts = parts;
  }

  /** An empty file with an open handle. */
  take(): PoolFile {
    const file = this.#spares.pop();
    this.tendSoon();
    if (file !== undefined) return file;
    throw new DatabaseError(
      "storage-failed",
      "Cannot create a file: the pool has no spare one open. Prepare the folder first, or try again in a moment.",
    );
  }

  putBack(file: PoolFile): void {
    this.#spares.push(file);
  }

  /** A file without name and users. */
  drop(file: PoolFile): void {
    this.#dropped.push(file);
    this.tendSoon();
  }

  /** Tends the stock after what runs now. */
  tendSoon(): void {
    setTimeout(() => void this.tend().catch(() => {}));
  }

  /** Frees what was dropped and fills up; what is missing is seen by who takes. */
  async tend(): Promise<void> {
    while (this.#tending !== undefined) await this.#tending;
    if (this.#isClosed || this.#parts.guard.failure !== undefined) return;
    this.#tending = this.#tend().finally(() => this.#tending = undefined);
    await this.#tending;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#tending?.catch(() => {});
    const { guard } = this.#parts;
    for (const file of [...this.#spares, ...this.#dropped]) {
      closeHandle(file, guard);
    }
  }

  async #tend(): Promise<void> {
    this.#reclaim();
    const missing = this.#parts.wanted() - this.#spares.length;
    const made = Array.from(
      { length: Math.max(0, missing) },
      () => this.#parts.pool.create(),
    );
    for (const one of await Promise.allSettled(made)) {
      if (one.status === "fulfilled") this.#spares.push(one.value);
    }
    if (this.#isClosed) return;
    await this.#parts.compact();
  }

  #reclaim(): void {
    const files = this.#dropped;
    if (files.length === 0) return;
    this.#parts.syncTable();
    this.#dropped = [];
    for (const file of files) {
      const isUseful = this.#spares.length < this.#parts.wanted() &&
        file.handle !== undefined && file.failure === undefined &&
        this.#parts.pool.owns(file);
      if (!isUseful || !this.#empty(file)) this.discard(file);
    }
  }

  /** Makes a spare of a file; `false` when it will be none. */
  #empty(file: PoolFile): boolean {
    try {
      this.#parts.guard.before(file.id);
      file.handle!.truncate(0);
      file.handle!.flush();
    } catch {
      return false;
    }
    this.#spares.push(file);
    return true;
  }

  /** Removes a file that has no name on the medium either. */
  discard(file: PoolFile): void {
    closeHandle(file, this.#parts.guard);
    void this.#parts.pool.remove(file.id);
  }
}

/** Gives the handle of a file back, where that can be done. */
export function closeHandle(file: PoolFile, { mayClose }: Guard): void {
  if (mayClose) file.handle?.close();
  file.handle = undefined;
}
