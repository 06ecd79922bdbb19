/**
 * Records that a tab was sent, on their way into its replica: in order, without
 * gaps, and in slices, so that the page stays free to draw.
 *
 * Architecture invariant: the page's thread is not held for longer than
 * `tabSliceMsMax` at a time by what others wrote, except by a single record.
 */

import type { LogPoint, OwnRecord } from "../../repo/mod.ts";
import { limits } from "../base/limits.ts";
import type { World } from "../base/world.ts";
import type { Records } from "./messages.ts";
import { Unloaded } from "../base/late.ts";
import { whenLoaded } from "./tab_late.ts";

/** Records are followed in runs of about so many bytes: one look at the clock each. */
const RUN_BYTES = 8 * 1024;

export interface TabInboxParts {
  readonly world: World;
  readonly follow: (records: readonly OwnRecord[]) => string | undefined;
  /** Something is missing: the repository is opened again with what is here. */
  readonly missed: () => void;
  /** Is nobody looking, so that nothing has to be drawn? */
  readonly isHidden: () => boolean;
  /** Everything that came is part of the replica. */
  readonly caughtUp: () => void;
  /** Following failed for good. */
  readonly failed: (cause: unknown) => void;
}

/** The records of one repository, from one owner after the other. */
export class TabInbox {
  readonly #parts: TabInboxParts;
  #at: LogPoint;
  /** Up to here records have come. */
  #heard: number;
  #queue: Records[] = [];
  /** Records of the first in the queue that were followed. */
  #done = 0;
  #isRunning = false;
  /** Counts beginnings, so that what was planned before one is dropped. */
  #life = 0;
  /** Is the owner's log read from its start, because something was missing? */
  #readsAll = false;

  constructor(at: LogPoint, parts: TabInboxParts) {
    this.#at = at;
    this.#heard = at.address;
    this.#parts = parts;
  }

  get at(): LogPoint {
    return this.#at;
  }

  begin(at: LogPoint): void {
    this.#life++;
    this.#readsAll &&= at.address === 0;
    this.#queue = [];
    this.#done = 0;
    this.#at = at;
    this.#heard = at.address;
    this.#isRunning = false;
  }

  take(records: Records): void {
    if (records.from > this.#heard) return this.#parts.missed();
    if (records.from < this.#heard) return; // It has come before.
    this.#heard = records.next.address;
    this.#queue.push(records);
    if (!this.#isRunning) this.#run();
  }

  #run(): void {
    const { world, isHidden } = this.#parts;
    const life = this.#life;
    const start = world.monotonic();
    this.#isRunning = true;
    while (this.#queue.length > 0) {
      if (!this.#step() || life !== this.#life) return;
      const isLong = world.monotonic() - start >= limits.tabSliceMsMax;
      if (!isLong || isHidden() || this.#queue.length === 0) continue;
      world.after(0, () => life === this.#life && this.#run());
      return;
    }
    this.#isRunning = false;
    this.#parts.caughtUp();
  }

  /** Follows one run of records; false when that was not possible. */
  #step(): boolean {
    const [first] = this.#queue;
    const { records, next } = first!;
    const run: OwnRecord[] = [];
    for (let bytes = 0; bytes < RUN_BYTES;) {
      const record = records[this.#done + run.length];
      if (record === undefined) break;
      run.push(record);
      bytes += record.bytes.length;
    }
    let missing: string | undefined;
    try {
      missing = this.#parts.follow(run);
    } catch (cause) {
      const life = this.#life;
      if (!(cause instanceof Unloaded)) this.#parts.failed(cause);
      else {
        const goOn = () => life === this.#life && this.#run();
        whenLoaded(this.#parts.world, cause, goOn);
      }
      return false;
    }
    if (missing !== undefined) return this.#miss(missing);
    this.#done += run.length;
    if (this.#done < records.length) return true;
    this.#done = 0;
    this.#queue.shift();
    this.#at = next;
    return true;
  }

  /** Something that was before is not here: all of the owner's log is read once. */
  #miss(missing: string): boolean {
    if (this.#readsAll) {
      this.#parts.failed(
        new Error(`The log lacks ${missing} that its records build on`),
      );
      return false;
    }
    this.#readsAll = true;
    this.begin({ address: 0, crc: 0 });
    this.#parts.missed();
    return false;
  }
}
