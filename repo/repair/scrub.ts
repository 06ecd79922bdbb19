/**
 * Scrubbing: reads log and checkpoint over and over, slowly, so that rot is found
 * while there is still somebody who can give back what it took.
 *
 * One flipped bit of a record is set right in place. Of more damage the folder
 * is marked: the next opening repairs it. Where the last life of the process
 * ended, the next one goes on.
 *
 * Architecture invariant: what is not durable yet is left alone, and a step reads
 * no more than its share; no clock but that of the World (law 9).
 */

import { DatabaseError } from "../../src/base/errors.ts";
import { limits } from "../../src/base/limits.ts";
import type { World } from "../../src/base/world.ts";
import type { Storage } from "../../src/storage/storage.ts";
import { DAMAGED, UNSEALED_MARK } from "../log/format.ts";
import { isDamage, mendedRecord, nextRecord } from "../log/mend.ts";
import { readRecords } from "../log/segment.ts";
import type { LoadedReplica } from "../loaded_replica.ts";

/** How fast it goes. */
export interface ScrubPace {
  /** Bytes that one step reads. */
  readonly stepBytes?: number;
  /** Milliseconds between two steps, of all repositories together. */
  readonly stepMs?: number;
  /** Milliseconds from the end of one round to the next. */
  readonly everyMs?: number;
}

export interface ScrubFinding {
  /** `log-mended`: one bit was set right. The others: the folder is marked for a repair, or the medium fails. */
  readonly code:
    | "log-mended"
    | "log-damaged"
    | "checkpoint-damaged"
    | "storage-failed";
  /** For a person. */
  readonly message: string;
}

export interface ScrubberParts {
  readonly storage: Storage;
  readonly world: World;
  readonly loaded: LoadedReplica;
  readonly pace: ScrubPace;
  /** How many share the pace now. */
  readonly sharers: () => number;
  readonly found: (finding: ScrubFinding) => void;
}

/** Where a round stands, in the repository's folder. */
const PLACE = "scrub";

export class Scrubber {
  readonly #parts: ScrubberParts;
  /** Log address of the next step. */
  #at: number;
  /** The rest of the checkpoint, while it is its turn. */
  #pages: Generator<void> | undefined;
  #cancel: () => void = () => {};
  #isStopped = false;

  constructor(parts: ScrubberParts) {
    this.#parts = parts;
    this.#at = readPlace(parts);
    this.#later(this.#stepMs);
  }

  get #stepMs(): number {
    const { pace, sharers } = this.#parts;
    return (pace.stepMs ?? limits.scrubStepMs) * sharers();
  }

  #later(ms: number): void {
    this.#cancel = this.#parts.world.after(ms, () => {
      void this.#step().then((isRoundDone) => {
        if (this.#isStopped || isRoundDone === undefined) return;
        const { everyMs = limits.scrubEveryMs } = this.#parts.pace;
        this.#later(isRoundDone ? everyMs : this.#stepMs);
      });
    });
  }

  /** One step; was it a round's last? `undefined`: there is nothing more to do before a repair. */
  async #step(): Promise<boolean | undefined> {
    try {
      return this.#pages === undefined
        ? this.#stepLog()
        : this.#stepCheckpoint(this.#pages);
    } catch (cause) {
      if (this.#isStopped || !isDamage(cause)) return this.#tell(cause);
      try {
        return await this.#mend(cause) ? false : this.#tell(cause);
      } catch (failure) {
        return this.#tell(failure);
      }
    }
  }

  #stepLog(): boolean {
    const { loaded: { log, checkpoint }, pace } = this.#parts;
    const { stepBytes = limits.scrubStepBytes } = pace;
    const start = this.#at;
    const end = Math.min(log.synced, log.sealed);
    const stopped = log.records(start, end, (_kind, body, address) => {
      this.#at = address + body.length;
      return this.#at - start >= stepBytes;
    });
    this.#at = Math.max(stopped, start);
    if (this.#at < end) return false;
    this.#at = 0;
    this.#pages = checkpoint?.file.verify();
    return this.#pages === undefined;
  }

  #stepCheckpoint(pages: Generator<void>): boolean {
    const isDone = pages.next().done === true;
    if (isDone) this.#pages = undefined;
    return isDone;
  }

  /**
   * Sets one bit of the record right at which the last step stopped. Where that
   * fails, so has the log (law 12).
   */
  async #mend({ message }: DatabaseError): Promise<boolean> {
    const { log } = this.#parts.loaded;
    const segment = log.segmentAt?.(this.#at);
    if (segment === undefined) return false;
    const from = Math.max(this.#at, segment.start);
    const end = Math.min(segment.limit, log.synced);
    const bad = readRecords(segment, from, end, () => {}, UNSEALED_MARK);
    const bytes = mendedRecord(segment, bad, nextRecord(segment, bad));
    if (bytes === undefined) return false;
    await log.rewrite([{ address: bad, bytes }]);
    this.#parts.found({
      code: "log-mended",
      message: `${message} It was one bit, and is right again.`,
    });
    return true;
  }

  /** Damage is for a repair; a medium that fails is tried again. */
  #tell(cause: unknown): boolean | undefined {
    if (!(cause instanceof DatabaseError) || this.#isStopped) return undefined;
    const { code, message } = cause;
    const { storage, loaded: { folder, checkpoint }, found } = this.#parts;
    if (code === "checkpoint-damaged" && checkpoint !== undefined) {
      checkpoint.file.isDamaged = true; // It goes when it is closed.
      this.#pages = undefined;
      found({ code, message });
      return true;
    }
    if (code !== "log-damaged") {
      found({ code: "storage-failed", message });
      return true;
    }
    storage.open(`${folder}/${DAMAGED}`, { create: true })?.close();
    storage.syncFolder(folder);
    found({ code, message });
    return undefined;
  }

  /** Stops, and keeps in mind where. */
  stop(): void {
    if (this.#isStopped) return;
    this.#isStopped = true;
    this.#cancel();
    writePlace(this.#parts, this.#at);
  }
}

function readPlace(
  { storage, loaded: { folder, log } }: ScrubberParts,
): number {
  try {
    const file = storage.open(`${folder}/${PLACE}`);
    const bytes = new Uint8Array(file?.size() === 8 ? 8 : 0);
    file?.readAt(bytes, 0);
    file?.close();
    if (bytes.length < 8) return 0;
    const at = new DataView(bytes.buffer).getFloat64(0, true);
    let isStart = false;
    log.records(at, log.end, () => isStart = true);
    return isStart ? at : 0;
  } catch {
    return 0; // It is a shortcut.
  }
}

function writePlace(
  { storage, loaded: { folder } }: ScrubberParts,
  at: number,
): void {
  const name = `${folder}/${PLACE}`;
  try {
    if (at === 0) return storage.remove(name);
    const bytes = new Uint8Array(8);
    new DataView(bytes.buffer).setFloat64(0, at, true);
    const file = storage.open(name, { create: true })!;
    file.writeAt(bytes, 0);
    file.close();
  } catch {
    // It is a shortcut.
  }
}
