/**
 * Reading a store: by key, in bulk, and in order of keys; also what a store was
 * at a moment of the past gives. Reads by key are a look into the table; keys in
 * order are kept from when somebody first asks for them.
 *
 * Architecture invariant: nothing that a reader is given lets it change an entry:
 * values are frozen, and what cannot be (dates, bytes, maps, sets) is the
 * reader's own copy.
 */

import type { Stamp } from "../base/hlc.ts";
import { refuseOptions } from "../base/known_options.ts";
import type { World } from "../base/world.ts";
import { stampIn } from "../schema/merge.ts";
import type { Item } from "../schema/patch.ts";
import type { Table } from "../../repo/mod.ts";
import { checkKey, expiryOf, isThere, readEntry, valueOf } from "./entry.ts";
import { KeysKept } from "./keys_kept.ts";
import { rangeFrom, type ScanOptions } from "./options.ts";
import type { KvValue } from "./value.ts";

/** One entry, as scans give it. */
export interface KvEntry<V = KvValue> {
  readonly key: string;
  /** `undefined` only when it is unreadable. */
  readonly value: V | undefined;
  /** When it ends, in milliseconds since 1970; `undefined` when never. */
  readonly expiresAt: number | undefined;
  /** Why its value cannot be read, where another writer wrote no value of ours. */
  readonly unreadable: string | undefined;
}

/** One entry, and which write it is of. */
export interface KvVersionedEntry<V = KvValue> extends KvEntry<V> {
  /** Equal for the same write, on every replica; otherwise opaque. */
  readonly version: string;
}

/** One page of a scan. */
export interface KvPage<V = KvValue> {
  readonly entries: KvEntry<V>[];
  /** Where the next page goes on, as its `after`; `undefined` when this was the last. */
  readonly cursor: string | undefined;
}

export interface ReadableParts {
  readonly table: Table;
  /** Which moment it is for who reads. */
  readonly clock: Pick<World, "now">;
  readonly check: () => void;
}

/** The reading half of a store; also what `kv.at(point)` gives. */
export class ReadableKv<V = KvValue> {
  readonly #table: Table;
  readonly #clock: ReadableParts["clock"];
  readonly #check: () => void;
  #kept: KeysKept | undefined;

  /** Use `openKv(repository)`, or `at(point)` of what it gives. */
  constructor({ table, clock, check }: ReadableParts) {
    refuseOptions(this);
    this.#table = table;
    this.#clock = clock;
    this.#check = check;
  }

  /** The collection that its entries are items of: `kv`, or `kv-` and its name. */
  get collection(): string {
    return this.#table.name;
  }

  /** The item of an entry that is there now. */
  #itemOf(key: string): Item | undefined {
    this.#check();
    checkKey(key);
    const ordinal = this.#table.ordinalOf(key);
    if (ordinal < 0) return undefined;
    const item = this.#table.itemAt(ordinal);
    return isThere(item, this.#clock.now()) ? item : undefined;
  }

  /**
   * The value of a key: frozen, or your own copy; `undefined` when it is not
   * there, has expired, or cannot be read ({@linkcode entry} tells which).
   *
   * @throws {DatabaseError} `closed`
   */
  get(key: string): V | undefined {
    const item = this.#itemOf(key);
    return item === undefined ? undefined : valueOf(item) as V | undefined;
  }

  /** The values of many keys, in the order of the keys. Throws as {@linkcode get}. */
  getMany(keys: Iterable<string>): (V | undefined)[] {
    const values: (V | undefined)[] = [];
    for (const key of keys) values.push(this.get(key));
    return values;
  }

  /** The entry of a key, with when it ends and which write it is of. Throws as {@linkcode get}. */
  entry(key: string): KvVersionedEntry<V> | undefined {
    const item = this.#itemOf(key);
    if (item === undefined) return undefined;
    const cell = this.#table.cellAt(this.#table.ordinalOf(key));
    const stamp = stampIn(cell, item["data"] === undefined ? "value" : "data");
    return { ...entryOf(item), version: stamp ? versionOf(stamp) : "" };
  }

  /** Is there an entry with this key? Throws as {@linkcode get}. */
  exists(key: string): boolean {
    return this.#itemOf(key) !== undefined;
  }

  /**
   * How many entries there are. The first count, scan or subscription reads all
   * keys, and when each ends, but no value; from then on they are kept.
   *
   * @throws {DatabaseError} `closed`
   */
  get size(): number {
    return this.swept().keys.size;
  }

  /**
   * Keys in order: JavaScript's `<` on strings, so by UTF-16 code units. The
   * array is your own.
   *
   * @throws {DatabaseError} `invalid-option`, `closed`
   */
  keys(options?: ScanOptions): string[] {
    const found: string[] = [];
    const range = rangeFrom(options);
    this.swept().keys.scan(range, (keys) => {
      if (range.isReverse) keys = keys.toReversed();
      for (let i = 0; i < keys.length; i++) found.push(keys[i]!);
    });
    return found;
  }

  /** Entries in order of their keys; with `limit`, in pages. Throws as {@linkcode keys}. */
  list(options?: ScanOptions): KvPage<V> {
    const range = rangeFrom(options);
    const found: number[] = [];
    // One more tells whether there is a next page.
    const asked = { ...range, limit: range.limit + 1 };
    this.swept().keys.scan(asked, (_, ordinals) => {
      if (range.isReverse) ordinals = ordinals.toReversed();
      for (let i = 0; i < ordinals.length; i++) found.push(ordinals[i]!);
    });
    this.#table.load(found);
    const entries: KvEntry<V>[] = [];
    for (let i = 0; i < found.length; i++) {
      const item = this.#table.itemAt(found[i]!);
      if (item !== undefined) entries.push(entryOf(item));
    }
    if (entries.length <= range.limit) return { entries, cursor: undefined };
    entries.pop();
    return { entries, cursor: entries.at(-1)?.key ?? options?.after };
  }

  /** Keys in order, as of this moment. In the past nothing moves. */
  protected swept(): KeysKept {
    return this.#kept ??= new KeysKept(this.#table, this.#clock);
  }
}

function entryOf<V>(item: Item): KvEntry<V> {
  const reading = readEntry(item);
  const isRead = "value" in reading;
  return {
    key: item.id,
    value: isRead ? reading.value as V : undefined,
    expiresAt: expiryOf(item),
    unreadable: isRead ? undefined : reading.unreadable,
  };
}

/** A stamp as text: it names a write on every replica. */
function versionOf({ wall, count, chain }: Stamp): string {
  return `${wall}.${count}.${chain}`;
}
