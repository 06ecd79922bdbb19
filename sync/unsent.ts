/** How much of a log its server is not known to have. */

import { batchIn } from "../repo/commit/batch.ts";
import type { FeedRecord, RepositoryPort } from "../repo/port.ts";
import { DatabaseError } from "../src/base/errors.ts";
import { limits } from "../src/base/limits.ts";
import type { World } from "../src/base/world.ts";
import type { ServerKnowledge } from "./server_knowledge.ts";
import type { Unsent } from "./status.ts";

/** So much is read to count at each look. */
const CHEAP_BYTES = 32 * 1024;

const nothing: Unsent = Object.freeze({
  commits: 0,
  bytes: 0,
  oldest: undefined,
});

/** Counts commits of one log that the server is not known to have. */
export class UnsentCount {
  readonly #port: RepositoryPort;
  readonly #server: ServerKnowledge;
  readonly #world: Pick<World, "monotonic" | "after">;
  readonly #due: () => void;
  #last = nothing;
  #hasCounted = false;
  #countedMs = -Infinity;
  /** Up to which log address was counted last, and what the server had turned out to lack until then. */
  #countedTo = 0;
  #losses = 0;
  /** Did commits become void? Until those that were written again may be sent an older count stands. */
  #isRewriting = false;
  #cancel: (() => void) | undefined;

  /** @param due a count that was put off is due */
  constructor(
    port: RepositoryPort,
    server: ServerKnowledge,
    world: Pick<World, "monotonic" | "after">,
    due: () => void,
  ) {
    this.#port = port;
    this.#server = server;
    this.#world = world;
    this.#due = due;
  }

  /**
   * Commits are void: those that were written again may not be sent
   * before the log is durable so far, and are unsent all the same.
   */
  noteReissued(): void {
    this.#isRewriting = true;
  }

  /**
   * What the server lacks; the same object until it changes. Counting means reading:
   * where there is much, an older count stands for a while, unless it is of nothing
   * and more was written since.
   *
   * @param isOpen may the connection be asked?
   */
  look(isOpen: boolean): Unsent {
    const port = this.#port;
    const server = this.#server;
    this.#isRewriting &&= !port.isComplete;
    if (this.#isRewriting && this.#last.commits > 0) return this.#last;
    const isRecounted = this.#hasCounted && this.#losses === server.losses;
    this.#hasCounted = true;
    this.#losses = server.losses;
    if (isOpen && server.isQuiet) {
      this.#countedTo = port.shareable;
      return this.#last = nothing;
    }
    const from = server.uploadedTo;
    const now = this.#world.monotonic();
    const isCheap = port.shareable - from <= CHEAP_BYTES;
    // Whole milliseconds: a rest that is less would be waited for again and again.
    const waitMs = Math.ceil(this.#countedMs + limits.countMs - now);
    const isPutOff = isRecounted && !isCheap && waitMs > 0;
    if (isPutOff) {
      this.#cancel ??= this.#world.after(waitMs, () => {
        this.#cancel = undefined;
        this.#due();
      });
      if (this.#last.commits > 0) return this.#last;
    } else this.#countedMs = now;
    const start = isPutOff ? Math.max(from, this.#countedTo) : from;
    this.#countedTo = port.shareable;
    return this.#last = this.#from(start);
  }

  /** What lies behind `from` and is lacking there, as long as the medium does tell. */
  #from(from: number): Unsent {
    let commits = 0;
    let bytes = 0;
    let oldest: number | undefined;
    try {
      for (const record of recordsFrom(this.#port, from)) {
        const { first, count, chain } = record;
        const has = Math.max(first, this.#server.countOf(chain));
        const lacking = first + count - has;
        if (lacking <= 0) continue;
        commits += lacking;
        bytes += Math.ceil(record.bytes.length * lacking / count);
        oldest ??= wallOf(record, has - first);
      }
    } catch (cause) {
      if (!(cause instanceof DatabaseError)) throw cause;
      return this.#last;
    }
    const last = this.#last;
    const isSame = last.commits === commits && last.bytes === bytes &&
      last.oldest?.getTime() === oldest;
    if (isSame) return last;
    const date = oldest === undefined ? undefined : new Date(oldest);
    return Object.freeze({ commits, bytes, oldest: date });
  }

  /** Ends its timer. */
  close(): void {
    this.#cancel?.();
  }
}

function* recordsFrom(
  port: RepositoryPort,
  from: number,
): Generator<FeedRecord> {
  const end = port.shareable;
  for (let at = port.isStart(from) ? from : 0; at < end;) {
    const { records, next } = port.read(at, limits.recordsBytesSoft);
    yield* records;
    if (next <= at) return;
    at = next;
  }
}

/** When a commit of a batch was written. */
function wallOf(record: FeedRecord, index: number): number | undefined {
  try {
    return batchIn(record.kind, record.bytes)?.commits[index]?.wall;
  } catch {
    return undefined; // What the own log holds was decoded when it came.
  }
}
