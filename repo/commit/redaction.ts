/**
 * Redactions: which commits may not say any more what they said of some items.
 * Every replica makes the same of their payloads (`src/schema/erasure.ts`). A
 * record has the hash of what a payload was, of which the commit's id is made,
 * and of what is left, by which who never had it sees that it is this.
 *
 * Architecture invariant: what is here was checked against the commits that were
 * here; it changes no id, no seal and nothing that is not meant (law 1).
 */

import { equalBytes } from "../../src/base/bytes.ts";
import { getOrMake } from "../../src/base/collections.ts";
import {
  count,
  decodeRecord,
  encodeRecord,
  fixed,
  flag,
  list,
  struct,
  textUpTo,
  u48,
} from "../../src/base/layout.ts";
import { limits } from "../../src/base/limits.ts";
import type { ItemName } from "../state/state.ts";
import type { ErasedPayloads } from "./batch.ts";
import { chainField, nameOf } from "./commit.ts";
import { type Signed, SignedLayout } from "./signed_record.ts";

/** A commit that is meant. */
export interface ErasedCommit {
  readonly number: number;
  /** SHA-256 of what its payload was. */
  readonly was: Uint8Array;
  /** SHA-256 of what is left of it. */
  readonly is: Uint8Array;
}

export interface ErasedChain {
  readonly chain: string;
  readonly commits: readonly ErasedCommit[];
}

/** What is erased. */
export interface RedactionFields {
  readonly genesisId: Uint8Array;
  readonly wall: number;
  readonly reason: string;
  readonly items: readonly ItemName[];
  readonly chains: readonly ErasedChain[];
}

const name = textUpTo(limits.idBytesMax);
const chains = list(
  struct({
    chain: chainField,
    commits: list(
      struct({ number: count, was: fixed(32), is: fixed(32) }),
      limits.redactionCommitsMax,
    ),
  }),
  limits.redactionCommitsMax,
);

export const redactionLayout: SignedLayout<RedactionFields> =
  /* @__PURE__ */ new SignedLayout(
    "sheaf redaction 1",
    struct({
      genesisId: fixed(32),
      wall: u48,
      reason: textUpTo(limits.revocationReasonBytesMax),
      items: list(
        struct({ collection: name, id: name }),
        limits.redactionCommitsMax,
      ),
      chains,
    }),
    limits.redactionBytesMax,
  );

/** A decoded redaction: well formed, not yet checked. */
export type Redaction = RedactionFields & Signed;

/** A note of this device: redactions before it were carried out, or what else is erased here. */
export interface Erasure {
  /** All of it, as it is stored. */
  readonly bytes: Uint8Array;
  /** Is everything erased that redactions before it mean? */
  readonly isDone: boolean;
  /** Other commits, which only this device has or means: refused ones, as a rule. */
  readonly chains: readonly ErasedChain[];
}

const FORMAT = 1;

export const erasureLayout = struct({ isDone: flag, chains });

export function encodeErasure(said: Omit<Erasure, "bytes">): Uint8Array {
  return encodeRecord(FORMAT, erasureLayout, said);
}

export function decodeErasure(foreign: Uint8Array): Erasure {
  const bytes = foreign.slice();
  return { ...decodeRecord(FORMAT, erasureLayout, bytes), bytes };
}

export interface Meant {
  /** SHA-256 of what its payload was. */
  readonly was: Uint8Array;
  /** The hashes of what may be left of it. */
  readonly is: Uint8Array[];
  readonly by: Redaction[];
}

/** The checked redactions of a repository, and what was erased here besides. */
export class Redactions implements ErasedPayloads {
  readonly #all = new Map<string, Redaction>();
  readonly #meant = new Map<string, Map<number, Meant>>();
  readonly #erasures: Erasure[] = [];
  readonly #here = new Map<string, Map<number, Uint8Array>>();
  #isPending = false;
  bytes = 0;

  get size(): number {
    return this.#all.size;
  }

  /** Is there one that was not carried out here yet? */
  get isPending(): boolean {
    return this.#isPending;
  }

  has(one: Redaction): boolean {
    return this.#all.has(nameIn(one));
  }

  add(one: Redaction): void {
    if (this.has(one)) return;
    this.#all.set(nameIn(one), one);
    this.bytes += one.bytes.length;
    this.#isPending = true;
    for (const { chain, commits } of one.chains) {
      const numbers = getOrMake(this.#meant, chain, () => new Map());
      for (const { number, was, is } of commits) {
        const meant = getOrMake(
          numbers,
          number,
          () => ({ was, is: [], by: [] }),
        );
        if (!equalBytes(meant.was, was)) continue;
        meant.is.push(is);
        meant.by.push(one);
      }
    }
  }

  /** All of them were carried out. */
  carriedOut(): void {
    this.#isPending = false;
  }

  note(one: Erasure): void {
    this.#isPending = !one.isDone;
    if (one.chains.length > 0) this.#erasures.push(one);
    for (const { chain, commits } of one.chains) {
      const numbers = getOrMake(this.#here, chain, () => new Map());
      for (const { number, was } of commits) numbers.set(number, was);
    }
  }

  hashOf(chain: string, number: number): Uint8Array | undefined {
    return this.#meant.get(chain)?.get(number)?.was ??
      this.#here.get(chain)?.get(number);
  }

  /** Was more of a commit erased here than others know? */
  isNoted(chain: string, number: number): boolean {
    return this.#here.get(chain)?.has(number) === true;
  }

  /** The items of all of them. */
  *items(): Iterable<ItemName> {
    for (const { items } of this.#all.values()) yield* items;
  }

  of(chain: string, number: number): Meant | undefined {
    return this.#meant.get(chain)?.get(number);
  }

  /** Does one mean commits of this chain? */
  means(chain: string): boolean {
    return this.#meant.has(chain);
  }

  /** Those that mean commits of a chain from `first` on, before `end`. */
  within(chain: string, first: number, end: number): Iterable<Redaction> {
    const found = new Set<Redaction>();
    const meant = this.#meant.get(chain);
    for (let number = first; meant !== undefined && number < end; number++) {
      for (const one of meant.get(number)?.by ?? []) found.add(one);
    }
    return found;
  }

  /** Notes of this device, as a checkpoint keeps them. */
  get erasures(): readonly Erasure[] {
    return this.#erasures;
  }

  [Symbol.iterator](): Iterator<Redaction> {
    return this.#all.values();
  }
}

function nameIn({ bytes }: Redaction): string {
  return nameOf(bytes, bytes.length - 64, bytes.length);
}
