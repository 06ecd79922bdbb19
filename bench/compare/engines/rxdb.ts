/**
 * RxDB. Of its free storages two run here: the one on Deno KV, which keeps
 * what it is given, and the one in memory (`rxdb-memory`), which is what its
 * own performance page begins with. The one on SQLite is a trial that its
 * authors do not want measured; the one on files is sold.
 *
 * One process has the database (`multiInstance` off), no validation, no index
 * beside the id. `bulkInsert` writes hundreds in one transaction of Deno KV:
 * each is atomic, all together are not.
 *
 * @module
 */

import type { Item } from "../../harness/items.ts";
import { loadPeer } from "../../peers/load.ts";
import {
  type Engine,
  type Load,
  ownName,
  type Place,
  type Store,
} from "../store.ts";

interface RxDocument {
  toJSON(): Item;
}

interface RxQuery<T> {
  exec(): Promise<T>;
}

interface RxCollection {
  insert(item: Item): Promise<unknown>;
  bulkInsert(items: readonly Item[]): Promise<{ error: readonly unknown[] }>;
  findOne(id: string): RxQuery<RxDocument | null>;
  find(): RxQuery<RxDocument[]>;
}

interface Rxdb {
  createRxDatabase(options: Record<string, unknown>): Promise<{
    addCollections(
      collections: Record<string, unknown>,
    ): Promise<{ item: RxCollection }>;
    close(): Promise<unknown>;
  }>;
}

interface DenoKvStorage {
  getRxStorageDenoKV(settings: Record<string, unknown>): unknown;
}

interface MemoryStorage {
  getRxStorageMemory(): unknown;
}

/** Documents of one transaction of Deno KV: as many as its limits surely allow. */
export const perTransaction = 100;

const text = { type: "string" };
const schema = {
  version: 0,
  primaryKey: "id",
  type: "object",
  properties: {
    id: { type: "string", maxLength: 22 },
    title: text,
    done: { type: "boolean" },
    rank: { type: "number" },
    tags: { type: "array", items: text },
    createdAt: { type: "number" },
    author: text,
    body: text,
  },
  required: ["id"],
};

/** RxDB on Deno KV. */
export const rxdb: Load = async (place) => {
  const { getRxStorageDenoKV } = await loadPeer<DenoKvStorage>(
    place.peers,
    "rxdb/plugins/storage-denokv",
  );
  const storage = getRxStorageDenoKV({
    consistencyLevel: "strong",
    openKvPath: `${place.folder}/kv.sqlite`,
    batchSize: perTransaction,
  });
  return await engineOf(place, storage);
};

/** RxDB in memory. */
export const rxdbMemory: Load = async (place) => {
  const { getRxStorageMemory } = await loadPeer<MemoryStorage>(
    place.peers,
    "rxdb/plugins/storage-memory",
  );
  return await engineOf(place, getRxStorageMemory());
};

async function engineOf(place: Place, storage: unknown): Promise<Engine> {
  const { createRxDatabase } = await loadPeer<Rxdb>(place.peers, "rxdb");
  return {
    async open(): Promise<Store> {
      const database = await createRxDatabase({
        // Databases in memory are one per name and process.
        name: `bench${ownName(place.folder)}`,
        storage,
        multiInstance: false,
      });
      const { item } = await database.addCollections({ item: { schema } });
      return {
        insert: (one) => item.insert(one),
        async insertMany(items): Promise<void> {
          const { error } = await item.bulkInsert(items);
          if (error.length > 0) throw new Error("RxDB refused items");
        },
        get: async (id) => (await item.findOne(id).exec())?.toJSON(),
        all: async () => (await item.find().exec()).map((one) => one.toJSON()),
        close: () => database.close(),
      };
    },
  };
}
