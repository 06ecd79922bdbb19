/**
 * The log: records of bytes in the order in which they were appended, durable
 * after a sync. Formats and recovery are in docs/format.md.
 *
 * Never knows what a record's body means, and never decides when to sync.
 *
 * Architecture invariant: a failed append or sync is final (law 12): every later
 * call throws until the log is opened, and so recovered, again.
 *
 * Order of effects in an append: grow the file by zeros, then write the record;
 * a new segment's name is durable before the first record is written into it.
 *
 * @module
 */

import { assert, DatabaseError } from "../src/base/errors.ts";
import { limits } from "../src/base/limits.ts";
import type { World } from "../src/base/world.ts";
import type { Storage } from "../src/storage/storage.ts";
import {
  isRecordKind,
  RECORD_HEADER_BYTES,
  SEGMENT_HEADER_BYTES,
  SYNC_MARK,
} from "./log_format.ts";
import {
  recoverLog,
  type RecoverOptions,
  type Recovery,
} from "./log_recovery.ts";
import { LogReader } from "./log_reader.ts";
import type { OnRecord, Segment } from "./log_segment.ts";
import { createSegment, type ExtentSizes, LogTail } from "./log_tail.ts";

/** Sizes that tests choose smaller. */
export interface LogSizes extends ExtentSizes {
  /** A segment is left when the next record would pass this size. */
  readonly segmentBytesMax?: number;
}

/** How to open a log. */
export interface OpenLogOptions extends RecoverOptions, LogSizes {
  /** Dice for the salts of new segments. */
  readonly world: World;
}

/** How to create a log. */
export interface CreateLogOptions extends LogSizes {
  /** Dice for the salts of new segments. */
  readonly world: World;
}

/** A record to append. */
export interface NewRecord {
  /** One of `recordKind`. */
  readonly kind: number;
  /** Its body, in pieces. */
  readonly parts: readonly Uint8Array[];
}

/** A log that was there, and what opening it found. */
export interface OpenedLog {
  /** Ready to append. */
  readonly log: Log;
  /** What was found and done. */
  readonly recovery: Recovery;
}

/**
 * Opens the log in `folder`, calling `onRecord` for every record from `from`
 * on. `undefined` when there is none, or when its creation never became
 * durable. What was read is durable.
 */
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

/**
 * Creates a log with its first records in a folder that has none. They are
 * durable after its first {@linkcode Log.sync}.
 */
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

/** An open log. */
export class Log {
  /** Runs whenever `synced` has grown; it must not throw. */
  onSynced: () => void = () => {};
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
  /** The sync under way, if any. */
  #flight: Promise<void> | undefined;
  /** Syncs of segments that were left meanwhile. */
  #left: Promise<void> | undefined;
  #failure: DatabaseError | undefined;
  #closed = false;

  /** Use {@linkcode openLog} or {@linkcode createLog}. */
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

  /** Address after the last record. */
  get end(): number {
    return this.#end;
  }

  /** Address up to which everything is durable. */
  get synced(): number {
    return this.#synced;
  }

  /** Bytes of the log, headers included. */
  get bytes(): number {
    return this.#end;
  }

  /** Why the log is read-only, if it is. */
  get failure(): DatabaseError | undefined {
    return this.#failure;
  }

  /**
   * Appends a record and says at which address its body starts. It is in the
   * file when this returns, and durable after the next {@linkcode sync}.
   */
  append(kind: number, parts: readonly Uint8Array[]): number {
    this.#checkWritable();
    assert(isRecordKind(kind) && kind < SYNC_MARK, "kinds are in recordKind");
    let length = 0;
    for (const part of parts) length += part.length;
    if (length > limits.batchBytesMax) {
      throw new DatabaseError(
        "value-too-large",
        `Cannot append ${length} bytes to the log: a batch has at most ${limits.batchBytesMax}`,
      );
    }
    try {
      return this.#write(kind, parts, length);
    } catch (error) {
      throw this.#fail(error);
    }
  }

  /**
   * Makes everything appended so far durable: at once (`undefined`), or when
   * the promise resolves.
   */
  sync(): Promise<void> | undefined {
    this.#checkWritable();
    if (this.#flight !== undefined) {
      return this.#flight.then(() => this.sync());
    }
    return this.#synced === this.#end ? undefined : this.#launch();
  }

  /** Is it durable that the log is in use? */
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

  #launch(): Promise<void> | undefined {
    const end = this.#end;
    const { segment } = this.#tail;
    try {
      if (this.#nameUnsynced) this.#storage.syncFolder(this.#folder);
      this.#nameUnsynced = false;
      const pending = segment.file.sync();
      if (pending !== undefined || this.#left !== undefined) {
        return this.#await(pending, end, segment);
      }
      this.#setSynced(end, segment);
      return undefined;
    } catch (error) {
      throw this.#fail(error);
    }
  }

  /** Reads bytes from `address` on, within one segment; says how many. */
  readAt(target: Uint8Array, address: number): number {
    this.#checkOpen("read");
    return this.#reader.readAt(target, address);
  }

  /**
   * Calls `onRecord` for each record from address `from` (of a record's first
   * byte; 0 is the first one's) up to `to`, checksums verified. Throws
   * `log-damaged` with the address of the first bad byte.
   */
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

  #write(kind: number, parts: readonly Uint8Array[], length: number): number {
    const size = RECORD_HEADER_BYTES + length;
    const offset = this.#end - this.#tail.segment.base;
    if (
      offset + size > this.#segmentBytesMax && offset > SEGMENT_HEADER_BYTES
    ) {
      this.#startSegment();
    }
    const address = this.#end;
    const marked = this.#synced === address ? kind | SYNC_MARK : kind;
    this.#tail.write(marked, parts, length, address);
    this.#end = address + size;
    return address + RECORD_HEADER_BYTES;
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
    const pending = file.sync();
    if (pending !== undefined) this.#leave(pending);
    if (this.#nameUnsynced) this.#storage.syncFolder(this.#folder);
    file.truncate(end - base);
    this.#tail.segment.size = end - base;
    const next = createSegment(
      this.#storage,
      this.#folder,
      this.#world,
      index + 1,
      end,
    );
    this.#storage.syncFolder(this.#folder);
    this.#nameUnsynced = false;
    this.#reader.add(next);
    this.#tail.segment = next;
    this.#end = next.start;
    if (this.#left === undefined && this.#flight === undefined) {
      this.#synced = next.start;
    }
  }

  /** Keeps the sync of a segment that is left, for the next `sync` to await. */
  #leave(pending: Promise<void>): void {
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
    this.#failure ??= readOnly(this.#folder, error);
    return error;
  }
}

function readOnly(folder: string, cause: unknown): DatabaseError {
  const why = cause instanceof Error ? cause.message : String(cause);
  return new DatabaseError(
    "storage-readonly",
    `Cannot write the log in ${folder} since a write failed: ${why} ` +
      `Close it and open it again to go on.`,
    { cause },
  );
}
