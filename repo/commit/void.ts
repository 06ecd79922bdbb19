/**
 * Voids: which commits the author of a chain has given up, since they were
 * refused. Without one nobody takes a stub in the place of a commit: whoever
 * passes a batch on could blank what others wrote.
 *
 * Architecture invariant: only the key of a chain voids its commits, and no more
 * than some (law 10).
 *
 * @module
 */

import { count, fixed, list, struct } from "../../src/base/layout.ts";
import { getOrMake } from "../../src/base/collections.ts";
import { limits } from "../../src/base/limits.ts";
import { chainBytesLength, chainName } from "./commit.ts";
import { type Signed, SignedLayout } from "./signed_record.ts";

/** Neighbours in a chain. */
export interface VoidRange {
  readonly first: number;
  readonly count: number;
}

/** What an author says. */
export interface VoidFields {
  /** The repository that it is said in. */
  readonly genesisId: Uint8Array;
  /** Name of the chain, 40 bytes. */
  readonly chain: Uint8Array;
  readonly ranges: readonly VoidRange[];
}

const layout = struct({
  genesisId: fixed(32),
  chain: fixed(chainBytesLength),
  ranges: list(struct({ first: count, count }), limits.voidsOfKeyMax),
});

/** The bytes of voids. */
export const voidLayout: SignedLayout<VoidFields> =
  /* @__PURE__ */ new SignedLayout(
    "sheaf void 1",
    layout,
    limits.voidBytesMax,
  );

/** A decoded void: well formed, not yet checked. */
export type Void = VoidFields & Signed;

/** How many commits a void is of. */
export function countOf({ ranges }: VoidFields): number {
  return ranges.reduce((sum, { count }) => sum + count, 0);
}

/** The checked voids of a repository. */
export class Voids {
  readonly #all: Void[] = [];
  readonly #numbers = new Map<string, Set<number>>();
  /** Commits by key. */
  readonly #counts = new Map<string, number>();

  /** Takes one that was found sound. */
  add(one: Void): void {
    if (this.has(one)) return;
    const chain = chainName(one.chain);
    const numbers = getOrMake(this.#numbers, chain, () => new Set<number>());
    const before = numbers.size;
    for (const number of numbersOf(one)) numbers.add(number);
    const key = chain.slice(0, 32);
    const known = this.#counts.get(key) ?? 0;
    this.#counts.set(key, known + numbers.size - before);
    this.#all.push(one);
  }

  /** Does it say nothing new? */
  has(one: Void): boolean {
    const chain = chainName(one.chain);
    if (countOf(one) > limits.voidsOfKeyMax) return false; // Nor shall that be looked through.
    for (const number of numbersOf(one)) {
      if (!this.covers(chain, number)) return false;
    }
    return true;
  }

  /** Was a commit given up? */
  covers(chain: string, number: number): boolean {
    return this.#numbers.get(chain)?.has(number) === true;
  }

  /** Is there room for another one of its key? */
  hasRoomFor(one: Void): boolean {
    const known = this.#counts.get(chainName(one.chain).slice(0, 32)) ?? 0;
    return known + countOf(one) <= limits.voidsOfKeyMax;
  }

  /** Those of a chain that are of any commit from `first` on, before `end`. */
  of(chain: string, first: number, end: number): Void[] {
    if (!this.#numbers.has(chain)) return [];
    return this.#all.filter((one) =>
      chainName(one.chain) === chain &&
      one.ranges.some((range) =>
        range.first < end && first < range.first + range.count
      )
    );
  }

  /** All of them, in the order they came. */
  [Symbol.iterator](): Iterator<Void> {
    return this.#all[Symbol.iterator]();
  }
}

function* numbersOf({ ranges }: VoidFields): Generator<number> {
  for (const { first, count } of ranges) {
    for (let i = 0; i < count; i++) yield first + i;
  }
}
