/**
 * The store: the records of one repository in their order, wherever they lie.
 *
 * It stands above `Storage`: the log over any storage is one (`log_stores.ts`).
 * All that writes, takes in, follows and serves a repository sees nothing else;
 * what is kept beside it (checkpoints, notes) is files of the storage.
 *
 * A position counts bytes: each record has `RECORD_HEADER_BYTES` before its
 * body, of which the first four are the body's length, and stands where the one
 * before it ends, or further on. What stands at a position never changes, but
 * for what `rewrite` erases, and reading it is synchronous.
 *
 * Architecture invariant: a failed append or sync is final (law 12): what was
 * appended since the last sync may be kept or lost, and the next opening says.
 */

import type { DatabaseError } from "../../src/base/errors.ts";
import type { World } from "../../src/base/world.ts";
import type { Storage } from "../../src/storage/storage.ts";
import type { OnRecord, Segment } from "./segment.ts";
import type { RecoverOptions, Recovery } from "./unclean.ts";

export interface Store {
  /** Position after the last record. */
  readonly end: number;
  /** Position up to which everything is durable. */
  readonly synced: number;
  /** Position up to which every record has its seal. */
  readonly sealed: number;
  /** Is it durable that it is in use, so that a crash cannot look like a clean close? */
  readonly isMarked: boolean;
  /** Why nothing can be written any more. */
  readonly failure: DatabaseError | undefined;

  /** Runs before a sync begins: what it appends is part of it. */
  onSyncing: () => void;
  /** Runs whenever `synced` has grown; it must not throw. */
  onSynced: () => void;
  /** Runs whenever `sealed` has grown by a seal that came; it must not throw. */
  onSealed: () => void;
  /** Hears at once that it has become read-only; the result ends it. */
  onFailed(hear: (failure: DatabaseError) => void): () => void;

  /**
   * Appends a record and says at which position its body starts. It is read here
   * when this returns, and durable after the next {@linkcode sync}. Its last 64
   * bytes, the seal, may come later: it is read without them meanwhile.
   *
   * @param kind of `recordKind`
   */
  append(
    kind: number,
    parts: readonly Uint8Array[],
    seal?: Promise<Uint8Array>,
  ): number;
  /**
   * Makes everything appended so far durable: at once (`undefined`), or when
   * the promise resolves. All of it or, after a crash, what came first of it.
   *
   * @param isMet do others of this thread sync at the same time?
   */
  sync(isMet?: boolean): Promise<void> | undefined;
  /** Sees to it that it {@linkcode isMarked}, for a mode that shares what it has not synced. */
  markInUse(): Promise<void> | undefined;
  /** Overwrites bytes, which are read so when this returns; durable when it resolves. */
  rewrite(
    edits: Iterable<{ readonly address: number; readonly bytes: Uint8Array }>,
  ): Promise<void>;

  /** Reads bytes from a position on, as many as lie side by side; says how many. */
  readAt(target: Uint8Array, address: number): number;
  /**
   * Calls `onRecord` for each record from a position (a `next` of reading, or 0)
   * up to another one, checksums verified, until it answers `true`; says where it
   * stopped. Throws `log-damaged` where there is no record.
   */
  records(from: number, to: number, onRecord: OnRecord): number;
  /** Where records lie in segments of files: the one at a position. */
  segmentAt?(address: number): Segment;

  /** Makes it read-only for a reason of the caller's: it has to be opened again. */
  fail(failure: DatabaseError): void;
  /** Syncs, and gives back what it holds. */
  close(): Promise<void>;
}

/** What can read a store, while it is opened too. */
export type StoreReader = Pick<Store, "readAt">;

export interface NewRecord {
  /** One of `recordKind`. */
  readonly kind: number;
  readonly parts: readonly Uint8Array[];
}

export interface OpenStoreOptions extends RecoverOptions {
  readonly world: World;
}

/** A store that was there, and what opening it found. */
export interface OpenedStore {
  readonly log: Store;
  readonly recovery: Recovery;
}

/** Which life of a store its positions are of. */
export interface Epoch {
  /** The one that goes on; `undefined`: none is known, or it is that of what this was copied from. */
  read(): Uint8Array | undefined;
  /** Begins one, of 16 bytes; durable when it resolves. */
  begin(epoch: Uint8Array): Promise<void>;
  /** Nothing that was given out holds any more. */
  end(): void;
}

/** A kind of stores: where a server keeps the records of its repositories. */
export interface Stores {
  /**
   * Opens the store of a repository, calling `onRecord` for every record from
   * `from` on; what was read is durable. `undefined` where there is none, or its
   * creation never became durable.
   *
   * @param folder of the repository in the storage, and so its name
   */
  open(
    storage: Storage,
    folder: string,
    options: OpenStoreOptions,
  ): Promise<OpenedStore | undefined>;
  /** Makes one, where there is none, with its first records; durable after its first sync. */
  create(
    storage: Storage,
    folder: string,
    options: Pick<OpenStoreOptions, "world">,
    first: readonly NewRecord[],
  ): Store;
  epoch(storage: Storage, folder: string): Epoch;
}
