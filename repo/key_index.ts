/**
 * An index of a table by keys that are made of its items: who has a key?
 *
 * The table tells it of every put, whoever made it: own writes, what was
 * admitted, and what was taken back. So it is never stale.
 *
 * @module
 */

import { sha256 } from "../crypto/mod.ts";
import { encodeText, toHex } from "../src/base/bytes.ts";
import { limits } from "../src/base/limits.ts";
import type { Item } from "../src/schema/patch.ts";
import type { Table } from "./table.ts";

const none: readonly string[] = [];

/** Items by key. */
export class KeyIndex {
  readonly #keysOf: (item: Item) => readonly string[];
  /** By ordinal. */
  readonly #keys: (readonly string[])[] = [];
  /** Ordinals by key; most keys have one. */
  readonly #holders = new Map<string, number | Set<number>>();

  /** @param keysOf the keys of an item, once each; short ones, see {@linkcode shorten} */
  constructor(keysOf: (item: Item) => readonly string[]) {
    this.#keysOf = keysOf;
  }

  /** The keys of an item. */
  keysOf(item: Item | undefined): readonly string[] {
    return item === undefined ? none : this.#keysOf(item);
  }

  /** Takes what stands at an ordinal now. */
  set(ordinal: number, item: Item | undefined): void {
    const before = this.#keys[ordinal] ?? none;
    const after = this.keysOf(item);
    for (const [key, more] of compareKeys(before, after)) {
      if (more > 0) this.#add(key, ordinal);
      else this.#remove(key, ordinal);
    }
    while (this.#keys.length < ordinal) this.#keys.push(none);
    this.#keys[ordinal] = after.length === 0 ? none : after;
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

  /** The ordinals of the items that have a key. */
  holders(key: string): Iterable<number> {
    const known = this.#holders.get(key);
    return typeof known === "number" ? [known] : known ?? [];
  }

  /** Takes what a table has, and follows it. */
  follow(table: Table): void {
    table.load(Uint32Array.from({ length: table.size }, (_, i) => i));
    for (let ordinal = 0; ordinal < table.size; ordinal++) {
      if (table.isLive(ordinal)) this.set(ordinal, table.itemAt(ordinal));
    }
    table.keep(this);
  }
}

/** The keys that one list has and the other has not: 1 for those of `after`. */
export function compareKeys(
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
