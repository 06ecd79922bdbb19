/**
 * Raw IndexedDB, as one would tune it: a compound index, `getAll` of one range,
 * one transaction for many writes, strict durability where durability is asked.
 *
 * It has no live queries: who changes something asks again.
 *
 * @module
 */

import type { Item } from "../../harness/items.ts";
import {
  fromStored,
  type PageEngine,
  pageLimit,
  type Stored,
  toStored,
} from "../engine.ts";

interface Request<T> {
  readonly result: T;
  readonly error: unknown;
  onsuccess: (() => void) | null;
  onerror: (() => void) | null;
}

interface Store {
  put(value: Stored): Request<unknown>;
  get(id: string): Request<Stored | undefined>;
  index(name: string): {
    getAll(range: unknown, count: number): Request<Stored[]>;
  };
  createIndex(name: string, path: readonly string[]): void;
}

interface Transaction {
  objectStore(name: string): Store;
  oncomplete: (() => void) | null;
  onabort: (() => void) | null;
  readonly error: unknown;
}

interface Database {
  createObjectStore(name: string, options: { keyPath: string }): Store;
  transaction(
    name: string,
    mode: "readonly" | "readwrite",
    options?: { durability: "strict" | "relaxed" },
  ): Transaction;
  close(): void;
}

interface Platform {
  readonly indexedDB: {
    open(
      name: string,
      version: number,
    ): Request<Database> & { onupgradeneeded: (() => void) | null };
  };
  readonly IDBKeyRange: { bound(from: unknown, to: unknown): unknown };
}

const { indexedDB, IDBKeyRange } = globalThis as unknown as Platform;

function answerOf<T>(request: Request<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
}

function completed(transaction: Transaction): Promise<void> {
  return new Promise((resolve, reject) => {
    transaction.oncomplete = () => resolve();
    transaction.onabort = () => reject(transaction.error);
  });
}

/** Raw IndexedDB. */
export function indexedDbEngine(): PageEngine {
  return new IndexedDbEngine();
}

class IndexedDbEngine implements PageEngine {
  #database: Database | undefined;
  readonly #watchers = new Set<() => void>();

  get #opened(): Database {
    if (this.#database === undefined) throw new Error("not open");
    return this.#database;
  }

  async open(): Promise<undefined> {
    const request = indexedDB.open("bench", 1);
    request.onupgradeneeded = () => {
      const store = request.result.createObjectStore("item", { keyPath: "id" });
      store.createIndex("open", ["author", "done", "rank"]);
    };
    this.#database = await answerOf(request);
  }

  close(): void {
    this.#opened.close();
  }

  createMany(items: readonly Item[]): Promise<void> {
    return this.#write(items, "strict");
  }

  create(item: Item): Promise<void> {
    return this.#write([item], "strict");
  }

  createSoon(item: Item): Promise<void> {
    return this.#write([item], "relaxed");
  }

  async #write(
    items: readonly Item[],
    durability: "strict" | "relaxed",
  ): Promise<void> {
    const options = { durability };
    const transaction = this.#opened.transaction("item", "readwrite", options);
    const store = transaction.objectStore("item");
    for (const item of items) store.put(toStored(item));
    await completed(transaction);
  }

  #read(): Store {
    return this.#opened.transaction("item", "readonly").objectStore("item");
  }

  async get(id: string): Promise<Item | undefined> {
    const stored = await answerOf(this.#read().get(id));
    return stored && fromStored(stored);
  }

  async open50(author: string): Promise<Item[]> {
    const range = IDBKeyRange.bound([author, 0], [author, 0, []]);
    const index = this.#read().index("open");
    return (await answerOf(index.getAll(range, pageLimit))).map(fromStored);
  }

  async move(id: string, rank: number): Promise<void> {
    const options = { durability: "relaxed" } as const;
    const transaction = this.#opened.transaction("item", "readwrite", options);
    const store = transaction.objectStore("item");
    const stored = await answerOf(store.get(id));
    if (stored !== undefined) store.put({ ...stored, rank });
    await completed(transaction);
    for (const watcher of this.#watchers) watcher();
  }

  watch(
    author: string,
    listener: (items: readonly Item[]) => void,
  ): () => void {
    const ask = () => void this.open50(author).then(listener);
    this.#watchers.add(ask);
    ask();
    return () => this.#watchers.delete(ask);
  }
}
