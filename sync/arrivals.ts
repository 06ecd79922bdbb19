/**
 * Who waits for commits to arrive at the server.
 *
 * Architecture invariant: a commit has arrived only when the server said that
 * it is durable there; a refused one says why (law 11).
 *
 * @module
 */

import { type Deferred, deferred } from "../src/base/deferred.ts";
import type { CommitPlace } from "../repo/commit_place.ts";
import { DatabaseError } from "../src/base/errors.ts";
import { limits } from "../src/base/limits.ts";

interface Waiting {
  readonly place: CommitPlace;
  readonly levers: Deferred<void>;
}

/** Those who wait on one repository. */
export class ArrivalList {
  readonly #has: (chain: string) => number;
  /** Why commits were refused, by chain and number; the newest are kept. */
  readonly #refusals = new Map<string, string>();
  #waiting: Waiting[] = [];

  /** @param has how many commits of a chain the server has durably */
  constructor(has: (chain: string) => number) {
    this.#has = has;
  }

  /** Resolves when the server has a commit; follows it when it has to move. */
  async wait(place: CommitPlace): Promise<void> {
    const levers = deferred<void>();
    this.#waiting.push({ place, levers });
    this.check();
    return await levers.promise;
  }

  /** Notes why commits were refused, `count` of them from `number` on. */
  noteRefused(chain: string, number: number, count: number, why: string): void {
    const end = number + Math.min(count, limits.refusalsKnownMax);
    for (let at = number; at < end; at++) {
      this.#refusals.set(`${chain}${at}`, why);
    }
    for (const key of this.#refusals.keys()) {
      if (this.#refusals.size <= limits.refusalsKnownMax) return;
      this.#refusals.delete(key);
    }
  }

  /** Something was acknowledged or refused. */
  check(): void {
    if (this.#waiting.length === 0) return;
    this.#waiting = this.#waiting.filter(({ place, levers }) => {
      if (place.state === "refused") levers.reject(this.#refusal(place));
      else if (place.number < this.#has(place.chain)) levers.resolve();
      else return true;
      return false;
    });
  }

  #refusal({ chain, number }: CommitPlace): DatabaseError {
    const why = this.#refusals.get(`${chain}${number}`) ?? "it did not say why";
    return new DatabaseError(
      "refused",
      `The server refused the commit: ${why}`,
    );
  }

  /** Nobody waits any longer. */
  close(): void {
    for (const { levers } of this.#waiting.splice(0)) {
      levers.reject(
        new DatabaseError(
          "closed",
          "The connection was closed before the server had this",
        ),
      );
    }
  }
}
