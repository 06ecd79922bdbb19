/**
 * YCSB's table in LMDB: a record is one value, so an update reads it and writes
 * it anew. Alone it does so synchronously; with several in flight each is a
 * callback of LMDB's writing thread, which gathers them into one transaction
 * and shows each the ones before it.
 *
 * @module
 */

import { type Lmdb, openLmdb } from "../../engines/lmdb_open.ts";
import { durabilityOf } from "../../engines/names.ts";
import type { Durability } from "../../harness/figure.ts";
import type { FieldName, Fields } from "../records.ts";
import type { Done, Found, Store } from "../store.ts";

class LmdbStore implements Store {
  readonly durability: Durability;
  readonly others = [];
  readonly #lmdb: Lmdb;
  #isGathering = false;

  constructor(lmdb: Lmdb, durability: Durability) {
    this.#lmdb = lmdb;
    this.durability = durability;
  }

  expect(inFlight: number): void {
    this.#isGathering = inFlight > 1;
  }

  read(key: string): Fields | undefined {
    return fieldsOf(this.#lmdb.get(key));
  }

  scan(key: string, count: number): readonly Found[] {
    const found: Found[] = [];
    const range = { start: key, limit: count, snapshot: false };
    for (const { key, value } of this.#lmdb.getRange(range)) {
      const fields = fieldsOf(value);
      if (fields !== undefined) found.push({ key, fields });
    }
    return found;
  }

  update(key: string, field: FieldName, value: string): Done {
    const work = (): void => {
      const fields = this.read(key);
      if (fields === undefined) throw new RangeError(`There is no ${key}`);
      this.#lmdb.putSync(key, { ...fields, [field]: value });
    };
    if (this.#isGathering) return this.#lmdb.transaction(work);
    return work();
  }

  insert(key: string, fields: Fields): Done {
    return this.#isGathering
      ? this.#lmdb.put(key, fields)
      : this.#lmdb.putSync(key, fields);
  }

  load(records: readonly Found[]): void {
    this.#lmdb.transactionSync(() => {
      for (const { key, fields } of records) this.#lmdb.putSync(key, fields);
    });
  }

  close(): Done {
    return this.#lmdb.close();
  }
}

/** Only records are written, under these keys. */
function fieldsOf(value: unknown): Fields | undefined {
  return value as Fields | undefined;
}

/** Opens the table in `folder`. */
export async function openLmdbStore(
  peers: string,
  folder: string,
  engine: "lmdb" | "lmdb-nosync",
): Promise<Store> {
  const lmdb = await openLmdb(peers, folder, engine);
  return new LmdbStore(lmdb, durabilityOf(engine));
}
