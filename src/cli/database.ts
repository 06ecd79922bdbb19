/** Opening databases, the schemas that are written with, and writing. */

import { statSync } from "node:fs";
import { join } from "node:path";
import { loadOptional } from "../../server/optional_package.ts";
import { DatabaseError } from "../base/errors.ts";
import { type Database, openDatabase } from "../db/database.ts";
import type { ReadableCollection } from "../db/readable_collection.ts";
import type { Repository } from "../db/repository.ts";
import { scalarOf } from "../db/stored.ts";
import type { TransactionScope } from "../db/transaction_scope.ts";
import { entrySchema, isThere, readEntry } from "../kv/entry.ts";
import { type KvScope, openKv } from "../kv/mod.ts";
import { type AnyField, field, textField } from "../schema/field.ts";
import { defineSchema, type Schema } from "../schema/schema.ts";
import type { TextEngine } from "../schema/text_state.ts";
import { memoryStorage } from "../storage/memory_storage.ts";
import { Failure } from "./failure.ts";
import type { Draft, Field, Item } from "./field.ts";

export interface OpenRequest {
  /** The folder; `undefined` opens an empty one in memory. */
  readonly path: string | undefined;
  /** Mode of repositories that are created; absent takes the default. */
  readonly mode?: string | undefined;
  readonly target?: Target;
  /** Is nothing written, so that a medium will do that cannot be? */
  readonly isRead?: boolean;
  /** Is it read without a lock, while another process may write it? */
  readonly isShared?: boolean;
}

/** What rows are written to: a schema that was inferred, stored, or loaded from a module. */
export interface Target {
  readonly schema: Schema;
  readonly fields: readonly Field[];
  /** The key-value store whose entries its items are; `""` is the one without a name. */
  readonly store?: string;
}

export async function open(request: OpenRequest): Promise<Database> {
  const { path, mode, target } = request;
  const options = {
    ...(path === undefined ? { storage: memoryStorage() } : { path }),
    ...(mode !== undefined && { mode: parseMode(mode) }),
    // A store's schema is its own, and not the database's.
    schemas: target === undefined || target.store !== undefined
      ? []
      : withTargets(target.schema),
    textEngine: await loadTextEngine(),
  };
  if (request.isShared) {
    return await openDatabase({ ...options, readOnly: true });
  }
  try {
    return await openDatabase(options);
  } catch (cause) {
    if (request.isRead !== true || !isUnwritable(cause)) throw cause;
    return await openDatabase({ ...options, readOnly: true });
  }
}

export function isDatabase(path: string): boolean {
  return isFile(join(path, "database"));
}

export async function targetOf(
  name: string,
  fields: readonly Field[],
): Promise<Target> {
  const engine = await loadTextEngine();
  const builders = fields.map((
    field,
  ) => [field.name, builderOf(field, engine)]);
  return { schema: defineSchema(name, Object.fromEntries(builders)), fields };
}

export function storeTarget(collection: string): Target | undefined {
  const store = storeName(collection);
  return store === undefined
    ? undefined
    : { ...describe(entrySchema(store || undefined)), store };
}

export function exportedTarget(exported: unknown): Target | undefined {
  return isSchema(exported) ? describe(exported) : undefined;
}

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
function withTargets(schema: Schema): Schema[] {
  const all = new Map([[schema.name, schema]]);
  for (const { target, inner } of schema.plan) {
    const name = inner?.target ?? target;
    if (name === undefined || all.has(name)) continue;
    all.set(name, defineSchema(name, {}));
  }
  return [...all.values()];
}

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

/** All items; of a store those that have not been deleted, and have not ended. */
export function* itemsOf(
  collection: ReadableCollection<Schema>,
): Generator<Item> {
  const isStore = storeName(collection.name) !== undefined;
  const now = Date.now();
  for (const row of collection.stream()) {
    const item = row as Item; // Proof: a stored collection's rows are items of stored kinds, by its view.
    if (!isStore || isThere(item, now)) yield item;
  }
}

export interface ImportTransaction {
  has(id: string): boolean;
  create(draft: Draft): void;
  /** Puts the draft in the place of the item with its id. */
  replace(draft: Draft): void;
}

/** Runs `work` as one atomic transaction and waits until it is durable. */
export async function write(
  repository: Repository,
  { schema, store }: Target,
  work: (tx: ImportTransaction) => void,
): Promise<void> {
  const wrap = (tx: TransactionScope) =>
    store === undefined ? wrapTransaction(tx, schema) : wrapEntries(
      openKv(repository, store === "" ? {} : { name: store }).within(tx),
    );
  await repository.transact((tx) => work(wrap(tx))).durable;
}

function wrapTransaction(
  tx: TransactionScope,
  schema: Schema,
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

function isSchema(value: unknown): value is Schema {
  return typeof value === "object" && value !== null && "plan" in value &&
    Array.isArray(value.plan) && "shape" in value && "name" in value &&
    typeof value.name === "string";
}

function describe(schema: Schema): Target {
  const fields = schema.plan.map((field): Field => ({
    name: field.name,
    kind: field.kind,
    optional: field.isOptional || field.initial !== undefined,
    ...(field.inner !== undefined && { element: field.inner.kind }),
    ...(field.options !== undefined && { options: [...field.options] }),
  }));
  return { schema, fields };
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
      const builder = scalarFor(description);
      return optional ? builder.optional() : builder;
    }
  }
}

function elementOf({ name, element = "string" }: Field) {
  return scalarFor({ name, kind: element });
}

function scalarFor({ name, kind, options = [] }: Field) {
  type Scalar = ReturnType<typeof scalarOf>; // As there: only definitions matter.
  if (kind === "enum") return field.enum(options) as AnyField as Scalar;
  return kind === "ref"
    ? field.ref(name) as AnyField as Scalar
    : scalarOf(kind);
}
