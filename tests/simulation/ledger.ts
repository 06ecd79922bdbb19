/**
 * What was promised to whom: every write with its mark, and how far its promise
 * went. The checks ask it at the end.
 *
 * @module
 */

import type { Position } from "../../repo/commit/commit.ts";

/** What the author of something was promised. */
export interface Promised {
  /** Did its author hear that it is durable, before that author's next crash? */
  isDurable: boolean;
  /** Did its author hear that the server has it? */
  isSynced: boolean;
  /** Did its author hear that it was refused, and why? */
  refused: string | undefined;
}

/** That a write was taken back, or done again. */
export interface Turn extends Promised {
  /** Does it do the write again? */
  readonly isRedo: boolean;
}

/** One write of a simulation. */
export interface Entry extends Promised {
  /** Id of its mark. */
  readonly mark: string;
  readonly repository: string;
  readonly author: string;
  /** The how-manieth write of its author's life. */
  readonly life: number;
  /** Virtual milliseconds. */
  readonly madeMs: number;
  /** The tally that it added to, or "". */
  readonly tally: string;
  /** What its author did to it last by undo or redo. */
  turn: Turn | undefined;
  /** Was it taken back or done again, and may a crash have lost the note of that? */
  isForgotten: boolean;
  /** When its author last heard that it was refused, in virtual milliseconds … */
  refusedMs: number;
  /** … and of which commit. */
  refusedAt: Position | undefined;
  /** Since when it is shown as refused, and was not tried again. */
  toldMs: number;
  /** Was it refused, and tried again? */
  isRetried: boolean;
  /** Was it refused, and given up by its author? */
  isGone: boolean;
}

/** What is promised of what was just begun. */
export const nothing: Promised = {
  isDurable: false,
  isSynced: false,
  refused: undefined,
};

/** See the file's header. */
export class Ledger {
  readonly #entries = new Map<string, Entry>();

  /** Everything that was written. */
  get entries(): IterableIterator<Entry> {
    return this.#entries.values();
  }

  /** How much was written. */
  get size(): number {
    return this.#entries.size;
  }

  /** The write with this mark. */
  find(mark: string): Entry | undefined {
    return this.#entries.get(mark);
  }

  /** Notes a write. */
  add(
    made: Pick<
      Entry,
      "mark" | "repository" | "author" | "life" | "madeMs" | "tally"
    >,
  ): Entry {
    const entry: Entry = {
      ...made,
      ...nothing,
      turn: undefined,
      isForgotten: false,
      refusedMs: -Infinity,
      refusedAt: undefined,
      toldMs: Infinity,
      isRetried: false,
      isGone: false,
    };
    this.#entries.set(made.mark, entry);
    return entry;
  }
}
