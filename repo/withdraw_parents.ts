/**
 * The parents of commits that are written again in a new chain.
 *
 * A commit keeps the parents that it named. What it descended from without
 * saying so, its predecessor, is in the same chain again; or it was refused, and
 * then its parents are handed on; or it stays in the old chain, and is named.
 *
 * @module
 */

import { limits } from "../src/base/limits.ts";
import type { Position } from "./commit.ts";
import type { VoidCommit } from "./withdraw_plan.ts";
import type { Cut } from "./withdrawal.ts";

/** Gathers the parents of the next commit of the new chain. */
export class NewParents {
  readonly #cuts: ReadonlyMap<string, number>;
  /** The end of a cut chain that stays: it is named first. */
  readonly #ends = new Map<string, number>();
  readonly #named = new Map<string, number>();
  #last: readonly string[] = [];

  /** @param cuts which commits are no parents any more */
  constructor(cuts: readonly Cut[]) {
    this.#cuts = new Map(cuts.map(({ chain, from }) => [chain, from]));
  }

  /** The next commit in order, refused ones included. */
  follow({ chain, number, parents }: VoidCommit): void {
    if (number === this.#cuts.get(chain) && number > 0) {
      this.#ends.set(chain, number - 1);
    }
    const last: string[] = [];
    for (const parent of parents) {
      if (parent.number >= (this.#cuts.get(parent.chain) ?? Infinity)) continue;
      const known = this.#named.get(parent.chain) ?? -1;
      this.#named.set(parent.chain, Math.max(known, parent.number));
      last.push(parent.chain);
    }
    this.#last = last;
  }

  /**
   * The parents of the commit that was followed last, in order of chain. Where
   * they are too many, the others are left for the next commit.
   */
  take(): readonly Position[] {
    const parents: Position[] = [];
    const take = (from: Map<string, number>, chain: string) => {
      const number = from.get(chain);
      const isRoom = parents.length < limits.parentsMax;
      if (number === undefined || !isRoom) return;
      from.delete(chain);
      const known = parents.findIndex((parent) => parent.chain === chain);
      if (known < 0) parents.push({ chain, number });
      else if (parents[known]!.number < number) {
        parents[known] = { chain, number };
      }
    };
    for (const chain of [...this.#ends.keys()]) take(this.#ends, chain);
    for (const chain of this.#last) take(this.#named, chain);
    for (const chain of [...this.#named.keys()].sort()) {
      take(this.#named, chain);
    }
    return parents.sort((a, b) => a.chain < b.chain ? -1 : 1);
  }
}
