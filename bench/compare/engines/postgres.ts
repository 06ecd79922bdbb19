/**
 * PostgreSQL by `pg`, at an address that the user gives: one connection,
 * prepared statements by name, a table of the same columns. Many items are one
 * statement, `INSERT … SELECT FROM json_populate_recordset`, in one transaction.
 * What a commit promises is asked of the server.
 *
 * The table is named after the folder of the case and dropped at the end; a
 * case that was killed leaves `sheaf_bench_…` behind.
 *
 * @module
 */

import {
  type OpenPostgres,
  openPostgres,
} from "../../engines/postgres_open.ts";
import type { Item } from "../../harness/items.ts";
import { loadPeer } from "../../peers/load.ts";
import { type Load, ownName, type Store } from "../store.ts";

const columns = "id, title, done, rank, tags, created_at, author, body";

/** PostgreSQL, where an address is given and answers. */
export const postgres: Load = async ({ folder, peers, addresses }) => {
  // Before anything is timed: opening finds it loaded.
  if (addresses["postgres"] !== undefined) await loadPeer(peers, "pg");
  const table = `sheaf_bench_${ownName(folder)}`;
  return {
    async open(): Promise<Store> {
      const opened = await openPostgres(peers, addresses["postgres"]);
      await opened.postgres.query({ text: definition(table) });
      return storeOf(opened, table);
    },
  };
};

function definition(table: string): string {
  return `CREATE TABLE IF NOT EXISTS ${table} (id text PRIMARY KEY, title text NOT NULL,
    done boolean NOT NULL, rank integer NOT NULL, tags json NOT NULL, created_at bigint NOT NULL,
    author text NOT NULL, body text NOT NULL)`;
}

function storeOf({ postgres, durability }: OpenPostgres, table: string): Store {
  const select =
    `SELECT id, title, done, rank, tags, created_at::float8 AS "createdAt", author, body FROM ${table}`;
  const itemsOf = async (
    name: string,
    text: string,
    values: readonly unknown[] = [],
  ): Promise<Item[]> => {
    const { rows } = await postgres.query({ name, text, values });
    // The columns are those of `select`.
    return rows as Item[];
  };
  return {
    durability,
    insert: (item) =>
      postgres.query({
        name: "insert",
        text:
          `INSERT INTO ${table} (${columns}) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`,
        values: cellsOf(item),
      }),
    insertMany: (items) =>
      postgres.query({
        name: "insert-many",
        text:
          `INSERT INTO ${table} (${columns}) SELECT ${columns} FROM json_populate_recordset(NULL::${table}, $1)`,
        values: [JSON.stringify(items.map(rowOf))],
      }),
    get: async (id) =>
      (await itemsOf("get", `${select} WHERE id = $1`, [id]))[0],
    all: () => itemsOf("all", select),
    close: () => postgres.end(),
    remove: () => postgres.query({ text: `DROP TABLE ${table}` }),
  };
}

function cellsOf(item: Item): unknown[] {
  const { id, title, done, rank, tags, createdAt, author, body } = item;
  return [id, title, done, rank, JSON.stringify(tags), createdAt, author, body];
}

function rowOf({ createdAt, ...rest }: Item): Record<string, unknown> {
  return { ...rest, created_at: createdAt };
}
