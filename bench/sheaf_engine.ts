/**
 * Sheaf behind the bench's interface: the only file here that knows its API.
 *
 * The module is loaded when asked for and described structurally, so that the
 * rest of the bench runs and checks without it.
 *
 * @module
 */

import type { Database, Done, Engine, Live, Mode, Shape } from "./engine.ts";
import { type Change, indexes, type Item } from "./items.ts";

/** Loads Sheaf, to be opened in `mode`. */
export async function sheafEngine(mode: Mode): Promise<Engine> {
  const sheaf = parseModule(
    await import(new URL("../mod.ts", import.meta.url).href),
  );
  const plain = itemSchema(sheaf, false);
  const indexed = itemSchema(sheaf, true);
  return {
    async open(folder: string, shape: Shape): Promise<Database> {
      const schema = shape.indexed ? indexed : plain;
      const handle = await sheaf.openDatabase({
        path: folder,
        mode,
        schemas: [schema],
        user: "bench",
      });
      const repository = await handle.repository("bench");
      return new SheafDatabase(
        handle,
        repository,
        schema,
        repository.collection(schema),
      );
    },
  };
}

/** The same fields as SQLite's columns; history is always kept. */
function itemSchema(sheaf: SheafModule, isIndexed: boolean): Schema {
  const { field } = sheaf;
  return sheaf.defineSchema("item", {
    title: field.string(),
    done: field.boolean(),
    rank: field.number(),
    tags: field.set(field.string()),
    createdAt: field.number(),
    author: field.string(),
    body: field.string(),
  }, { indexes: isIndexed ? indexes : [] });
}

class SheafDatabase implements Database {
  #handle: Handle;
  #repository: Repository;
  #schema: Schema;
  #items: Collection;

  constructor(
    handle: Handle,
    repository: Repository,
    schema: Schema,
    items: Collection,
  ) {
    this.#handle = handle;
    this.#repository = repository;
    this.#schema = schema;
    this.#items = items;
  }

  close(): Done {
    return this.#handle.close();
  }

  create(item: Item): Done {
    return this.#items.create(item).durable;
  }

  createConcurrently(items: readonly Item[]): Done {
    return Promise.all(items.map((item) => this.#items.create(item).durable));
  }

  createBatch(items: readonly Item[]): Done {
    return this.#items.createMany(items).durable;
  }

  update(change: Change): Done {
    return this.#items.update(change.id, {
      done: change.done,
      rank: change.rank,
    }).durable;
  }

  updateBatch(changes: readonly Change[]): Done {
    return this.#repository.transact((transaction) => {
      const items = transaction.collection(this.#schema);
      for (const change of changes) {
        items.update(change.id, { done: change.done, rank: change.rank });
      }
    }).durable;
  }

  get(id: string): Item | undefined {
    return this.#items.get(id);
  }

  getMany(ids: readonly string[]): readonly Item[] {
    return this.#items.getMany(ids).filter((item) => item !== undefined);
  }

  inRankRange(from: number, to: number): readonly Item[] {
    return this.#items.where({ rank: { gte: from, lt: to } }).run();
  }

  topOpen(author: string, limit: number): readonly Item[] {
    return this.#items.where({ author, done: false }).orderBy("rank", "desc")
      .limit(limit).run();
  }

  count(): number {
    return this.#items.count();
  }

  keys(): readonly string[] {
    return this.#items.keys();
  }

  all(): readonly Item[] {
    return this.#items.all();
  }

  live(from: number, to: number): Live {
    return new SheafLive(this.#items, from, to);
  }
}

/** A live query that is always the whole result, whatever part SQLite asks for again. */
class SheafLive implements Live {
  #items: Collection;
  #rows: readonly Item[];
  #subscription: Subscription;
  #durable: Done;
  #wake: (() => void) | undefined;
  #isHeard = false;

  constructor(items: Collection, from: number, to: number) {
    this.#items = items;
    this.#subscription = items.where({ rank: { gte: from, lt: to } }).orderBy(
      "rank",
    ).subscribe((change) => {
      this.#rows = change.rows;
      this.#isHeard = true;
      this.#wake?.();
    });
    this.#rows = this.#subscription.getSnapshot();
  }

  before(): Done {
    this.#isHeard = false;
    this.#wake = undefined;
    return undefined;
  }

  update(change: Change): Done {
    this.#durable =
      this.#items.update(change.id, { done: change.done, rank: change.rank })
        .durable;
    if (this.#isHeard) return undefined;
    return new Promise<void>((resolve) => this.#wake = resolve);
  }

  after(): Done {
    return this.#durable;
  }

  rows(): readonly Item[] {
    return this.#rows;
  }

  close(): void {
    this.#subscription[Symbol.dispose]();
  }
}

// What the bench uses of the public API.

interface SheafModule {
  readonly field: {
    string(): unknown;
    boolean(): unknown;
    number(): unknown;
    set(of: unknown): unknown;
  };
  defineSchema(
    name: string,
    fields: Record<string, unknown>,
    options: { indexes: readonly unknown[] },
  ): Schema;
  openDatabase(
    options: {
      path: string;
      mode: Mode;
      schemas: readonly Schema[];
      user: string;
    },
  ): Promise<Handle>;
}

interface Schema {
  readonly name: string;
}

interface Handle {
  repository(name: string): Promise<Repository>;
  close(): Promise<void>;
}

interface Repository {
  collection(schema: Schema): Collection;
  transact(work: (transaction: Transaction) => void): Write;
}

interface Transaction {
  collection(
    schema: Schema,
  ): { update(id: string, changes: Partial<Item>): unknown };
}

interface Write {
  readonly durable: Promise<unknown>;
}

interface Query {
  orderBy(field: keyof Item, direction?: "asc" | "desc"): Query;
  limit(count: number): Query;
  run(): readonly Item[];
  subscribe(
    hear: (change: { readonly rows: readonly Item[] }) => void,
  ): Subscription;
}

interface Subscription extends Disposable {
  getSnapshot(): readonly Item[];
}

interface Collection {
  create(item: Item): Write;
  createMany(items: readonly Item[]): Write;
  update(id: string, changes: Partial<Item>): Write;
  get(id: string): Item | undefined;
  getMany(ids: readonly string[]): readonly (Item | undefined)[];
  where(condition: Record<string, unknown>): Query;
  count(): number;
  keys(): readonly string[];
  all(): readonly Item[];
}

/** The module, if it has what the bench begins with; the rest shows itself in use. */
function parseModule(module: unknown): SheafModule {
  const candidate = module as Partial<SheafModule>;
  if (
    typeof candidate.openDatabase !== "function" ||
    typeof candidate.defineSchema !== "function"
  ) {
    throw new SyntaxError(
      "mod.ts does not export openDatabase and defineSchema",
    );
  }
  return candidate as SheafModule;
}
