/**
 * When to write a checkpoint, and that only one is written at a time.
 *
 * In the background, when the log behind the last one has grown by a fraction
 * of the whole (so that the cost per write stays bounded); on close, where
 * the next opening would otherwise replay more than a checkpoint costs; and,
 * where the process may end without a word, when nothing was written for a while.
 *
 * Architecture invariant: a checkpoint holds nothing that the log does not, and
 * a failure to write one costs time only (law 5).
 */

import { asFailure, DatabaseError } from "../../src/base/errors.ts";
import type { World } from "../../src/base/world.ts";
import type { Storage } from "../../src/storage/storage.ts";
import { listCheckpoints, numberIn, removeOldCheckpoints } from "./files.ts";
import type { LoadedReplica } from "../loaded_replica.ts";

/** A log that grew by less than this is quicker to replay than to checkpoint. */
const TAIL_BYTES_MIN = 16 * 1024 * 1024;
/** In the background: a tail of half of what is covered. */
const TAIL_FRACTION = 0.5;
/** On close: a hundredth, because the next opening waits for it. */
const TAIL_FRACTION_CLOSE = 0.01;
/** In idle time: a hundredth, but no less than opening replays within a frame. */
const TAIL_FRACTION_IDLE = 0.01;
const TAIL_BYTES_IDLE = 64 * 1024;
/** So long nothing may have been appended. */
const IDLE_MS = 1_000;
/** On close a small repository always leaves a fresh checkpoint. */
const SMALL_BYTES = 1024 * 1024;

const UNWRITTEN = "The checkpoint could not be written";

export interface CheckpointerParts {
  readonly storage: Storage;
  readonly world: World;
  readonly loaded: LoadedReplica;
  /** Puts everything visible into the log: a picture holds nothing without an address. */
  readonly settle: () => void;
  /** Does anybody open these files again? A tab's are an image. */
  readonly isNeeded: boolean;
  /** May it end at any moment, without being closed? A browser's page does. */
  readonly isHasty: boolean;
}

export class Checkpointer {
  readonly #parts: CheckpointerParts;
  #number: number;
  #covers: number;
  #running: Promise<void> | undefined;
  #isClosing = false;
  #bytes: number | undefined;
  #failure: DatabaseError | undefined;
  /** The first address at which commits became void while one was being written. */
  #voidFrom = Infinity;
  /** Where the log ended at the last failure: the next try waits for as much growth again. */
  #failedAt = 0;
  #cancelIdle: (() => void) | undefined;

  constructor(parts: CheckpointerParts) {
    this.#parts = parts;
    const { checkpoint, skipped } = parts.loaded;
    this.#isClosing = !parts.isNeeded;
    const numbers = skipped.map(({ name }) => numberIn(name));
    this.#number = Math.max(checkpoint?.number ?? 0, ...numbers);
    this.#covers = checkpoint?.covers ?? 0;
    this.#planIdle();
  }

  get bytes(): number | undefined {
    return this.#bytes;
  }

  /** Why the last one could not be written; the log still has everything. */
  get failure(): DatabaseError | undefined {
    return this.#failure;
  }

  get #tail(): number {
    return this.#parts.loaded.log.end - this.#covers;
  }

  /** Called when a group is in the log: nothing visible lacks an address now. */
  grown(): void {
    this.#parts.loaded.commits.touches?.keepUp();
    const { end } = this.#parts.loaded.log;
    const grown = end - Math.max(this.#covers, this.#failedAt);
    const isDue =
      grown > Math.max(TAIL_BYTES_MIN, this.#covers * TAIL_FRACTION);
    if (this.#running !== undefined || this.#isClosing) return;
    if (isDue) void this.#start().catch(() => {});
    else this.#planIdle();
  }

  /** One is written when the log has rested for a while, if it would help much. */
  #planIdle(): void {
    const { isHasty, world, loaded: { log } } = this.#parts;
    if (!isHasty || this.#isClosing || this.#cancelIdle !== undefined) return;
    const { end } = log;
    const grown = end - Math.max(this.#covers, this.#failedAt);
    if (grown <= Math.max(TAIL_BYTES_IDLE, this.#covers * TAIL_FRACTION_IDLE)) {
      return;
    }
    this.#cancelIdle = world.after(IDLE_MS, () => {
      this.#cancelIdle = undefined;
      if (log.end > end) this.#planIdle();
      else void this.write().catch(() => {});
    });
  }

  /**
   * Commits from this address on are void now. A checkpoint that holds them is
   * of no use to the next opening: a new one is due.
   */
  outdate(address: number): void {
    if (address < this.#covers) this.#covers = 0;
    this.#voidFrom = Math.min(this.#voidFrom, address);
  }

  /** Writes one now, after the one that is running. */
  async write(): Promise<void> {
    while (this.#running !== undefined) await this.#running.catch(() => {});
    if (this.#isClosing) {
      throw new DatabaseError(
        "closed",
        "The repository was closed before its checkpoint could be written",
      );
    }
    this.#parts.settle(); // Which may start one by itself.
    if (this.#running !== undefined) return await this.#running;
    if (this.#tail > 0) await this.#start();
  }

  /**
   * Runs while none is written; then a new one takes the place of those that
   * there are: they hold what must not be read any more.
   */
  async replacing(run: () => Promise<void>): Promise<void> {
    while (this.#running !== undefined) await this.#running.catch(() => {});
    const running = this.#replace(run).finally(() => this.#running = undefined);
    this.#running = running;
    await running;
  }

  async #replace(run: () => Promise<void>): Promise<void> {
    await run();
    const { storage, loaded: { folder }, isNeeded } = this.#parts;
    const isThere = () => listCheckpoints(storage.list(folder)).length > 0;
    if (!isNeeded || !isThere()) return;
    // Who opens the new one must not have to look for others.
    removeOldCheckpoints(storage, folder);
    await storage.syncFolder(folder, true);
    this.#covers = 0;
    await this.#run().catch(() => {}); // It costs time only.
  }

  /** Waits for the running one, and writes the last one where it pays. */
  async close(isSound: boolean): Promise<void> {
    this.#isClosing = true;
    this.#cancelIdle?.();
    await this.#running?.catch(() => {});
    await this.#writeLast(isSound);
    this.#parts.loaded.commits.touches?.close();
  }

  async #writeLast(isSound: boolean): Promise<void> {
    const { loaded } = this.#parts;
    const due = loaded.log.end > SMALL_BYTES
      ? this.#covers * TAIL_FRACTION_CLOSE
      : 0;
    const isDue = this.#tail > due && loaded.graph.commits > 0;
    if (
      !isSound || !isDue || !this.#parts.isNeeded || this.#failure !== undefined
    ) return;
    // A checkpoint is derived: failing to write one must not fail the close.
    await this.#start().catch(() => {});
  }

  #start(): Promise<void> {
    const running = this.#run().finally(() => this.#running = undefined);
    this.#running = running;
    return running;
  }

  async #run(): Promise<void> {
    const { storage, world, loaded: { commits, log } } = this.#parts;
    try {
      // A page has an image of its files, and writes none.
      const { removeOlder, writeNext } = await import("../seldom.ts");
      const { path, covers } = await writeNext(this.#parts, {
        after: this.#number,
        pausing: () => this.#isClosing ? undefined : pause(world),
        begun: (number) => {
          this.#number = number;
          this.#voidFrom = Infinity;
        },
      });
      this.#covers = this.#voidFrom < covers ? 0 : covers;
      this.#failure = undefined;
      if (!this.#isClosing) commits.touches?.rebase(storage, path);
      this.#bytes = removeOlder(storage, path);
    } catch (cause) {
      this.#failure = asFailure(cause, UNWRITTEN);
      this.#failedAt = log.end;
      throw this.#failure;
    }
  }
}

function pause(world: World): Promise<void> {
  return new Promise((resolve) => void world.after(0, resolve));
}
