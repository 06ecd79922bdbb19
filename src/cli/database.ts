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
import { loadOptional } from "../../server/optional_package.ts";
import { commitName } from "../db/commit_name.ts";
import { type Database as Real, openDatabase } from "../db/database.ts";
import { DatabaseError } from "../base/errors.ts";
import type { CommitSummary } from "../db/history.ts";
import type { Repository as RealRepository } from "../db/repository.ts";
import type { TransactionScope } from "../db/transaction_scope.ts";
import type { Query, Where } from "../query/mod.ts";
import {
  type AnyField,
  field,
  type ScalarField,
  textField,
} from "../schema/field.ts";
import { defineSchema, type Schema as RealSchema } from "../schema/schema.ts";
import { entrySchema, isThere, readEntry } from "../kv/entry.ts";
import { type Kv, type KvScope, openKv } from "../kv/mod.ts";
import type { TextEngine } from "../schema/text_state.ts";
import { memoryStorage } from "../storage/memory_storage.ts";
import { Failure } from "./failure.ts";
import type {
  Database,
  Draft,
  Engine,
  Field,
  FieldKind,
  HistoryEntry,
  ImportTransaction,
  Item,
  OpenRequest,
  QueryRequest,
  ReadableCollection,
  Repository,
  Schema,
  StoredCollection,
} from "./store.ts";

/** The database as the command line uses it. */
export const engine: Engine = {
  async open(request: OpenRequest): Promise<Database> {
    const { path, mode, schemas } = request;
    const textEngine = await loadTextEngine();
    // A store's schema is its own, and not the database's.
    const declared = schemas.filter(({ store }) => store === undefined);
    const options = {
      ...(path === undefined ? { storage: memoryStorage() } : { path }),
      ...(mode !== undefined && { mode: parseMode(mode) }),
      schemas: withTargets(declared.map(schemaOf)),
      textEngine,
    };
    try {
      return wrapDatabase(await openDatabase(options));
    } catch (cause) {
      if (request.isRead !== true || !isUnwritable(cause)) throw cause;
      return wrapDatabase(await openDatabase({ ...options, readOnly: true }));
    }
  },
  exists: (path) => isFile(join(path, "database")),
  async defineSchema(name, fields) {
    const engine = await loadTextEngine();
    const builders = fields.map((
      field,
    ) => [field.name, builderOf(field, engine)]);
    const handle = defineSchema(name, Object.fromEntries(builders));
    return { name, fields, handle };
  },
  storeSchema(collection) {
    const store = storeName(collection);
    return store === undefined
      ? undefined
      : { ...describe(entrySchema(store || undefined)), store };
  },
  asSchema: (exported) => isSchema(exported) ? describe(exported) : undefined,
};

async function loadTextEngine(): Promise<TextEngine> {
  const text = await loadOptional(() => import("../text/engine.ts"));
  return text?.engine ?? missingTextEngine;
}

/** Only who has texts needs the package that merges them. */
const missingTextEngine = new Proxy({} as TextEngine, {
  get(_, name) {
    if (name === "then") return undefined; // Is it a promise? Awaiting asks.
    throw new Failure(
      "package-missing",
      "There are fields of text, and the package yjs is not installed",
      "npm install yjs",
    );
  },
});

/** The name of the store whose entries a collection's items are; `""` where it has none. */
function storeName(collection: string): string | undefined {
  const [found, name = ""] = /^kv(?:-([\w-]{1,48}))?$/.exec(collection) ?? [];
  return found === undefined ? undefined : name;
}

/** One schema is imported at a time: the collections that it refers to need not be known any better. */
function withTargets(schemas: readonly RealSchema[]): RealSchema[] {
  const all = new Map(schemas.map((schema) => [schema.name, schema]));
  for (const { plan } of schemas) {
    for (const { target, inner } of plan) {
      const name = inner?.target ?? target;
      if (name === undefined || all.has(name)) continue;
      all.set(name, defineSchema(name, {}));
    }
  }
  return [...all.values()];
}

/** Is it a medium that may still be read? */
function isUnwritable(cause: unknown): boolean {
  return cause instanceof DatabaseError &&
    (cause.code === "storage-readonly" || cause.code === "permission-denied");
}

function isFile(path: string): boolean {
  try {
    return statSync(path).isFile();
  } catch {
    // What is in the way of opening it is for the database to say.
    return false;
  }
}

function parseMode(mode: string): "default" | "trusted" | "fast" {
  return mode === "trusted" || mode === "fast" ? mode : "default";
}

function wrapDatabase(database: Real): Database {
  return {
    mode: database.mode,
    identity: {
      rootKey: database.rootKey,
      sessionKey: database.sessionKey,
      user: database.user,
    },
    repositories: () => Promise.resolve(database.repositories()),
    repository: async (name) =>
      wrapRepository(await database.repository(name), database),
    deleteRepository: (name) =>
      database.deleteRepository(name, { unsent: "discard" }),
    close: () => database.close(),
  };
}

function wrapRepository(
  repository: RealRepository,
  database: Real,
): Repository {
  const collections = () => repository.collections().map(describeStored);
  return {
    name: repository.name,
    mode: repository.mode,
    status: () => repository.status(),
    get unsent() {
      return repository.sync.status.unsent.commits;
    },
    collections,
    collection(name) {
      const fields = collections().find((one) => one.name === name)?.fields;
      return wrapCollection(repository, name, fields ?? []);
    },
    history: (limit) => {
      const options = limit === undefined ? {} : { limit };
      return Promise.resolve(repository.history(options).map(entryOf));
    },
    async write(schema, work) {
      const { store } = schema;
      const wrap = store === undefined
        ? (tx: TransactionScope) => wrapTransaction(tx, schemaOf(schema))
        : (tx: TransactionScope) =>
          wrapEntries(storeOf(repository, store).within(tx));
      await repository.transact((tx) => work(wrap(tx))).durable;
    },
    verify: (onProgress, signal) =>
      repository.verify({
        onProgress: ({ done, total }) => onProgress(done, total),
        signal,
      }),
    async audit(rules, found, onProgress, signal) {
      const { audit } = await import("../../server/audit.ts");
      return await audit(database, repository, {
        rules: rules.of(repository.name),
        found: ({ chain, number, wall, user, rule, reason, isRestored }) => {
          const commit = commitName({ chain, number });
          const at = new Date(wall);
          found({ commit, at, user, rule, reason, isRestored });
        },
        onProgress: ({ done, total }) => onProgress(done, total),
        signal,
      });
    },
  };
}

/** Shapes do not tell which fields may be missing. */
function describeStored({ name, count, fields }: {
  readonly name: string;
  readonly count: number;
  readonly fields: readonly Omit<Field, "optional">[];
}): StoredCollection {
  const described = fields.map((field) => ({ ...field, optional: false }));
  return { name, count, fields: described };
}

function wrapCollection(
  repository: RealRepository,
  name: string,
  fields: readonly Field[],
): ReadableCollection {
  const collection = repository.storedCollection(name);
  const queryOf = ({ where, orderBy, limit }: QueryRequest) => {
    let query = untyped(collection.query());
    if (where !== undefined) query = query.where(untypedWhere(where));
    for (const [field, direction] of orderBy) {
      query = query.orderBy(field, direction);
    }
    return limit === undefined ? query : query.limit(limit);
  };
  return {
    name,
    fields,
    count: () => collection.count(),
    keys: () => collection.keys(),
    items: () => itemsThere(collection),
    query: (request) => queryOf(request).run().map(itemOf),
    queryCount: (request) => queryOf(request).count(),
    explain: (request) => ({ ...queryOf(request).explain() }),
    history: (id) => Promise.resolve(historyOf(repository, name, id)),
  };
}

/** All items; of a store those that have not been deleted, and have not ended. */
function* itemsThere(collection: StoredItems): Generator<Item> {
  const isStore = storeName(collection.name) !== undefined;
  const now = Date.now();
  for (const row of collection.stream()) {
    const item = itemOf(row);
    if (!isStore || isThere(item, now)) yield item;
  }
}

type StoredItems = ReturnType<RealRepository["storedCollection"]>;

function storeOf(repository: RealRepository, name: string): Kv {
  return openKv(repository, name === "" ? {} : { name });
}

/** A row of which nothing is known; names and values are judged when the query is built. */
type UntypedRow = { readonly [field: string]: string } & {
  readonly id: string;
};

function untyped(query: object): Query<UntypedRow> {
  return query as Query<UntypedRow>;
}

function untypedWhere(where: object): Where<UntypedRow> {
  return where as Where<UntypedRow>;
}

/** Proof: a stored collection's rows are items of stored kinds, by its view. */
function itemOf(row: { readonly id: string }): Item {
  return row as Item;
}

function historyOf(
  repository: RealRepository,
  collection: string,
  id: string,
): HistoryEntry[] {
  const item = { collection, id };
  return repository.history({ limit: Infinity, item }).map(entryOf);
}

function entryOf(commit: CommitSummary): HistoryEntry {
  return {
    commit: commit.commit,
    at: commit.at,
    user: commit.user ?? "unknown",
    changes: commit.operations.map(({ what, collection, id, fields }) => {
      const names = fields.map((field) => field.name).join(", ");
      return `${what} ${collection} ${id}${names === "" ? "" : `: ${names}`}`;
    }),
  };
}

function wrapTransaction(
  tx: TransactionScope,
  schema: RealSchema,
): ImportTransaction {
  const collection = tx.collection(schema);
  return {
    has: (id) => collection.has(id),
    create({ id, values }) {
      collection.create({ ...values, ...(id !== undefined && { id }) });
    },
    replace({ id, values }) {
      if (id === undefined) return;
      const whole = schema.plan.map(({ name, initial }) => [
        name,
        Object.hasOwn(values, name) ? values[name] : initial,
      ]);
      collection.update(id, Object.fromEntries(whole));
    },
  };
}

/** Entries are written by their store: it judges their values, and says which are there. */
function wrapEntries(entries: KvScope): ImportTransaction {
  const put = ({ id, values }: Draft) => {
    if (id === undefined) throw new SyntaxError("an entry needs a key");
    const reading = readEntry({ ...values, id });
    if (!("value" in reading)) throw new SyntaxError(reading.unreadable);
    const { expiresAt } = values;
    if (expiresAt !== undefined && typeof expiresAt !== "number") {
      throw new SyntaxError("expiresAt is no number");
    }
    entries.set(id, reading.value, { expiresAt });
  };
  return { has: (id) => entries.exists(id), create: put, replace: put };
}

/** The schema object behind a description; it was put there by this file. */
function schemaOf({ handle }: Schema): RealSchema {
  if (isSchema(handle)) return handle;
  throw new TypeError("The handle is no schema");
}

/** Is it what `defineSchema` made? */
function isSchema(value: unknown): value is RealSchema {
  return typeof value === "object" && value !== null && "plan" in value &&
    Array.isArray(value.plan) && "shape" in value && "name" in value &&
    typeof value.name === "string";
}

function describe(schema: RealSchema): Schema {
  const fields = schema.plan.map((field): Field => ({
    name: field.name,
    kind: field.kind,
    optional: field.isOptional || field.initial !== undefined,
    ...(field.inner !== undefined && { element: field.inner.kind }),
    ...(field.options !== undefined && { options: [...field.options] }),
  }));
  return { name: schema.name, fields, handle: schema };
}

function builderOf(description: Field, engine: TextEngine): AnyField {
  const { kind, optional } = description;
  switch (kind) {
    case "counter":
      return field.counter();
    case "text":
      return textField(engine);
    case "set":
      return field.set(elementOf(description));
    case "map":
      return field.map(elementOf(description));
    case "list":
      return field.list(elementOf(description));
    default: {
      const builder = scalarOf(description);
      return optional ? builder.optional() : builder;
    }
  }
}

type Scalar = ScalarField<string | number | boolean>;

function elementOf({ name, element }: Field): Scalar {
  return scalarOf({ name, kind: element ?? "string", optional: false });
}

/** Builders differ in what they give; only their definitions matter here. */
function scalarOf({ name, kind, options }: Field): Scalar {
  const builders: Partial<Record<FieldKind, () => AnyField>> = {
    number: field.number,
    boolean: field.boolean,
    date: field.date,
    bytes: field.bytes,
    json: field.json,
    enum: () => field.enum(options ?? []),
    ref: () => field.ref(name),
  };
  return (builders[kind] ?? field.string)() as Scalar;
}
