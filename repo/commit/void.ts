/**
 * Voids: which commits the author of a chain has given up, since they were
 * refused. Without one nobody takes a stub in the place of a commit: whoever
 * passes a batch on could blank what others wrote.
 *
 * Architecture invariant: only the key of a chain voids its commits, and no more
 * than some, in records of so many bytes: who says what is known says nothing (law 10).
 */

import type { ByteReader } from "../../src/base/bytes.ts";
import { count, fixed, list, struct, unfit } from "../../src/base/layout.ts";
import { getOrMake } from "../../src/base/collections.ts";
import { limits } from "../../src/base/limits.ts";
import { NumberRanges } from "../../src/base/number_ranges.ts";
import { chainBytesLength, chainName } from "./commit.ts";
import { type Signed, SignedLayout } from "./signed_record.ts";

const KEY_CHARACTERS = 32;

export interface VoidRange {
  readonly first: number;
  readonly count: number;
}

export interface VoidFields {
  readonly genesisId: Uint8Array;
  /** Name of the chain, 40 bytes. */
  readonly chain: Uint8Array;
  readonly ranges: readonly VoidRange[];
}

const ranges = /* @__PURE__ */ list(
  struct({ first: count, count }),
  limits.voidsOfKeyMax,
);

const layout = struct({
  genesisId: fixed(32),
  chain: fixed(chainBytesLength),
  ranges: { ...ranges, read: readRanges },
});

/** Ranges that ascend and lie apart, of numbers that can be counted: in one form, and added one behind the other. */
function readRanges(reader: ByteReader): readonly VoidRange[] {
  const read = ranges.read(reader);
  let end = -1;
  for (const { first, count } of read) {
    if (first <= end || count === 0) throw unfit("its ranges are not in order");
    end = first + count;
    if (!Number.isSafeInteger(end)) throw unfit("a range has no end");
  }
  return read;
}

export const voidLayout: SignedLayout<VoidFields> =
  /* @__PURE__ */ new SignedLayout(
    "sheaf void 1",
    layout,
    limits.voidBytesMax,
  );

/** A decoded void: well formed, not yet checked. */
export type Void = VoidFields & Signed;

/** Numbers of a chain, and who gave them up first. */
interface Said {
  readonly first: number;
  readonly end: number;
  readonly one: Void;
}

interface ChainVoids {
  readonly numbers: NumberRanges;
  /** Apart and ascending: an entry for each range, however many numbers that has. */
  readonly said: Said[];
}

/** What one key gave up. */
export interface KeyVoids {
  commits: number;
  bytes: number;
}

/** The checked voids of a repository. */
export class Voids {
  readonly #all: Void[] = [];
  readonly #chains = new Map<string, ChainVoids>();
  readonly #keys = new Map<string, KeyVoids>();
  bytes = 0;

  add(one: Void): void {
    const chain = chainName(one.chain);
    const { numbers, said } = getOrMake(this.#chains, chain, () => ({
      numbers: new NumberRanges(),
      said: [],
    }));
    const before = numbers.size;
    for (const { first, count } of one.ranges) {
      for (const [from, end] of numbers.gaps(first, first + count)) {
        said.splice(indexAt(said, from), 0, { first: from, end, one });
        numbers.add(from, end);
      }
    }
    if (numbers.size === before) return;
    const key = this.keyOf(chain);
    key.commits += numbers.size - before;
    key.bytes += one.bytes.length;
    this.bytes += one.bytes.length;
    this.#all.push(one);
  }

  has(one: Void): boolean {
    const numbers = this.numbersOf(chainName(one.chain));
    return one.ranges.every(({ first, count }) =>
      numbers.covers(first, first + count)
    );
  }

  covers(chain: string, number: number): boolean {
    return this.numbersOf(chain).has(number);
  }

  numbersOf(chain: string): NumberRanges {
    return this.#chains.get(chain)?.numbers ?? new NumberRanges();
  }

  keyOf(chain: string): KeyVoids {
    const key = chain.slice(0, KEY_CHARACTERS);
    return getOrMake(this.#keys, key, () => ({ commits: 0, bytes: 0 }));
  }

  /** Those by which commits of a chain from `first` on, before `end`, are void. */
  of(chain: string, first: number, end: number): Iterable<Void> {
    const found = new Set<Void>();
    const said = this.#chains.get(chain)?.said ?? [];
    for (let i = indexAt(said, first); i < said.length; i++) {
      if (said[i]!.first >= end) break;
      found.add(said[i]!.one);
    }
    return found;
  }

  [Symbol.iterator](): Iterator<Void> {
    return this.#all[Symbol.iterator]();
  }
}

/** Where what ends behind a number begins. */
function indexAt(said: readonly Said[], number: number): number {
  let low = 0;
  for (let high = said.length; low < high;) {
    const middle = (low + high) >> 1;
    if (said[middle]!.end <= number) low = middle + 1;
    else high = middle;
  }
  return low;
}
