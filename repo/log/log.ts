/**
 * The log: records of bytes in the order in which they were appended, durable
 * after a sync. Formats and recovery are in docs/format.md.
 *
 * Never knows what a record's body means, and never decides when to sync.
 *
 * Architecture invariant: a failed append or sync is final (law 12): every later
 * call throws until the log is opened, and so recovered, again. So is a seal
 * that never comes.
 *
 * Order of effects in an append: grow the file by zeros, then write the record;
 * a new segment's name is durable before the first record is written into it.
 */

import { assert, DatabaseError } from "../../src/base/errors.ts";
import { limits } from "../../src/base/limits.ts";
import type { World } from "../../src/base/world.ts";
import type { Storage } from "../../src/storage/storage.ts";
import {
  isRecordKind,
  RECORD_HEADER_BYTES,
  SEAL_BYTES,
  SEGMENT_HEADER_BYTES,
  SYNC_MARK,
} from "./format.ts";
import {
  createSegment,
  type ExtentSizes,
  type LateRecord,
  LateSeals,
  LogTail,
} from "./tail.ts";
import { LogReader } from "./reader.ts";
import type { OnRecord, Segment } from "./segment.ts";
import { recoverLog } from "./recovery.ts";
import type {
  NewRecord,
  OpenedStore,
  OpenStoreOptions,
  Store,
} from "./store.ts";

/** Sizes that tests choose smaller. */
export interface LogSizes extends ExtentSizes {
  /** A segment is left when the next record would pass this size. */
  readonly segmentBytesMax?: number;
}

export interface CreateLogOptions extends LogSizes {
  readonly world: World;
}

export class Log implements Store {
  onSyncing: () => void = () => {};
  onSynced: () => void = () => {};
  onSealed: () => void = () => {};
  readonly #storage: Storage;
  readonly #folder: string;
  readonly #world: World;
  readonly #segmentBytesMax: number;
  readonly #reader: LogReader;
  readonly #tail: LogTail;
  #end: number;
  #synced: number;
  /** Has the last segment's name not reached the medium yet? */
  #nameUnsynced: boolean;
  /** The segment of which it is durable that it is in use. */
  #marked: Segment | undefined;
  #flight: Promise<void> | undefined;
  /** Syncs of segments that were left meanwhile. */
  #left: Promise<void> | undefined;
  readonly #late = new LateSeals();
  #failure: DatabaseError | undefined;
  readonly #failing = new Set<(failure: DatabaseError) => void>();
  #closed = false;

  /** Use `openLog` or `createLog`. */
  constructor(
    storage: Storage,
    folder: string,
    options: CreateLogOptions,
    reader: LogReader,
    last: Segment,
    end: number,
    isNew: boolean,
  ) {
    this.#storage = storage;
    this.#folder = folder;
    this.#world = options.world;
    this.#segmentBytesMax = options.segmentBytesMax ?? limits.segmentBytesMax;
    this.#reader = reader;
    this.#tail = new LogTail(last, options);
    this.#end = end;
    this.#nameUnsynced = isNew;
    this.#synced = isNew ? 0 : end;
  }

  get end(): number {
    return this.#end;
  }

  get synced(): number {
    return this.#synced;
  }

  get sealed(): number {
    return this.#late.first ?? this.#end;
  }

  onFailed(hear: (failure: DatabaseError) => void): () => void {
    this.#failing.add(hear);
    return () => void this.#failing.delete(hear);
  }

  get failure(): DatabaseError | undefined {
    return this.#failure;
  }

  append(
    kind: number,
    parts: readonly Uint8Array[],
    seal?: Promise<Uint8Array>,
  ): number {
    this.#checkWritable();
    assert(isRecordKind(kind) && kind < SYNC_MARK, "kinds are in recordKind");
    let length = seal === undefined ? 0 : SEAL_BYTES;
    for (const part of parts) length += part.length;
    if (length > limits.batchBytesMax) {
      throw new DatabaseError(
        "value-too-large",
        `Cannot append ${length} bytes to the log: a batch has at most ${limits.batchBytesMax}`,
      );
    }
    try {
      return this.#write(kind, parts, length, seal);
    } catch (error) {
      throw this.#fail(error);
    }
  }

  sync(isMet = false): Promise<void> | undefined {
    return this.#syncTo(this.#end, isMet);
  }

  #syncTo(end: number, isMet: boolean): Promise<void> | undefined {
    this.#checkWritable();
    const waiting = this.#flight ?? this.#late.before(end);
    if (waiting !== undefined) {
      return waiting.then(() => this.#syncTo(end, isMet));
    }
    return this.#synced >= end ? undefined : this.#launch(isMet);
  }

  get isMarked(): boolean {
    return this.#marked === this.#tail.segment;
  }

  /**
   * Makes it durable that the log is in use, so that a crash cannot look like a
   * clean close. For a mode that shares what it has not synced; otherwise no
   * unsynced record matters. A new segment has to be marked anew.
   */
  markInUse(): Promise<void> | undefined {
    this.#checkWritable();
    if (this.isMarked) return undefined;
    if (this.#flight !== undefined) {
      return this.#flight.then(() => this.markInUse());
    }
    try {
      this.#tail.growAhead(this.#end);
    } catch (error) {
      throw this.#fail(error);
    }
    return this.#launch();
  }

  #launch(isMet = false): Promise<void> | undefined {
    try {
      this.onSyncing();
      const end = this.sealed; // What is not sealed yet is not whole.
      const { segment } = this.#tail;
      if (this.#nameUnsynced) this.#syncName();
      const pending = segment.file.sync(isMet);
      if (pending !== undefined || this.#left !== undefined) {
        return this.#await(pending, end, segment);
      }
      this.#setSynced(end, segment);
      return undefined;
    } catch (error) {
      throw this.#fail(error);
    }
  }

  rewrite(
    edits: Iterable<{ readonly address: number; readonly bytes: Uint8Array }>,
  ): Promise<void> {
    this.#checkWritable();
    const files = new Set<Segment["file"]>();
    try {
      for (const { address, bytes } of edits) {
        const { file, base } = this.#reader.segmentAt(address);
        file.writeAt(bytes, address - base);
        files.add(file);
      }
    } catch (error) {
      throw this.#fail(error);
    }
    const written = this.#syncAll(files);
    written.catch(() => {}); // Who waits for it hears; `failure` tells the others.
    return written;
  }

  async #syncAll(files: Iterable<Segment["file"]>): Promise<void> {
    try {
      for (const file of files) await file.sync();
    } catch (error) {
      throw this.#fail(error);
    }
  }

  segmentAt(address: number): Segment {
    this.#checkOpen("read");
    return this.#reader.segmentAt(address);
  }

  fail(failure: DatabaseError): void {
    if (this.#failure !== undefined) return;
    this.#failure = failure;
    // Who hears it may close what is just being written.
    const hearing = [...this.#failing];
    queueMicrotask(() => hearing.forEach((hear) => hear(failure)));
  }

  /** Within one segment. */
  readAt(target: Uint8Array, address: number): number {
    this.#checkOpen("read");
    return this.#reader.readAt(target, address);
  }

  records(from: number, to: number, onRecord: OnRecord): number {
    this.#checkOpen("read");
    return this.#reader.records(from, Math.min(to, this.#end), onRecord);
  }

  /** Syncs, cuts the file to its last record, and gives it back. */
  async close(): Promise<void> {
    if (this.#closed) return;
    try {
      if (this.#failure === undefined) {
        await this.sync();
        const { file, base, size } = this.#tail.segment;
        // Only after the sync: a file without a zero tail says that all is durable.
        if (size > this.#end - base) file.truncate(this.#end - base);
      }
    } finally {
      this.#closed = true;
      this.#reader.close();
    }
  }

  #write(
    kind: number,
    parts: readonly Uint8Array[],
    length: number,
    seal: Promise<Uint8Array> | undefined,
  ): number {
    const size = RECORD_HEADER_BYTES + length;
    const offset = this.#end - this.#tail.segment.base;
    if (
      offset + size > this.#segmentBytesMax && offset > SEGMENT_HEADER_BYTES
    ) {
      this.#startSegment();
    }
    const address = this.#end;
    const marked = this.#synced === address ? kind | SYNC_MARK : kind;
    if (seal === undefined) this.#tail.write(marked, parts, length, address);
    else {
      const late = this.#tail.writeUnsealed(marked, parts, length, address);
      this.#sealLater(late, seal);
    }
    this.#end = address + size;
    return address + RECORD_HEADER_BYTES;
  }

  #sealLater(record: LateRecord, seal: Promise<Uint8Array>): void {
    const sealed = seal.then((bytes) => this.#seal(record, bytes))
      .catch((error) => {
        this.#fail(error);
        throw this.#failure;
      });
    sealed.catch(() => {}); // Who waits for it hears; `failure` tells the others.
    this.#late.add(record, sealed);
  }

  #seal(record: LateRecord, seal: Uint8Array): void {
    this.#checkWritable();
    assert(seal.length === SEAL_BYTES, "a seal has its length");
    const { sealed } = this;
    this.#tail.seal(record, seal);
    this.#late.remove(record);
    const { segment } = record;
    if (segment !== this.#tail.segment && !this.#late.isIn(segment)) {
      // It was left before it was whole.
      this.#leave(segment.file.sync());
    }
    if (this.sealed > sealed) this.onSealed();
  }

  /** Leaves the full segment, which is cut to its records, for a new one. */
  #startSegment(): void {
    const { file, base, index } = this.#tail.segment;
    if (index + 1 >= limits.segmentsMax) {
      throw new DatabaseError(
        "value-too-large",
        `Cannot grow the log in ${this.#folder}: it has ${limits.segmentsMax} segments`,
      );
    }
    const end = this.#end;
    this.#leave(file.sync());
    file.truncate(end - base);
    this.#tail.segment.size = end - base;
    const next = createSegment(
      this.#storage,
      this.#folder,
      this.#world,
      index + 1,
      end,
    );
    this.#syncName();
    this.#reader.add(next);
    this.#tail.segment = next;
    this.#end = next.start;
    const isWaited = this.#left ?? this.#flight ?? this.#late.first;
    if (isWaited === undefined) this.#synced = next.start;
  }

  /** Makes the names of the segments durable, at once or by the end of the next `sync`. */
  #syncName(): void {
    this.#leave(this.#storage.syncFolder(this.#folder, true));
    this.#nameUnsynced = false;
  }

  /** Keeps the sync of a segment that is left, or of its name, for the next `sync` to await. */
  #leave(pending: Promise<void> | void): void {
    if (pending === undefined) return;
    this.#left = Promise.all([this.#left, pending]).then(() => {});
    this.#left.catch((error) => this.#fail(error));
  }

  #setSynced(end: number, segment: Segment): void {
    this.#synced = end;
    // A file in use is longer than its records: see `LogTail`.
    this.#marked = segment;
    this.onSynced();
  }

  #await(
    pending: Promise<void> | undefined,
    end: number,
    segment: Segment,
  ): Promise<void> {
    const left = this.#left;
    this.#left = undefined;
    this.#flight = Promise.all([pending, left]).then(
      () => {
        this.#flight = undefined;
        this.#setSynced(end, segment);
      },
      (error) => {
        this.#flight = undefined;
        throw this.#fail(error);
      },
    );
    return this.#flight;
  }

  #checkWritable(): void {
    this.#checkOpen("write");
    if (this.#failure !== undefined) throw this.#failure;
  }

  #checkOpen(verb: string): void {
    if (!this.#closed) return;
    throw new DatabaseError(
      "closed",
      `Cannot ${verb} the log in ${this.#folder}: it was closed`,
    );
  }

  /** Makes the log read-only; answers the error for the call that failed. */
  #fail(error: unknown): unknown {
    this.fail(readOnly(this.#folder, error));
    return error;
  }
}

function readOnly(folder: string, cause: unknown): DatabaseError {
  const message = cause instanceof Error ? cause.message : String(cause);
  const why = message.replace(/\.?$/, ".");
  return new DatabaseError(
    "storage-readonly",
    `Cannot write the log in ${folder} since a write failed: ${why} ` +
      `Close it and open it again to go on.`,
    { cause },
  );
}

export interface OpenLogOptions extends OpenStoreOptions, LogSizes {}

/** A log that was there, and what opening it found. */
export interface OpenedLog extends OpenedStore {
  readonly log: Log;
}

/** Opens the log in `folder`. */
export async function openLog(
  storage: Storage,
  folder: string,
  options: OpenLogOptions,
): Promise<OpenedLog | undefined> {
  const found = await recoverLog(storage, folder, options);
  if (found === undefined) return undefined;
  const { reader, last, end, recovery } = found;
  const log = new Log(storage, folder, options, reader, last, end, false);
  return { log, recovery };
}

/** Creates a log in a folder that has none. */
export function createLog(
  storage: Storage,
  folder: string,
  options: CreateLogOptions,
  first: readonly NewRecord[],
): Log {
  const segment = createSegment(storage, folder, options.world, 0, 0);
  const { start } = segment;
  const reader = new LogReader(storage, folder, [segment]);
  const log = new Log(storage, folder, options, reader, segment, start, true);
  for (const { kind, parts } of first) log.append(kind, parts);
  return log;
}
