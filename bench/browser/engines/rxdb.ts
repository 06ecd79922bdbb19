/**
 * RxDB over its Dexie storage, which is the free one for browsers, with strict
 * durability handed to Dexie.
 *
 * @module
 */

import type { Item } from "../../harness/items.ts";
import { type PageEngine, pageLimit } from "../engine.ts";

interface Document {
  toJSON(): Item;
  incrementalPatch(changes: Partial<Item>): Promise<unknown>;
}

interface RxQuery<T> {
  exec(): Promise<T>;
  readonly $: {
    subscribe(listener: (value: T) => void): { unsubscribe(): void };
  };
}

interface RxCollection {
  bulkInsert(items: readonly Item[]): Promise<{ error: unknown[] }>;
  insert(item: Item): Promise<unknown>;
  findOne(id: string): RxQuery<Document | null>;
  find(query: unknown): RxQuery<Document[]>;
}

interface Database {
  addCollections(
    collections: Record<string, unknown>,
  ): Promise<{ item: RxCollection }>;
  close(): Promise<unknown>;
}

/** What is used of the package. */
export interface RxdbPackage {
  createRxDatabase(options: unknown): Promise<Database>;
  getRxStorageDexie(settings: unknown): unknown;
}

const schema = {
  version: 0,
  primaryKey: "id",
  type: "object",
  properties: {
    id: { type: "string", maxLength: 22 },
    title: { type: "string" },
    done: { type: "boolean" },
    rank: {
      type: "number",
      minimum: -1_000_000,
      maximum: 2_000_000_000,
      multipleOf: 1,
    },
    tags: { type: "array", items: { type: "string" } },
    createdAt: { type: "number" },
    author: { type: "string", maxLength: 16 },
    body: { type: "string" },
  },
  required: ["id", "done", "rank", "author"],
  indexes: [["author", "done", "rank"]],
};

/** RxDB. */
export function rxdbEngine(rxdb: RxdbPackage): PageEngine {
  return new RxdbEngine(rxdb);
}

class RxdbEngine implements PageEngine {
  readonly #rxdb: RxdbPackage;
  #database: Database | undefined;
  #collection: RxCollection | undefined;

  constructor(rxdb: RxdbPackage) {
    this.#rxdb = rxdb;
  }

  get #items(): RxCollection {
    if (this.#collection === undefined) throw new Error("not open");
    return this.#collection;
  }

  async open(): Promise<undefined> {
    const settings = { chromeTransactionDurability: "strict" };
    this.#database = await this.#rxdb.createRxDatabase({
      name: "bench",
      storage: this.#rxdb.getRxStorageDexie(settings),
      multiInstance: false,
    });
    const added = await this.#database.addCollections({ item: { schema } });
    this.#collection = added.item;
  }

  async close(): Promise<void> {
    await this.#database?.close();
  }

  async createMany(items: readonly Item[]): Promise<void> {
    const { error } = await this.#items.bulkInsert(items);
    if (error.length > 0) throw new Error("RxDB refused items");
  }

  async create(item: Item): Promise<void> {
    await this.#items.insert(item);
  }

  createSoon(item: Item): Promise<void> {
    return this.create(item);
  }

  async get(id: string): Promise<Item | undefined> {
    return (await this.#items.findOne(id).exec())?.toJSON();
  }

  #open50(author: string): RxQuery<Document[]> {
    return this.#items.find({
      selector: { author, done: false },
      sort: [{ rank: "asc" }],
      limit: pageLimit,
    });
  }

  async open50(author: string): Promise<Item[]> {
    return (await this.#open50(author).exec()).map((found) => found.toJSON());
  }

  async move(id: string, rank: number): Promise<void> {
    const found = await this.#items.findOne(id).exec();
    await found?.incrementalPatch({ rank });
  }

  watch(
    author: string,
    listener: (items: readonly Item[]) => void,
  ): () => void {
    const subscription = this.#open50(author).$.subscribe((found) =>
      listener(found.map((document) => document.toJSON()))
    );
    return () => subscription.unsubscribe();
  }
}
