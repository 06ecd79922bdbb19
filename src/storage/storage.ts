/**
 * What Sheaf asks of a medium: named files of bytes, and a lock.
 *
 * Reads and writes are synchronous, as on a disk behind a page cache and on
 * OPFS; only opening, durability and the lock may be awaited. An adapter knows
 * nothing of what the bytes mean. Every failure is a `DatabaseError` with one
 * of the codes `storage-full`, `storage-readonly`, `permission-denied`,
 * `invalid-path`, `database-locked` or `storage-failed`; in a browser also with
 * `storage-evicted`, and `closed` once its storage was closed.
 */

/** One open file. */
export interface StorageFile {
  /** Its length in bytes. */
  size(): number;
  /** Reads from `offset` until `target` is full or the file ends; says how many bytes. */
  readAt(target: Uint8Array, offset: number): number;
  /** Writes all of `bytes` at `offset`, growing the file where needed. */
  writeAt(bytes: Uint8Array, offset: number): void;
  /** Cuts or zero-extends the file to `length` bytes. */
  truncate(length: number): void;
  /**
   * Makes written bytes durable. Synchronous (`undefined`) where the medium is
   * quick, so that a lone write costs no more than the flush; a promise where
   * waiting would block the thread for long. After a failure the file is lost
   * for writing (law 12): every later call fails too.
   *
   * @param isMet other files of this thread are synced at the same time: where
   * the medium can work on several, it should answer a promise, so that they
   * are flushed side by side; an adapter may ignore it
   */
  sync(isMet?: boolean): Promise<void> | undefined;
  /** Gives the handle back; never throws for a handle that failed before. */
  close(): void;
}

/** How a file is opened. */
export interface OpenFileOptions {
  /** Create it when it is missing (default: fail with `undefined`). */
  readonly create?: boolean;
}

/** What a medium says of itself. */
export interface StorageUsage {
  /** Which medium: `disk`, `memory`, `opfs`, `indexeddb`. */
  readonly backend: string;
  /** Does it outlive the process? */
  readonly persisted: boolean;
  /** Bytes that may be used, where the medium tells. */
  readonly quotaBytes?: number;
  /** Bytes of it that are used, by everything of this origin. */
  readonly usedBytes?: number;
  /** Will it soon take nothing more? */
  readonly isNearlyFull?: boolean;
}

/**
 * A tree of folders with files. Names are `/`-separated relative paths whose
 * segments are `[A-Za-z0-9_.-]+` and never `.` or `..`.
 */
export interface Storage {
  /** Opens a file; `undefined` when it is missing and `create` is not set. */
  open(name: string, options?: OpenFileOptions): StorageFile | undefined;
  /** Names (last segment) of the files directly in `folder`; empty when it is missing. */
  list(folder: string): string[];
  /** Names (last segment) of the folders directly in `folder`; empty when it is missing. */
  folders(folder: string): string[];
  /** Makes a folder and its parents; fine when it is there. */
  makeFolder(folder: string): void;
  /**
   * Makes creation, renaming and removal of names in `folder` durable.
   *
   * @param mayWait the caller awaits the result: where the medium can work while
   * the thread goes on, it should answer a promise; an adapter may ignore it
   */
  syncFolder(folder: string, mayWait?: boolean): void | Promise<void>;
  /** Renames a file, replacing the target atomically. */
  rename(from: string, to: string): void;
  /** Removes a file, or a folder that is empty; fine when it is missing. */
  remove(name: string): void;
  /**
   * Takes the exclusive lock of the whole storage; `database-locked` when
   * another handle or process has it. The result gives it back.
   */
  lock(): () => void;
  /** An identity that copying the folder does not keep (device and inode, say). */
  identity(): string;
  /** What the medium says of itself. */
  usage(): StorageUsage;
  /**
   * Where opening cannot be synchronous: opens the files of `folder`, and spare
   * ones for new names. Awaited before `open` of what is in it; counted.
   */
  prepare?(folder: string): Promise<void>;
  /** Takes one `prepare` of `folder` back: its files may be closed. */
  release?(folder: string): void;
}
