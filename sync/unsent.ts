/**
 * Counting what the server does not have yet.
 *
 * @module
 */

import { decodeBatch } from "../repo/batch.ts";
import type { FeedRecord, RepositoryPort } from "../repo/port.ts";
import { DatabaseError } from "../src/base/errors.ts";
import { limits } from "../src/base/limits.ts";
import type { Unsent } from "./status.ts";

const nothing: Unsent = Object.freeze({
  commits: 0,
  bytes: 0,
  oldest: undefined,
});

/** Counts commits of one log that the server is not known to have. */
export class UnsentCount {
  readonly #port: RepositoryPort;
  readonly #serverHas: (chain: string) => number;
  #last = nothing;

  /**
   * @param port the log
   * @param serverHas how many commits of a chain the server is known to have
   */
  constructor(port: RepositoryPort, serverHas: (chain: string) => number) {
    this.#port = port;
    this.#serverHas = serverHas;
  }

  /** How many log bytes have to be read to count from an address. */
  cost(from: number): number {
    return this.#port.shareable - from;
  }

  /**
   * What lies behind `from` and is lacking there; the same object until it changes,
   * and as long as the medium does not tell.
   */
  from(from: number): Unsent {
    try {
      return this.#from(from);
    } catch (cause) {
      if (!(cause instanceof DatabaseError)) throw cause;
      return this.#last;
    }
  }

  #from(from: number): Unsent {
    let commits = 0;
    let bytes = 0;
    let oldest: number | undefined;
    for (const record of recordsFrom(this.#port, from)) {
      const { first, count, chain } = record;
      const has = Math.max(first, this.#serverHas(chain));
      const lacking = first + count - has;
      if (lacking <= 0) continue;
      commits += lacking;
      bytes += Math.ceil(record.bytes.length * lacking / count);
      oldest ??= wallOf(record, has - first);
    }
    return this.#settle(commits, bytes, oldest);
  }

  /** Nothing is lacking. */
  none(): Unsent {
    return this.#last = nothing;
  }

  #settle(commits: number, bytes: number, oldest: number | undefined): Unsent {
    const last = this.#last;
    const isSame = last.commits === commits && last.bytes === bytes &&
      last.oldest?.getTime() === oldest;
    if (isSame) return last;
    const date = oldest === undefined ? undefined : new Date(oldest);
    return this.#last = Object.freeze({ commits, bytes, oldest: date });
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
    const batch = decodeBatch(record.bytes, record.kind === "signed");
    return batch.commits[index]?.wall;
  } catch {
    return undefined; // What the own log holds was decoded when it came.
  }
}
