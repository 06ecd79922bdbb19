/**
 * Opens `node:sqlite` as a careful engineer sets it up for one process: WAL, a
 * page cache and a memory map that hold the data, the file's lock kept instead
 * of taken for each statement (no other process may read Sheaf's either).
 *
 * Prepare each statement once; fetch rows as arrays, which is a third quicker
 * than as objects.
 *
 * @module
 */

import { DatabaseSync, type StatementSync } from "node:sqlite";
import type { SqliteName } from "./names.ts";

const fileName = "bench.sqlite";
/** 64 MiB of pages; all that the benches write is mapped. */
const tuning =
  "PRAGMA cache_size = -65536; PRAGMA mmap_size = 1073741824; PRAGMA temp_store = MEMORY;";
const synchronousOf: Readonly<Record<SqliteName, string>> = {
  "sqlite-full": "FULL",
  "sqlite-normal": "NORMAL",
  "sqlite-off": "OFF",
};

/** What a suite wants otherwise. */
export interface SqliteOptions {
  /** Nothing on a disk: then the durability is `memory`, and `synchronous` says nothing. */
  readonly isInMemory?: boolean;
  /** Take the file's lock for each statement, so that other processes may read meanwhile. */
  readonly isShared?: boolean;
}

/** Opens the database in `folder`, making it when it is missing; `definition` runs once, when it is new. */
export function openSqlite(
  folder: string,
  engine: SqliteName,
  definition: string,
  options: SqliteOptions = {},
): DatabaseSync {
  if (options.isInMemory) {
    const handle = new DatabaseSync(":memory:");
    handle.exec(tuning);
    handle.exec(`BEGIN; ${definition}; COMMIT`);
    return handle;
  }
  Deno.mkdirSync(folder, { recursive: true });
  const path = `${folder}/${fileName}`;
  const isNew = !exists(path);
  const handle = new DatabaseSync(path);
  // Only before the first access does it spare the shared memory's locks.
  if (!options.isShared) handle.exec("PRAGMA locking_mode = EXCLUSIVE;");
  if (isNew) handle.exec("PRAGMA journal_mode = WAL;");
  handle.exec(`PRAGMA synchronous = ${synchronousOf[engine]};`);
  handle.exec(tuning);
  if (isNew) handle.exec(`BEGIN; ${definition}; COMMIT`);
  return handle;
}

/** Deno has the method; not every set of declarations of `node:sqlite` does. */
type ArrayReader = StatementSync & { setReturnArrays(isOn: boolean): void };

/** Prepares a query whose rows come as arrays; read them by {@linkcode cellsOf}. */
export function prepareReader(
  handle: DatabaseSync,
  sql: string,
): StatementSync {
  const statement = handle.prepare(sql) as ArrayReader;
  statement.setReturnArrays(true);
  return statement;
}

/** A row of a reader: the statement was told to return arrays; its declared type does not know. */
export function cellsOf(row: unknown): readonly unknown[] {
  return row as readonly unknown[];
}

/** Runs `work` in one transaction, which a throw undoes. */
export function transactSqlite<Result>(
  handle: DatabaseSync,
  work: () => Result,
): Result {
  handle.exec("BEGIN IMMEDIATE");
  try {
    const result = work();
    handle.exec("COMMIT");
    return result;
  } catch (error) {
    handle.exec("ROLLBACK");
    throw error;
  }
}

function exists(path: string): boolean {
  try {
    Deno.statSync(path);
    return true;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    throw error;
  }
}
