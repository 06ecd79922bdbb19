/**
 * Counting what the server does not have while there is no connection.
 *
 * @module
 */

import { DatabaseError } from "../base/errors.ts";
import { decodeBatch, recordKind, type Replica } from "../../repo/mod.ts";
import type { Unsent } from "./channel.ts";

const nothing: Unsent = { commits: 0, bytes: 0, oldest: undefined };

/** Counts the commits behind a log address, each once. */
export class UnsentCounter {
  readonly #replica: Replica;
  readonly #from: number;
  #countedTo: number;
  /** How often commits had been taken back when it counted. */
  #revision: number;
  #unsent = nothing;

  /** `from`: log address up to which the server has everything. */
  constructor(replica: Replica, from: number) {
    this.#replica = replica;
    this.#from = this.#countedTo = from;
    this.#revision = replica.commits.revision;
  }

  /** The same object until there are more; what a medium that fails does not tell waits until it does. */
  get(): Unsent {
    try {
      return this.#get();
    } catch (cause) {
      if (!(cause instanceof DatabaseError)) throw cause;
      return this.#unsent;
    }
  }

  #get(): Unsent {
    this.#replica.flush();
    const { log, graph } = this.#replica.loaded;
    const { revision } = this.#replica.commits;
    if (revision !== this.#revision) {
      this.#revision = revision;
      this.#countedTo = this.#from;
      this.#unsent = nothing;
    }
    if (log.end <= this.#countedTo) return this.#unsent;
    const before = this.#unsent;
    // All there is need not be read to be counted.
    if (this.#countedTo === 0) this.#unsent = this.#all(graph.commits, log.end);
    else this.#unsent = this.#grown(log.end);
    this.#countedTo = log.end;
    if (this.#unsent.commits === before.commits) this.#unsent = before;
    return this.#unsent;
  }

  #all(commits: number, end: number): Unsent {
    if (commits === 0) return nothing;
    return { commits, bytes: end - this.#from, oldest: this.#oldest() };
  }

  /** When the first commit of the log was written. */
  #oldest(): Date | undefined {
    const { log } = this.#replica.loaded;
    let oldest: Date | undefined;
    log.records(0, log.end, (kind, body) => {
      const isSigned = kind === recordKind.signedBatch;
      if (!isSigned && kind !== recordKind.unsignedBatch) return;
      oldest = dateOf(decodeBatch(body, isSigned).commits[0]?.wall);
      return oldest !== undefined;
    });
    return oldest;
  }

  #grown(end: number): Unsent {
    let { commits, bytes, oldest } = this.#unsent;
    this.#replica.commits.each(
      ({ batch, from }) => {
        commits += Math.max(0, batch.commits.length - from);
        bytes += batch.bytes.length;
        oldest ??= dateOf(batch.commits[0]?.wall);
      },
      this.#countedTo,
      end,
    );
    return { commits, bytes, oldest };
  }
}

function dateOf(wall: number | undefined): Date | undefined {
  return wall === undefined ? undefined : new Date(wall);
}
