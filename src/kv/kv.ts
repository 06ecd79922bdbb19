/**
 * The key-value face of a repository.
 *
 * It decides nothing about durability, signatures or sync: an entry is an item
 * like others, and a write of it a commit like others. Reads by key are a look
 * into the table; keys in order are kept from when somebody first asks for them.
 *
 * Architecture invariant: nothing that a reader is given lets it change an entry:
 * values are frozen, and what cannot be (dates, bytes, maps, sets) is the
 * reader's own copy.
 *
 * @module
 */

import type { World } from "../base/world.ts";
import type { Stamp } from "../base/hlc.ts";
import type { Item } from "../schema/patch.ts";
import { stampIn } from "../schema/merge.ts";
import type { Schema } from "../schema/schema.ts";
import type { QueryEngine } from "../query/engine.ts";
import type { Replica, Table } from "../../repo/mod.ts";
import { type CommitSummary, itemHistory } from "../db/history.ts";
import {
  transactionOf,
  type TransactionScope,
} from "../db/transaction_scope.ts";
import { type Arrivals, Write } from "../db/write.ts";
import { checkKey, expiryOf, isThere, readEntry, valueOf } from "./entry.ts";
import { type KeptChange, KeysKept } from "./keys_kept.ts";
import {
  expiryFrom,
  type ExpiryOptions,
  matcherOf,
  rangeFrom,
  type ScanOptions,
  type WatchOptions,
} from "./options.ts";
import { foreignTransaction, KvScope } from "./scope.ts";
import type { KvValue } from "./value.ts";
import { type KvListener, Watchers } from "./watch.ts";
import { EntryWriter } from "./writer.ts";

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

/** What a store is made of. */
export interface KvParts {
  readonly schema: Schema;
  readonly replica: Replica;
  readonly table: Table;
  /** Tells of changes when all of the repository has heard of them, and of its end. */
  readonly engine: QueryEngine;
  readonly arrivals: Arrivals;
  readonly world: World;
}

/** Keys and values of one repository; made by `openKv`. */
export class Kv<V = KvValue> {
  readonly #parts: KvParts;
  readonly #replica: Replica;
  readonly #table: Table;
  readonly #world: World;
  readonly #writer: EntryWriter;
  #kept: KeysKept | undefined;
  #watchers: Watchers | undefined;

  /** Use `openKv(repository)`. */
  constructor(parts: KvParts) {
    this.#parts = parts;
    this.#replica = parts.replica;
    this.#table = parts.table;
    this.#world = parts.world;
    this.#writer = new EntryWriter(parts.table, parts.schema);
  }

  /** The collection that its entries are items of: `kv`, or `kv-` and its name. */
  get collection(): string {
    return this.#table.name;
  }

  /** The item of an entry that is there now. */
  #itemOf(key: string): Item | undefined {
    this.#replica.check();
    checkKey(key);
    const ordinal = this.#table.ordinalOf(key);
    if (ordinal < 0) return undefined;
    const item = this.#table.itemAt(ordinal);
    return isThere(item, this.#world.now()) ? item : undefined;
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
    return this.#swept().keys.size;
  }

  /**
   * Keys in order: JavaScript's `<` on strings, so by UTF-16 code units. The
   * array is your own.
   *
   * @throws {DatabaseError} `invalid-option`, `closed`
   */
  keys(options: ScanOptions = {}): string[] {
    const found: string[] = [];
    this.#swept().keys.scan(rangeFrom(options), (keys) => {
      if (options.reverse === true) keys = keys.toReversed();
      for (let i = 0; i < keys.length; i++) found.push(keys[i]!);
    });
    return found;
  }

  /** Entries in order of their keys; with `limit`, in pages. Throws as {@linkcode keys}. */
  list(options: ScanOptions = {}): KvPage<V> {
    const range = rangeFrom(options);
    const found: number[] = [];
    // One more tells whether there is a next page.
    const asked = { ...range, limit: range.limit + 1 };
    this.#swept().keys.scan(asked, (_, ordinals) => {
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
    return { entries, cursor: entries.at(-1)?.key ?? options.after };
  }

  /**
   * Writes an entry, whether it is there or not. It is visible at once; await
   * the handle for durability.
   *
   * @param key 1 to 256 bytes of text without control characters
   * @param value at most `limits.kvValueBytesMax` (1 MiB) as JSON or encoded
   * @throws {DatabaseError} `invalid-id`, `invalid-value`, `value-too-large`,
   * `invalid-option`, `denied`, `closed`, or the failure that made the
   * repository read-only
   */
  set(key: string, value: V, options?: ExpiryOptions): Write<void> {
    return this.#write((scope) => scope.set(key, value, options));
  }

  /**
   * Writes many entries as one atomic commit, and says how many; with options,
   * all end at one moment. Throws as {@linkcode set}; then nothing is written.
   */
  setMany(
    entries: Iterable<readonly [key: string, value: V]>,
    options?: ExpiryOptions,
  ): Write<number> {
    return this.#write((scope) => {
      const until = options === undefined
        ? options
        : { expiresAt: expiryFrom(options, this.#world) };
      let count = 0;
      for (const [key, value] of entries) {
        scope.set(key, value, until);
        count++;
      }
      return count;
    });
  }

  /** Takes an entry away; its result says whether it was there. Throws as {@linkcode set}. */
  delete(key: string): Write<boolean> {
    return this.#write((scope) => scope.delete(key));
  }

  /** Takes many entries away in one atomic commit, and says how many were there. */
  deleteMany(keys: Iterable<string>): Write<number> {
    return this.#write((scope) => {
      let count = 0;
      for (const key of keys) if (scope.delete(key)) count++;
      return count;
    });
  }

  /**
   * Writes only if the entry's value is `expected` (`undefined`: if there is no
   * entry). The result says whether it did; it is atomic on this replica at once.
   *
   * Another replica may have done the same offline. The server compares again when
   * it takes the commit; of both it refuses one with `kv-conflict`: then `synced`
   * rejects, and the write is undone here. Without a server the later writer wins.
   *
   * @param value what to write; `undefined` takes the entry away
   * @throws {DatabaseError} as {@linkcode set}
   */
  compareAndSet(
    key: string,
    expected: V | undefined,
    value: V | undefined,
    options?: ExpiryOptions,
  ): Write<boolean> {
    return this.#write((scope) =>
      scope.compareAndSet(key, expected, value, options)
    );
  }

  /**
   * Writes what a function makes of the value that is there; `undefined` takes
   * the entry away. Nothing comes between here; among replicas the later writer
   * wins. The result is what was written.
   *
   * @throws {DatabaseError} as {@linkcode set}, and what the function throws
   */
  update(
    key: string,
    change: (value: V | undefined) => V | undefined,
    options?: ExpiryOptions,
  ): Write<V | undefined> {
    return this.#write((scope) => {
      const value = change(scope.get(key));
      if (value === undefined) scope.delete(key);
      else scope.set(key, value, options);
      return scope.get(key);
    });
  }

  #write<R>(run: (scope: KvScope<V>) => R): Write<R> {
    const done = this.#replica.transact((tx) =>
      run(new KvScope<V>(tx, this.#writer, this.#world))
    );
    return new Write(done.result, done, this.#parts.arrivals);
  }

  /**
   * The store inside a transaction of its repository, for several keys, and items
   * of collections, in one atomic commit.
   *
   * @throws {DatabaseError} `invalid-option` for another repository's transaction
   */
  within(tx: TransactionScope): KvScope<V> {
    const transaction = transactionOf(tx, this.#replica) ??
      foreignTransaction();
    return new KvScope<V>(transaction, this.#writer, this.#world);
  }

  /**
   * Calls with what each transaction did to the entries that are meant, whoever
   * wrote it, and when they expire; disposing of the result ends it.
   *
   * @throws {DatabaseError} `invalid-option`, `closed`
   */
  subscribe(options: WatchOptions, listener: KvListener<V>): Disposable {
    const isMeant = matcherOf(options);
    const kept = this.#swept();
    const { engine } = this.#parts;
    this.#watchers ??= new Watchers(kept, engine, this.#world);
    return this.#watchers.add(isMeant, listener as KvListener);
  }

  /** The commits that touched an entry, oldest first: who, when and what. */
  history(key: string): CommitSummary[] {
    this.#replica.check();
    checkKey(key);
    this.#replica.flush();
    return itemHistory(this.#replica, { collection: this.collection, id: key });
  }

  /** Keys in order, as of this moment. */
  #swept(): KeysKept {
    this.#replica.check();
    const kept = this.#kept ??= this.#keep();
    kept.sweep(this.#watchers?.note);
    return kept;
  }

  #keep(): KeysKept {
    const { engine } = this.#parts;
    const kept = new KeysKept(this.#table, this.#world);
    const end = this.#table.subscribe((changes) => {
      const watchers = this.#watchers;
      if (watchers?.isHeard !== true) return kept.absorb(changes);
      const told: KeptChange[] = [];
      kept.absorb(changes, (change) => told.push(change));
      watchers.tell(told);
    });
    const ended = () => {
      end();
      this.#watchers?.clear();
    };
    engine.follow({ absorb: () => {}, end: ended });
    return kept;
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
