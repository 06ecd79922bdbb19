/**
 * An index of a table by keys that are made of its items: who has a key?
 *
 * The table tells it of every put, whoever made it: own writes, what was
 * admitted, and what is void. So it is never stale.
 */

import { sha256 } from "../../crypto/sha256.ts";
import { encodeText, toHex } from "../../src/base/bytes.ts";
import { limits } from "../../src/base/limits.ts";
import { isThere, type Shown } from "../../src/schema/cell.ts";
import type { Value } from "../../src/schema/patch.ts";
import type { Table } from "./table.ts";

const none: readonly string[] = [];

export interface KeySource {
  /** What the keys of an item that is there are made of. */
  valuesOf(cell: Shown): readonly Value[];
  /** The keys, once each; short ones, see {@linkcode shorten}. */
  keysOf(values: readonly Value[]): readonly string[];
}

export class KeyIndex {
  readonly #source: KeySource;
  /** Ordinals by key; most keys have one. */
  readonly #holders = new Map<string, number | Set<number>>();

  constructor(source: KeySource) {
    this.#source = source;
  }

  keysOf(cell: Shown | undefined): readonly string[] {
    if (cell === undefined || !isThere(cell)) return none;
    return this.#source.keysOf(this.#source.valuesOf(cell));
  }

  /**
   * The keys that a write gives an item (1) and takes from it (-1). None are made
   * where it leaves what they are made of: that may be much, and the write small.
   */
  changes(
    before: Shown | undefined,
    after: Shown | undefined,
  ): (readonly [key: string, more: 1 | -1])[] {
    if (before && after && isThere(before) && isThere(after)) {
      const old = this.#source.valuesOf(before);
      const now = this.#source.valuesOf(after);
      if (now.every((value, i) => value === old[i])) return [];
    }
    return compareKeys(this.keysOf(before), this.keysOf(after));
  }

  /** Takes what stands at an ordinal now, and what stood there before. */
  set(
    ordinal: number,
    cell: Shown | undefined,
    before: Shown | undefined,
  ): void {
    for (const [key, more] of this.changes(before, cell)) {
      if (more > 0) this.#add(key, ordinal);
      else this.#remove(key, ordinal);
    }
  }

  #add(key: string, ordinal: number): void {
    const known = this.#holders.get(key);
    if (known === undefined) this.#holders.set(key, ordinal);
    else if (typeof known === "object") known.add(ordinal);
    else this.#holders.set(key, new Set([known, ordinal]));
  }

  #remove(key: string, ordinal: number): void {
    const known = this.#holders.get(key);
    if (typeof known === "object") known.delete(ordinal);
    if (typeof known !== "object" || known.size === 0) {
      this.#holders.delete(key);
    }
  }

  /** How many items have a key that {@linkcode keysOf} gave. */
  count(key: string): number {
    const known = this.#holders.get(key);
    return typeof known === "object" ? known.size : Number(known !== undefined);
  }

  holders(key: string): Iterable<number> {
    const known = this.#holders.get(key);
    return typeof known === "number" ? [known] : known ?? [];
  }

  /** Takes what a table has, and follows it. */
  follow(table: Table): void {
    table.load(Uint32Array.from({ length: table.size }, (_, i) => i));
    for (let ordinal = 0; ordinal < table.size; ordinal++) {
      if (!table.isLive(ordinal)) continue;
      const item = table.itemAt(ordinal);
      this.set(ordinal, { item }, undefined);
    }
    table.keep(this);
  }
}

/** The keys that one list has and the other has not: 1 for those of `after`. */
function compareKeys(
  before: readonly string[],
  after: readonly string[],
): (readonly [key: string, more: 1 | -1])[] {
  if (before === after) return [];
  const old = new Set(before);
  const added = after.filter((key) => !old.delete(key));
  return [
    ...Array.from(old, (key) => [key, -1] as const),
    ...added.map((key) => [key, 1] as const),
  ];
}

/** A key as it is kept: long ones by their hash. */
export function shorten(key: string): string {
  return key.length <= limits.indexKeyCharsMax
    ? key
    : `#${toHex(sha256(encodeText(key)))}`;
}
