/**
 * PouchDB on its LevelDB adapter, the one for servers: each write keeps a
 * revision; LevelDB hands it to the operating system and does not flush it.
 * One revision an item is kept (`revs_limit`), as these items never change.
 * `bulkDocs` is one batch of LevelDB.
 *
 * @module
 */

import type { Item } from "../../harness/items.ts";
import { loadPeer } from "../../peers/load.ts";
import { type Fields, type Load, splitItem, type Store } from "../store.ts";

type PouchDocument = Fields & { readonly _id: string; readonly _rev?: string };

interface Pouch {
  put(document: PouchDocument): Promise<unknown>;
  bulkDocs(
    documents: readonly PouchDocument[],
  ): Promise<readonly { readonly error?: unknown }[]>;
  get(id: string): Promise<PouchDocument>;
  allDocs(options: { include_docs: true }): Promise<{
    rows: readonly { readonly doc: PouchDocument }[];
  }>;
  info(): Promise<unknown>;
  close(): Promise<void>;
}

interface PouchClass {
  plugin(adapter: unknown): unknown;
  new (folder: string, options: Record<string, unknown>): Pouch;
}

/** PouchDB. */
export const pouchdb: Load = async ({ folder, peers }) => {
  const core = await loadPeer<PouchClass | { default: PouchClass }>(
    peers,
    "pouchdb-core",
  );
  const PouchDB = "default" in core ? core.default : core;
  PouchDB.plugin(await loadPeer(peers, "pouchdb-adapter-leveldb"));
  return {
    async open(): Promise<Store> {
      const database = new PouchDB(`${folder}/pouch`, {
        adapter: "leveldb",
        revs_limit: 1,
      });
      await database.info();
      return storeOf(database);
    },
  };
};

function storeOf(database: Pouch): Store {
  return {
    insert: (item) => database.put(documentOf(item)),
    async insertMany(items): Promise<void> {
      const results = await database.bulkDocs(items.map(documentOf));
      const bad = results.find(({ error }) => error);
      if (bad !== undefined) throw new Error("PouchDB refused items");
    },
    async get(id): Promise<Item | undefined> {
      return itemOf(await database.get(id));
    },
    async all(): Promise<Item[]> {
      const { rows } = await database.allDocs({ include_docs: true });
      return rows.map(({ doc }) => itemOf(doc));
    },
    close: () => database.close(),
  };
}

function documentOf(item: Item): PouchDocument {
  const [_id, fields] = splitItem(item);
  return { _id, ...fields };
}

function itemOf({ _id, _rev: _, ...fields }: PouchDocument): Item {
  return { id: _id, ...fields };
}
