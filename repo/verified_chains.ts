/**
 * The chains that a verification has hashed so far: how long, how late, and
 * under which id. A withdrawal in the log cuts them back, so their ids at the
 * places where that will happen are kept on the way.
 *
 * @module
 */

import type { Hlc } from "../src/base/hlc.ts";
import { type Batch, hashBatch } from "./batch.ts";
import { chainStart, type Position } from "./commit.ts";
import type { Cut } from "./withdrawal.ts";
import type { LoggedWithdrawal } from "./withdrawals.ts";

/** The beginning of a batch of which the rest will be withdrawn. */
interface Part {
  /** The id before its first commit. */
  readonly startId: Uint8Array;
  readonly first: number;
}

/** A chain up to a commit. */
interface End {
  readonly length: number;
  readonly id: Uint8Array;
  readonly last: Hlc;
}

/** Chains as far as they were verified. */
export class VerifiedChains {
  readonly #genesisId: Uint8Array;
  readonly #ends = new Map<string, End>();
  /** Lengths to which chains will be cut back, and what was there. */
  readonly #cuts = new Map<string, Map<number, End & Part | undefined>>();

  constructor(genesisId: Uint8Array, withdrawals: readonly LoggedWithdrawal[]) {
    this.#genesisId = genesisId;
    for (const { withdrawal: { cuts } } of withdrawals) {
      for (const { chain, from } of cuts) {
        const known = this.#cuts.get(chain) ??
          new Map<number, End & Part | undefined>();
        this.#cuts.set(chain, known.set(from, undefined));
      }
    }
  }

  /** How many commits of a chain were verified. */
  lengthOf(chain: string): number {
    return this.#ends.get(chain)?.length ?? 0;
  }

  /** Was this commit verified? */
  has({ chain, number }: Position): boolean {
    return number < this.lengthOf(chain);
  }

  /** The clock of the last one. */
  lastOf(chain: string): Hlc | undefined {
    return this.#ends.get(chain)?.last;
  }

  /** The id at the end of a chain. */
  idOf(chain: string): Uint8Array {
    return this.#ends.get(chain)?.id ?? chainStart(this.#genesisId, chain);
  }

  /** Adds the commits of a batch that are new, the last of which has this id. */
  add(batch: Batch, lastId: Uint8Array): void {
    const { chain, first, commits } = batch;
    const before = this.lengthOf(chain);
    const length = first + commits.length;
    if (length <= before) return;
    const known = this.#cuts.get(chain);
    for (const from of known?.keys() ?? []) {
      if (from <= before || from > length) continue;
      const part = commits.slice(0, from - first);
      const id = hashBatch(
        { ...batch, commits: part },
        this.idOf(chain),
        before - first,
      );
      const start = { startId: this.idOf(chain), first: before };
      known!.set(from, { length: from, id, last: part.at(-1)!, ...start });
    }
    this.#ends.set(chain, { length, id: lastId, last: commits.at(-1)! });
  }

  /** The id before a batch that says again what stays of one that will be cut. */
  startOf({ chain, first, commits }: Batch): Uint8Array | undefined {
    const end = this.#cuts.get(chain)?.get(first + commits.length);
    return end?.first === first ? end.startId : undefined;
  }

  /** Cuts a chain back; says how many commits that took, -1 when it was shorter. */
  cut({ chain, from }: Cut): number {
    const before = this.lengthOf(chain);
    if (before <= from) return before - from;
    const end = this.#cuts.get(chain)?.get(from);
    if (from === 0) this.#ends.delete(chain);
    else if (end === undefined) return -1;
    else this.#ends.set(chain, end);
    return before - from;
  }
}
