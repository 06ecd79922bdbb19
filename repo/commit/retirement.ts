/**
 * Retirements: chains that their author has ended, each at a length. No gate takes
 * what is behind that, so a chain that is whole is one that nobody writes any more:
 * it is not counted among those that its session may have.
 *
 * A record names incarnations of the key that signs it, so nobody can end a chain
 * of another's. Of several that name one chain the greatest length counts, in
 * whatever order they come; a server takes no second one.
 *
 * Architecture invariant: what was accepted stands, whatever length is named.
 */

import type { ByteReader } from "../../src/base/bytes.ts";
import { getOrMake } from "../../src/base/collections.ts";
import {
  copied,
  count,
  fixed,
  list,
  struct,
  unfit,
} from "../../src/base/layout.ts";
import { limits } from "../../src/base/limits.ts";
import { joinChain, nameOf } from "./commit.ts";
import { type Signed, SignedLayout } from "./signed_record.ts";

const INCARNATION_BYTES = 8;
const KEY_CHARACTERS = 32;

export interface ChainEnd {
  /** Which of its key's chains. */
  readonly incarnation: Uint8Array;
  readonly commits: number;
}

export interface RetirementFields {
  readonly genesisId: Uint8Array;
  readonly ends: readonly ChainEnd[];
}

const ends = /* @__PURE__ */ list(
  struct({ incarnation: copied(INCARNATION_BYTES), commits: count }),
  limits.retiredAtOnceMax,
);

const layout = struct({
  genesisId: fixed(32),
  ends: { ...ends, read: readEnds },
});

/** Some, ascending: in one form. */
function readEnds(reader: ByteReader): readonly ChainEnd[] {
  const read = ends.read(reader);
  let last = "";
  for (const { incarnation, commits } of read) {
    const name = nameOf(incarnation, 0, INCARNATION_BYTES);
    if (name <= last && last !== "") throw unfit("its chains are not in order");
    if (commits === 0) throw unfit("a chain that has not begun cannot end");
    last = name;
  }
  if (read.length === 0) throw unfit("it ends nothing");
  return read;
}

export const retirementLayout: SignedLayout<RetirementFields> =
  /* @__PURE__ */ new SignedLayout(
    "sheaf retirement 1",
    layout,
    limits.retirementBytesMax,
  );

/** A decoded retirement: well formed, not yet checked. */
export type Retirement = RetirementFields & Signed;

export interface RetiredChain {
  readonly chain: string;
  readonly length: number;
}

export function retiredBy({ ends, issuerKey }: Retirement): RetiredChain[] {
  return ends.map(({ incarnation, commits }) => ({
    chain: joinChain(issuerKey, incarnation),
    length: commits,
  }));
}

export interface RetiredOfKey {
  bytes: number;
  /** Chain → its length. */
  readonly lengths: Map<string, number>;
}

/** The checked retirements of a repository. */
export class Retirements {
  readonly #all: Retirement[] = [];
  readonly #keys = new Map<string, RetiredOfKey>();
  bytes = 0;

  add(one: Retirement): void {
    if (this.has(one)) return;
    const of = getOrMake<string, RetiredOfKey>(
      this.#keys,
      nameOf(one.issuerKey, 0, KEY_CHARACTERS),
      () => ({ bytes: 0, lengths: new Map() }),
    );
    for (const { chain, length } of retiredBy(one)) {
      of.lengths.set(chain, Math.max(length, of.lengths.get(chain) ?? 0));
    }
    of.bytes += one.bytes.length;
    this.bytes += one.bytes.length;
    this.#all.push(one);
  }

  /** Does it say nothing new? */
  has(one: Retirement): boolean {
    return retiredBy(one).every(({ chain, length }) =>
      length <= (this.of(chain)?.lengths.get(chain) ?? 0)
    );
  }

  /** How many commits a chain has for ever; no end, where it goes on. */
  lengthOf(chain: string): number {
    return this.of(chain)?.lengths.get(chain) ?? Infinity;
  }

  isRetired(chain: string): boolean {
    return this.lengthOf(chain) < Infinity;
  }

  of(chain: string): RetiredOfKey | undefined {
    return this.#keys.get(chain.slice(0, KEY_CHARACTERS));
  }

  [Symbol.iterator](): Iterator<Retirement> {
    return this.#all[Symbol.iterator]();
  }
}
