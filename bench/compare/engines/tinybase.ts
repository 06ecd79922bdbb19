/**
 * TinyBase: all in memory, kept by its persister for `node:sqlite`, in tabular
 * mode and saving by itself, which writes only the rows that changed; SQLite
 * as for the others: WAL, `synchronous` FULL. (Its persister for files and its
 * JSON mode write the whole store at each change.) A write is done when the
 * save that it set off is.
 *
 * A cell holds a plain value, so tags are one text; SQLite gives booleans back
 * as numbers.
 *
 * @module
 */

import { DatabaseSync } from "node:sqlite";
import type { Item } from "../../harness/items.ts";
import { loadPeer } from "../../peers/load.ts";
import type { Load, Store } from "../store.ts";

type Cells = Record<string, string | number | boolean>;

interface TinyStore {
  setRow(table: string, id: string, cells: Cells): unknown;
  getRow(table: string, id: string): Cells;
  hasRow(table: string, id: string): boolean;
  getRowIds(table: string): string[];
  transaction(actions: () => void): void;
}

interface Persister {
  load(): Promise<unknown>;
  startAutoSave(): Promise<unknown>;
  schedule(action: () => Promise<void>): Promise<unknown>;
  destroy(): Promise<unknown>;
}

interface TinyBase {
  createStore(): TinyStore;
}

interface SqlitePersisters {
  createSqliteNodePersister(
    store: TinyStore,
    database: DatabaseSync,
    config: unknown,
    onCommand: undefined,
    onError: (error: unknown) => void,
  ): Persister;
}

const config = {
  mode: "tabular",
  tables: { load: { item: "item" }, save: { item: "item" } },
};

/** TinyBase on SQLite. */
export const tinybase: Load = async ({ folder, peers }) => {
  const { createStore } = await loadPeer<TinyBase>(peers, "tinybase");
  const { createSqliteNodePersister } = await loadPeer<SqlitePersisters>(
    peers,
    "tinybase/persisters/persister-sqlite-node",
  );
  return {
    async open(): Promise<Store> {
      const database = new DatabaseSync(`${folder}/tinybase.sqlite`);
      database.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;");
      const store = createStore();
      const failures: unknown[] = [];
      const persister = createSqliteNodePersister(
        store,
        database,
        config,
        undefined,
        (error) => failures.push(error),
      );
      await persister.load();
      await persister.startAutoSave();
      return storeOf(store, database, persister, failures);
    },
  };
};

function storeOf(
  store: TinyStore,
  database: DatabaseSync,
  persister: Persister,
  failures: readonly unknown[],
): Store {
  /** What is scheduled behind a save runs when the save has ended. */
  const saved = async (): Promise<void> => {
    await new Promise<void>((resolve) => {
      persister.schedule(() => Promise.resolve(resolve()));
    });
    if (failures.length > 0) throw failures[0];
  };
  const set = (item: Item): void => {
    store.setRow("item", item.id, cellsOf(item));
  };
  const get = (id: string): Item | undefined =>
    store.hasRow("item", id) ? itemOf(id, store.getRow("item", id)) : undefined;
  return {
    insert(item): Promise<void> {
      set(item);
      return saved();
    },
    insertMany(items): Promise<void> {
      store.transaction(() => items.forEach(set));
      return saved();
    },
    get,
    all: () =>
      store.getRowIds("item").map((id) => itemOf(id, store.getRow("item", id))),
    async close(): Promise<void> {
      await persister.destroy();
      database.close();
    },
  };
}

function cellsOf({ id: _, tags, ...rest }: Item): Cells {
  return { ...rest, tags: tags.join() };
}

/** The cells of {@linkcode cellsOf}, or what SQLite made of them. */
function itemOf(id: string, { tags, done, ...rest }: Cells): Item {
  const item = {
    ...rest,
    id,
    tags: String(tags).split(","),
    done: done === true || done === 1,
  };
  return item as unknown as Item;
}
