/**
 * Keys and values in a repository: signed, durable, synced, with history.
 *
 * ```ts
 * import { memoryStorage, openDatabase } from "@sheaf/sheaf";
 * import { openKv } from "@sheaf/sheaf/kv";
 *
 * await using db = await openDatabase({ storage: memoryStorage() });
 * const kv = openKv(await db.repository("team/acme"));
 * await kv.set("user/1", { name: "Ada" }, { ttlMs: 60_000 });
 * console.log(kv.get("user/1"), kv.keys({ prefix: "user/" }));
 * ```
 *
 * Entries are items of a collection of their own, so all that holds of items
 * holds of them; who does not import this module does not load it.
 *
 * @module
 */

import { DatabaseError } from "../base/errors.ts";
import { checkOptions } from "../base/known_options.ts";
import { openedOf, type OpenRepository } from "../db/internals.ts";
import type { Repository } from "../db/repository.ts";
import type { Schema } from "../schema/schema.ts";
import { entrySchema } from "./entry.ts";
import { Kv } from "./kv.ts";
import type { KvOf, KvValue } from "./value.ts";

export type { Kv } from "./kv.ts";
export type {
  KvEntry,
  KvPage,
  KvVersionedEntry,
  ReadableKv,
} from "./readable_kv.ts";
export type { KvScope } from "./scope.ts";
export type { ExpiryOptions, ScanOptions, WatchOptions } from "./options.ts";
export type { KvOf, KvPart, KvValue } from "./value.ts";
export type { KvChange, KvListener } from "./watch.ts";

/** Which store to open. */
export interface KvOptions {
  /** 1 to 48 letters, digits, `_` or `-`; a repository may have several stores. */
  readonly name?: string | undefined;
}

const stores = new WeakMap<Repository, Map<string, Kv>>();

/**
 * The key-value store of a repository: the same object for the same name.
 *
 * `openKv<Session>(repository, { name: "sessions" })` types its values. That is
 * the program's word, which nothing checks: another program may write others.
 *
 * @throws {DatabaseError} `invalid-option`, `invalid-name`, `invalid-schema` when
 * the app declared a schema of its own for the store's collection, `closed`
 */
export function openKv<T = KvValue>(
  repository: Repository,
  options: KvOptions = {},
): Kv<KvOf<T>> {
  const schema = entrySchema(checkOptions(options, { name: 0 }).name);
  const [opened] = openedOf(repository);
  if (opened === undefined) {
    throw new DatabaseError(
      "invalid-option",
      "A key-value store is opened on what database.repository() gave; kv.at(point) is its past",
    );
  }
  opened.replica.check();
  let known = stores.get(repository);
  if (known === undefined) stores.set(repository, known = new Map());
  let kv = known.get(schema.name);
  if (kv === undefined) known.set(schema.name, kv = make(opened, schema));
  return kv as Kv<KvOf<T>>;
}

function make(opened: OpenRepository, schema: Schema): Kv {
  const { replica, engines, arrivals, world } = opened;
  const table = replica.state.table(schema.name);
  if (table.view.schema !== undefined) {
    throw new DatabaseError(
      "invalid-schema",
      `The collection "${schema.name}" is the store's, but this database declares a schema for it: rename one of the two`,
    );
  }
  const engine = engines.of(schema);
  return new Kv({ schema, replica, table, engine, arrivals, world });
}
