/**
 * The key-value face of a repository.
 *
 * It decides nothing about durability, signatures or sync: an entry is an item
 * like others, and a write of it a commit like others. Its reads are those of
 * `readable_kv.ts`.
 *
 * Architecture invariant: the clock of the past is of the past as well: whether
 * an entry had ended is asked of the moment, or of the commit's own clock, so the
 * answer is the same on every replica, whenever it is asked.
 */

import { type Replica, stateOf, type Table } from "../../repo/mod.ts";
import type { World } from "../base/world.ts";
import { type CommitSummary, includesOf, itemHistory } from "../db/history.ts";
import {
  transactionOf,
  type TransactionScope,
} from "../db/transaction_scope.ts";
import { type Arrivals, Write } from "../db/write.ts";
import type { QueryEngine } from "../query/engine.ts";
import type { Schema } from "../schema/schema.ts";
import { checkKey } from "./entry.ts";
import { type KeptChange, KeysKept } from "./keys_kept.ts";
import {
  expiryFrom,
  type ExpiryOptions,
  matcherOf,
  type WatchOptions,
} from "./options.ts";
import { ReadableKv } from "./readable_kv.ts";
import { EntryWriter, foreignTransaction, KvScope } from "./scope.ts";
import type { KvValue } from "./value.ts";
import { type KvListener, Watchers } from "./watch.ts";

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
export class Kv<V = KvValue> extends ReadableKv<V> {
  readonly #parts: KvParts;
  readonly #replica: Replica;
  readonly #table: Table;
  readonly #world: World;
  readonly #writer: EntryWriter;
  #kept: KeysKept | undefined;
  #watchers: Watchers | undefined;

  /** Use `openKv(repository)`. */
  constructor(parts: KvParts) {
    const { replica, table, world } = parts;
    super({ table, clock: world, check: replica.check });
    this.#parts = parts;
    this.#replica = replica;
    this.#table = table;
    this.#world = world;
    this.#writer = new EntryWriter(table, parts.schema);
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
    const kept = this.swept();
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

  /**
   * The store as it was: after a commit and all its ancestors, or at a moment.
   * Read-only; an entry is there that had not ended by the moment, or by the
   * commit's own clock.
   *
   * @throws {DatabaseError} `commit-missing`, `invalid-option`, `closed`
   */
  at(point: string | Date): ReadableKv<V> {
    this.#replica.check();
    this.#replica.flush();
    return pastOf(this.#replica, this.collection, point);
  }

  /** Keys in order, as of this moment. */
  protected override swept(): KeysKept {
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

/** The store of a collection as it was at a point of its repository's history. */
export function pastOf<V>(
  replica: Replica,
  collection: string,
  point: string | Date,
): ReadableKv<V> {
  const includes = includesOf(replica, point);
  let moment = typeof point === "string" ? 0 : point.getTime();
  const { state, commits } = replica;
  const past = stateOf(
    commits,
    (name) => state.table(name).view,
    (chain, number, wall) => {
      const isOfPast = includes(chain, number, wall);
      // No commit's clock is behind its ancestors': the latest is its own.
      if (isOfPast) moment = Math.max(moment, wall);
      return isOfPast;
    },
  );
  const table = past.table(collection);
  const clock = { now: () => moment };
  return new ReadableKv({ table, clock, check: () => {} });
}
