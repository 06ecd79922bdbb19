/**
 * LMDB as a key-value store: values as its own MessagePack; one at a time by
 * `putSync`, in flight by `put`, which makes one transaction of what is asked
 * for in one turn. It has no expiry.
 *
 * @module
 */

import { openLmdb } from "../engines/lmdb_open.ts";
import type { Lmdb } from "../engines/lmdb_open.ts";
import { durabilityOf } from "../engines/names.ts";
import type { Durability } from "../harness/figure.ts";
import type { Entry, Value } from "./entries.ts";
import {
  type Done,
  endOf,
  type Listed,
  noExpiry,
  type Store,
  type Use,
} from "./store.ts";

/** Opens one environment in `folder`. */
export async function openLmdbStore(
  peers: string,
  folder: string,
  engine: "lmdb" | "lmdb-nosync",
  { inFlight }: Use,
): Promise<Store> {
  const lmdb = await openLmdb(peers, folder, engine);
  return new LmdbStore(lmdb, durabilityOf(engine), inFlight > 1);
}

class LmdbStore implements Store {
  readonly expiry = "none";
  readonly durability: Durability;
  readonly #lmdb: Lmdb;
  readonly #isInFlight: boolean;

  constructor(lmdb: Lmdb, durability: Durability, isInFlight: boolean) {
    this.#lmdb = lmdb;
    this.durability = durability;
    this.#isInFlight = isInFlight;
  }

  get(key: string): unknown {
    return this.#lmdb.get(key);
  }

  exists(key: string): boolean {
    return this.#lmdb.doesExist(key);
  }

  set(key: string, value: Value): Done {
    if (this.#isInFlight) return this.#lmdb.put(key, value);
    this.#lmdb.putSync(key, value);
    return undefined;
  }

  setExpiring(): Done {
    return noExpiry();
  }

  delete(key: string): Done {
    if (this.#isInFlight) return this.#lmdb.remove(key);
    this.#lmdb.removeSync(key);
    return undefined;
  }

  load(entries: readonly Entry[]): Done {
    this.#lmdb.transactionSync(() => {
      for (const { key, value } of entries) this.#lmdb.putSync(key, value);
    });
    return undefined;
  }

  list(prefix: string): readonly Listed[] {
    const range = { start: prefix, end: endOf(prefix), snapshot: false };
    return [...this.#lmdb.getRange(range)];
  }

  keys(prefix: string): readonly string[] {
    const range = { start: prefix, end: endOf(prefix), snapshot: false };
    return [...this.#lmdb.getKeys(range)];
  }

  close(): Done {
    return this.#lmdb.close();
  }
}
