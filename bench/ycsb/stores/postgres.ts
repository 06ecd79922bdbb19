/**
 * YCSB's table in PostgreSQL: a column a field, the record's name as primary key
 * and compared by byte (`COLLATE "C"`); statements prepared once a connection,
 * and as many connections as writes in flight, up to 16. The table is this
 * run's own and is dropped when the store is closed.
 *
 * @module
 */

import { openPostgres, type Postgres } from "../../engines/postgres_open.ts";
import type { Durability } from "../../harness/figure.ts";
import { type FieldName, fieldNames, type Fields } from "../records.ts";
import type { Done, Found, Store } from "../store.ts";

const connections = 16;
const columns = fieldNames.join(", ");

class PostgresStore implements Store {
  readonly durability: Durability;
  readonly others = undefined;
  readonly #postgres: Postgres;
  readonly #table: string;
  /** Writes of one record wait for each other, as they would for its lock; so they stay in order. */
  readonly #last = new Map<string, Promise<unknown>>();

  constructor(postgres: Postgres, durability: Durability, table: string) {
    this.#postgres = postgres;
    this.durability = durability;
    this.#table = table;
  }

  async read(key: string): Promise<Fields | undefined> {
    const { rows } = await this.#postgres.query({
      name: "read",
      text: `SELECT ${columns} FROM ${this.#table} WHERE key = $1`,
      values: [key],
    });
    return rows.length === 0 ? undefined : rows[0] as Fields;
  }

  async scan(key: string, count: number): Promise<readonly Found[]> {
    const { rows } = await this.#postgres.query({
      name: "scan",
      text:
        `SELECT key, ${columns} FROM ${this.#table} WHERE key >= $1 ORDER BY key LIMIT $2`,
      values: [key, count],
    });
    return rows.map((row) => {
      const { key, ...fields } = row as Fields & { readonly key: string };
      return { key, fields };
    });
  }

  update(key: string, field: FieldName, value: string): Done {
    const text = `UPDATE ${this.#table} SET ${field} = $2 WHERE key = $1`;
    const run = (): Promise<unknown> =>
      this.#postgres.query({ name: field, text, values: [key, value] });
    const before = this.#last.get(key);
    const done = before === undefined ? run() : before.then(run);
    this.#last.set(key, done);
    return done.then(() => {
      if (this.#last.get(key) === done) this.#last.delete(key);
    });
  }

  insert(key: string, fields: Fields): Done {
    return this.#insert("insert", [{ key, fields }]);
  }

  load(records: readonly Found[]): Done {
    return this.#insert(`load ${records.length}`, records);
  }

  #insert(name: string, records: readonly Found[]): Promise<unknown> {
    const values: string[] = [];
    const places = records.map(({ key, fields }) => {
      const cells = [key, ...fieldNames.map((field) => fields[field])];
      return `(${cells.map((cell) => `$${values.push(cell)}`).join(", ")})`;
    });
    const text = `INSERT INTO ${this.#table} (key, ${columns}) VALUES ${
      places.join(", ")
    }`;
    return this.#postgres.query({ name, text, values });
  }

  async close(): Promise<void> {
    await this.#postgres.query({ text: `DROP TABLE ${this.#table}` });
    await this.#postgres.end();
  }
}

/** Connects to the PostgreSQL at `address`, and makes the table. */
export async function openPostgresStore(
  peers: string,
  address: string | undefined,
): Promise<Store> {
  const { postgres, durability } = await openPostgres(
    peers,
    address,
    connections,
  );
  const table = `sheaf_ycsb_${crypto.randomUUID().replaceAll("-", "")}`;
  const fields = fieldNames.map((name) => `${name} TEXT NOT NULL`).join(", ");
  await postgres.query({
    text: `CREATE TABLE ${table} (key TEXT COLLATE "C" PRIMARY KEY, ${fields})`,
  });
  return new PostgresStore(postgres, durability, table);
}
