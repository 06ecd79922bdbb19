/**
 * Who owns the files: stands in line for the lock of a database, takes it by
 * force when told, gives it back, and says when it was taken away.
 *
 * It knows nothing of what an owner does.
 *
 * Architecture invariant: one election has at most one tenure at a time, and a
 * tenure that ended never comes back.
 *
 * @module
 */

import { type Deferred, deferred } from "../base/deferred.ts";
import type { Locks } from "./locks.ts";

/** One time of being the owner. */
export interface Tenure {
  /** Was the lock taken from somebody who may still be at work? */
  readonly isStolen: boolean;
  /** Aborts when somebody took the lock away. */
  readonly lost: AbortSignal;
  /** Gives the lock to the next in line. */
  release(): void;
}

/** What an election works with. */
export interface ElectionParts {
  readonly locks: Locks;
  /** Name of the lock. */
  readonly lock: string;
  /** Runs with each tenure that begins. */
  readonly won: (tenure: Tenure) => void;
}

/** One attempt: waits, then holds, then is over. */
interface Attempt {
  readonly stop: AbortController;
  readonly lost: AbortController;
  readonly end: Deferred<void>;
  isHolding: boolean;
}

/** A candidate. */
export class Election {
  readonly #parts: ElectionParts;
  #attempt: Attempt | undefined;

  constructor(parts: ElectionParts) {
    this.#parts = parts;
  }

  /** Does it hold the lock? */
  get isHolding(): boolean {
    return this.#attempt?.isHolding === true;
  }

  /** Stands in line, unless it does or has won already. */
  stand(): void {
    if (this.#attempt === undefined) this.#ask(false);
  }

  /** Takes the lock from whoever holds it. */
  steal(): void {
    if (this.isHolding) return;
    this.#attempt?.stop.abort();
    this.#ask(true);
  }

  /** Leaves the line; a tenure ends. */
  leave(): void {
    const attempt = this.#attempt;
    this.#attempt = undefined;
    if (attempt === undefined) return;
    if (attempt.isHolding) attempt.end.resolve();
    else attempt.stop.abort();
  }

  #ask(isStolen: boolean): void {
    const attempt: Attempt = {
      stop: new AbortController(),
      lost: new AbortController(),
      end: deferred<void>(),
      isHolding: false,
    };
    this.#attempt = attempt;
    const { locks, lock, won } = this.#parts;
    const hold = (): Promise<void> => {
      if (this.#attempt !== attempt) return Promise.resolve();
      attempt.isHolding = true;
      won({
        isStolen,
        lost: attempt.lost.signal,
        release: () => this.#attempt === attempt && this.leave(),
      });
      return attempt.end.promise;
    };
    const { signal } = attempt.stop;
    // The platform takes no signal beside a theft, which waits for nobody.
    locks.request(lock, isStolen ? { steal: true } : { signal }, hold).catch(
      () => this.#failed(attempt),
    );
  }

  /** The wait was given up, or the lock was stolen. */
  #failed(attempt: Attempt): void {
    if (this.#attempt === attempt) this.#attempt = undefined;
    if (attempt.isHolding) attempt.lost.abort();
  }
}
