/**
 * YCSB's table in SQLite: a column a field, the record's name as primary key; a
 * prepared statement for each of the five operations and each field. Each write
 * is a transaction of its own: with 64 in flight it has nothing to gather.
 *
 * @module
 */

import type { DatabaseSync, StatementSync } from "node:sqlite";
import { durabilityOf, type SqliteName } from "../../engines/names.ts";
import {
  cellsOf,
  openSqlite,
  prepareReader,
  transactSqlite,
} from "../../engines/sqlite_open.ts";
import type { Durability } from "../../harness/figure.ts";
import { type FieldName, fieldNames, type Fields } from "../records.ts";
import type { Found, Store } from "../store.ts";

const columns = fieldNames.join(", ");
const definition = `CREATE TABLE usertable (key TEXT PRIMARY KEY NOT NULL, ${
  fieldNames.map((name) => `${name} TEXT NOT NULL`).join(", ")
})`;

class SqliteStore implements Store {
  readonly durability: Durability;
  readonly others = [];
  readonly #handle: DatabaseSync;
  readonly #read: StatementSync;
  readonly #scan: StatementSync;
  readonly #insert: StatementSync;
  readonly #updates: Readonly<Record<string, StatementSync>>;

  constructor(handle: DatabaseSync, durability: Durability) {
    this.#handle = handle;
    this.durability = durability;
    this.#read = prepareReader(
      handle,
      `SELECT ${columns} FROM usertable WHERE key = ?`,
    );
    this.#scan = prepareReader(
      handle,
      `SELECT ${columns}, key FROM usertable WHERE key >= ? ORDER BY key LIMIT ?`,
    );
    const places = fieldNames.map(() => "?").join(", ");
    this.#insert = handle.prepare(
      `INSERT INTO usertable (key, ${columns}) VALUES (?, ${places})`,
    );
    this.#updates = Object.fromEntries(
      fieldNames.map((name) => [
        name,
        handle.prepare(`UPDATE usertable SET ${name} = ? WHERE key = ?`),
      ]),
    );
  }

  read(key: string): Fields | undefined {
    const row: unknown = this.#read.get(key);
    return row === undefined ? undefined : fieldsOf(cellsOf(row));
  }

  scan(key: string, count: number): readonly Found[] {
    const rows: readonly unknown[] = this.#scan.all(key, count);
    return rows.map((row) => {
      const cells = cellsOf(row);
      return { key: String(cells[fieldNames.length]), fields: fieldsOf(cells) };
    });
  }

  update(key: string, field: FieldName, value: string): void {
    this.#updates[field]?.run(value, key);
  }

  insert(key: string, fields: Fields): void {
    this.#insert.run(
      key,
      fields.field0,
      fields.field1,
      fields.field2,
      fields.field3,
      fields.field4,
      fields.field5,
      fields.field6,
      fields.field7,
      fields.field8,
      fields.field9,
    );
  }

  load(records: readonly Found[]): void {
    transactSqlite(this.#handle, () => {
      for (const { key, fields } of records) this.insert(key, fields);
    });
  }

  close(): void {
    this.#handle.close();
  }
}

/** The cells of {@linkcode columns} are texts: the table says so. */
function fieldsOf(cells: readonly unknown[]): Fields {
  return {
    field0: cells[0] as string,
    field1: cells[1] as string,
    field2: cells[2] as string,
    field3: cells[3] as string,
    field4: cells[4] as string,
    field5: cells[5] as string,
    field6: cells[6] as string,
    field7: cells[7] as string,
    field8: cells[8] as string,
    field9: cells[9] as string,
  };
}

/** Opens the table in `folder`. */
export function openSqliteStore(folder: string, engine: SqliteName): Store {
  const handle = openSqlite(folder, engine, definition);
  return new SqliteStore(handle, durabilityOf(engine));
}
