/**
 * Quotas: token buckets by name of session or address, and counted places.
 *
 * A bucket says how long to hold back; it never sleeps itself. Time comes in as
 * a parameter.
 *
 * Architecture invariant: memory for strangers is bounded (law 10): at most
 * `quotaKeysMax` buckets of a kind; the one that was asked longest ago makes
 * room, which can only forgive, never forbid.
 */

import { limits } from "../src/base/limits.ts";

const MINUTE_SECONDS = 60;

/** How fast a bucket fills and how much it holds. */
export interface Rate {
  readonly perSecond: number;
  /** Tokens of a bucket that nobody used for long. */
  readonly burst: number;
}

interface Bucket {
  tokens: number;
  atMs: number;
}

export class Buckets {
  readonly #rate: Rate;
  /** The one that was used last is last. */
  readonly #byName = new Map<string, Bucket>();

  constructor(rate: Rate) {
    this.#rate = rate;
  }

  /** Takes tokens, also ones that are not there yet; gives milliseconds until the debt is paid. */
  take(name: string, tokens: number, nowMs: number): number {
    const bucket = this.#touch(name, nowMs);
    bucket.tokens -= tokens;
    if (bucket.tokens >= 0) return 0;
    return Math.ceil(-bucket.tokens / this.#rate.perSecond * 1_000);
  }

  /** Takes tokens when all are there; else takes none and says no. */
  tryTake(name: string, tokens: number, nowMs: number): boolean {
    const bucket = this.#touch(name, nowMs);
    if (bucket.tokens < tokens) return false;
    bucket.tokens -= tokens;
    return true;
  }

  /** Tokens that a name owes; 0 when it owes none. */
  debt(name: string, nowMs: number): number {
    return Math.max(0, -this.#touch(name, nowMs).tokens);
  }

  #touch(name: string, nowMs: number): Bucket {
    const { burst, perSecond } = this.#rate;
    let bucket = this.#byName.get(name);
    if (bucket === undefined) {
      this.#makeRoom();
      bucket = { tokens: burst, atMs: nowMs };
    } else {
      this.#byName.delete(name);
      const passedMs = Math.max(0, nowMs - bucket.atMs);
      bucket.tokens = Math.min(
        burst,
        bucket.tokens + passedMs * perSecond / 1_000,
      );
      bucket.atMs = nowMs;
    }
    this.#byName.set(name, bucket);
    return bucket;
  }

  #makeRoom(): void {
    if (this.#byName.size < limits.quotaKeysMax) return;
    for (const idlest of this.#byName.keys()) {
      this.#byName.delete(idlest);
      return;
    }
  }
}

/** So many a minute, all of them at once if need be. */
export function perMinute(count: number): Buckets {
  return new Buckets({ perSecond: count / MINUTE_SECONDS, burst: count });
}

/** Places that are taken and given back, in total and by name. */
export class Places {
  readonly #totalMax: number;
  readonly #perNameMax: number;
  readonly #byName = new Map<string, number>();
  #total = 0;

  constructor(totalMax: number, perNameMax: number) {
    this.#totalMax = totalMax;
    this.#perNameMax = perNameMax;
  }

  get taken(): number {
    return this.#total;
  }

  /** Takes a place; the result gives it back, once. `undefined` when there is none. */
  take(name: string): (() => void) | undefined {
    const own = this.#byName.get(name) ?? 0;
    if (this.#total >= this.#totalMax || own >= this.#perNameMax) {
      return undefined;
    }
    this.#total++;
    this.#byName.set(name, own + 1);
    let isTaken = true;
    return () => {
      if (!isTaken) return;
      isTaken = false;
      this.#giveBack(name);
    };
  }

  #giveBack(name: string): void {
    this.#total--;
    const left = this.#byName.get(name)! - 1;
    if (left === 0) this.#byName.delete(name);
    else this.#byName.set(name, left);
  }
}
