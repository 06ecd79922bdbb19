/**
 * The one file of the command line that knows the database's real names.
 *
 * It turns what `store.ts` asks for into calls of the public classes and
 * knows nothing of files, terminals or formats.
 *
 * @module
 */

import { statSync } from "node:fs";
import { join } from "node:path";
import { type Database as Real, openDatabase } from "../db/database.ts";
import type { CommitSummary } from "../db/history.ts";
import type { ReadableCollection as RealCollection } from "../db/readable_collection.ts";
import type { Repository as RealRepository } from "../db/repository.ts";
import type { TransactionScope } from "../db/transaction_scope.ts";
import { type AnyField, field } from "../schema/field.ts";
import { type AnySchema, defineSchema } from "../schema/schema.ts";
import { memoryStorage } from "../storage/memory_storage.ts";
import type {
  Database,
  Draft,
  Engine,
  Field,
  HistoryEntry,
  ImportTransaction,
  OpenRequest,
  ReadableCollection,
  Repository,
  Schema,
  StoredCollection,
  Value,
  Verification,
} from "./store.ts";

/** The database as the command line uses it. */
export const engine: Engine = {
  async open({ path, mode, schemas }: OpenRequest): Promise<Database> {
    const database = await openDatabase({
      ...(path === undefined ? { storage: memoryStorage() } : { path }),
      ...(mode !== undefined && { mode: parseMode(mode) }),
      schemas: schemas.map(schemaOf),
    });
    return wrapDatabase(database);
  },
  exists: (path) => isFile(join(path, "database")),
  defineSchema(name, fields) {
    const builders = fields.map((field) => [field.name, builderOf(field)]);
    const handle = defineSchema(name, Object.fromEntries(builders));
    return { name, fields, handle };
  },
  asSchema: (exported) => isSchema(exported) ? describe(exported) : undefined,
};

function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() ?? false;
}

function parseMode(mode: string): "default" | "trusted" | "fast" {
  return mode === "trusted" || mode === "fast" ? mode : "default";
}
