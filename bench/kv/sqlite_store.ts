/**
 * SQLite as a key-value store: one table, the key its primary key, the value
 * JSON as text. A rowid table: SQLite's manual advises WITHOUT ROWID for rows of
 * less than a twentieth of a page (200 bytes here), which most of these are not,
 * and a scan reads the index of keys alone where it wants keys alone. It has no
 * expiry: who wants one adds a column, a condition to every statement, and a
 * sweeper.
 *
 * @module
 */

import type { DatabaseSync, StatementSync } from "node:sqlite";
import { durabilityOf, type SqliteName } from "../engines/names.ts";
import {
  cellsOf,
  openSqlite,
  prepareReader,
  transactSqlite,
} from "../engines/sqlite_open.ts";
import type { Durability } from "../harness/figure.ts";
import type { Entry, Value } from "./entries.ts";
import {
  type Done,
  endOf,
  type Listed,
  noExpiry,
  type Store,
} from "./store.ts";

const definition =
  "CREATE TABLE entry (key TEXT PRIMARY KEY NOT NULL, value TEXT NOT NULL)";

/** Opens one database in `folder`. */
export function openSqliteStore(folder: string, engine: SqliteName): Store {
  return new SqliteStore(
    openSqlite(folder, engine, definition),
    durabilityOf(engine),
  );
}

class SqliteStore implements Store {
  readonly expiry = "none";
  readonly durability: Durability;
  readonly #handle: DatabaseSync;
  readonly #get: StatementSync;
  readonly #exists: StatementSync;
  readonly #set: StatementSync;
  readonly #delete: StatementSync;
  readonly #list: StatementSync;
  readonly #keys: StatementSync;

  constructor(handle: DatabaseSync, durability: Durability) {
    this.#handle = handle;
    this.durability = durability;
    const range = "FROM entry WHERE key >= ? AND key < ? ORDER BY key";
    const one = "FROM entry WHERE key = ?";
    this.#get = prepareReader(handle, `SELECT value ${one}`);
    this.#exists = prepareReader(handle, `SELECT 1 ${one}`);
    this.#list = prepareReader(handle, `SELECT key, value ${range}`);
    this.#keys = prepareReader(handle, `SELECT key ${range}`);
    this.#delete = handle.prepare("DELETE FROM entry WHERE key = ?");
    this.#set = handle.prepare(
      "INSERT INTO entry VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value",
    );
  }

  get(key: string): unknown {
    const row: unknown = this.#get.get(key);
    return row === undefined ? undefined : JSON.parse(String(cellsOf(row)[0]));
  }

  exists(key: string): boolean {
    return this.#exists.get(key) !== undefined;
  }

  set(key: string, value: Value): Done {
    this.#set.run(key, JSON.stringify(value));
    return undefined;
  }

  setExpiring(): Done {
    return noExpiry();
  }

  delete(key: string): Done {
    this.#delete.run(key);
    return undefined;
  }

  load(entries: readonly Entry[]): Done {
    return transactSqlite(this.#handle, () => {
      for (const { key, value } of entries) this.set(key, value);
      return undefined;
    });
  }

  list(prefix: string): readonly Listed[] {
    const rows: readonly unknown[] = this.#list.all(prefix, endOf(prefix));
    return rows.map((row) => {
      const cells = cellsOf(row);
      return { key: String(cells[0]), value: JSON.parse(String(cells[1])) };
    });
  }

  keys(prefix: string): readonly string[] {
    const rows: readonly unknown[] = this.#keys.all(prefix, endOf(prefix));
    return rows.map((row) => String(cellsOf(row)[0]));
  }

  close(): Done {
    this.#handle.close();
    return undefined;
  }
}
