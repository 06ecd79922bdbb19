/**
 * PostgreSQL as a key-value store: one table, the key compared by bytes
 * (`COLLATE "C"`), the value JSON as text; statements prepared, a connection
 * for each operation in flight. It has no expiry.
 *
 * The table is this store's own, and is dropped at the end.
 *
 * @module
 */

import {
  type OpenPostgres,
  openPostgres,
  type Postgres,
} from "../engines/postgres_open.ts";
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

/** Connects to the PostgreSQL at `address`. */
export async function openPostgresStore(
  peers: string,
  address: string | undefined,
  { inFlight }: Use,
): Promise<Store> {
  const opened = await openPostgres(peers, address, inFlight);
  const table = `sheaf_bench_${crypto.randomUUID().replaceAll("-", "")}`;
  await opened.postgres.query({
    text:
      `CREATE TABLE ${table} (key text COLLATE "C" PRIMARY KEY, value text NOT NULL)`,
  });
  return new PostgresStore(opened, table);
}

class PostgresStore implements Store {
  readonly expiry = "none";
  readonly durability: Durability;
  readonly #postgres: Postgres;
  readonly #table: string;

  constructor({ postgres, durability }: OpenPostgres, table: string) {
    this.#postgres = postgres;
    this.durability = durability;
    this.#table = table;
  }

  async #rows(
    name: string,
    sql: string,
    values: readonly unknown[],
  ): Promise<(readonly unknown[])[]> {
    const text = sql.replaceAll("entry", this.#table);
    // A name is the statement's on a connection: one for each table.
    const { rows } = await this.#postgres.query({
      name: name + this.#table.slice(-8),
      text,
      values,
      rowMode: "array",
    });
    return rows.filter((row) => Array.isArray(row));
  }

  async get(key: string): Promise<unknown> {
    const sql = "SELECT value FROM entry WHERE key = $1";
    const [row] = await this.#rows("get", sql, [key]);
    return row === undefined ? undefined : JSON.parse(String(row[0]));
  }

  async exists(key: string): Promise<boolean> {
    const sql = "SELECT 1 FROM entry WHERE key = $1";
    return (await this.#rows("exists", sql, [key])).length === 1;
  }

  set(key: string, value: Value): Done {
    const sql =
      "INSERT INTO entry VALUES ($1, $2) ON CONFLICT (key) DO UPDATE SET value = excluded.value";
    return this.#rows("set", sql, [key, JSON.stringify(value)]);
  }

  setExpiring(): Done {
    return noExpiry();
  }

  delete(key: string): Done {
    return this.#rows("delete", "DELETE FROM entry WHERE key = $1", [key]);
  }

  load(entries: readonly Entry[]): Done {
    const sql =
      "INSERT INTO entry SELECT * FROM unnest($1::text[], $2::text[])";
    const keys = entries.map(({ key }) => key);
    const values = entries.map(({ value }) => JSON.stringify(value));
    return this.#rows("load", sql, [keys, values]);
  }

  async list(prefix: string): Promise<readonly Listed[]> {
    const sql =
      "SELECT key, value FROM entry WHERE key >= $1 AND key < $2 ORDER BY key";
    const rows = await this.#rows("list", sql, [prefix, endOf(prefix)]);
    return rows.map((row) => ({
      key: String(row[0]),
      value: JSON.parse(String(row[1])),
    }));
  }

  async keys(prefix: string): Promise<readonly string[]> {
    const sql =
      "SELECT key FROM entry WHERE key >= $1 AND key < $2 ORDER BY key";
    const rows = await this.#rows("keys", sql, [prefix, endOf(prefix)]);
    return rows.map((row) => String(row[0]));
  }

  async close(): Promise<void> {
    await this.#postgres.query({ text: `DROP TABLE ${this.#table}` });
    await this.#postgres.end();
  }
}
