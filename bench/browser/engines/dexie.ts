/**
 * Dexie: a compound index, `bulkPut`, `liveQuery`; two handles of one database,
 * since durability is a setting of the handle.
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

interface Table {
  bulkPut(items: readonly Stored[]): Promise<unknown>;
  put(item: Stored): Promise<unknown>;
  get(id: string): Promise<Stored | undefined>;
  update(id: string, changes: Partial<Stored>): Promise<number>;
  where(index: string): {
    between(from: unknown, to: unknown): {
      limit(count: number): { toArray(): Promise<Stored[]> };
    };
  };
}

interface Handle {
  version(number: number): { stores(schema: Record<string, string>): void };
  open(): Promise<unknown>;
  close(): void;
  table(name: string): Table;
}

/** What is used of the package. */
export interface DexiePackage {
  readonly Dexie: {
    new (
      name: string,
      options: { chromeTransactionDurability: "strict" | "relaxed" },
    ): Handle;
    readonly maxKey: unknown;
    readonly minKey: unknown;
  };
  liveQuery<T>(ask: () => Promise<T>): {
    subscribe(listener: (value: T) => void): { unsubscribe(): void };
  };
}

/** Dexie. */
export function dexieEngine(dexie: DexiePackage): PageEngine {
  return new DexieEngine(dexie);
}

class DexieEngine implements PageEngine {
  readonly #dexie: DexiePackage;
  readonly #strict: Handle;
  readonly #relaxed: Handle;
  readonly #table: Table;

  constructor(dexie: DexiePackage) {
    this.#dexie = dexie;
    this.#strict = this.#handle("strict");
    this.#relaxed = this.#handle("relaxed");
    this.#table = this.#relaxed.table("item");
  }

  #handle(chromeTransactionDurability: "strict" | "relaxed"): Handle {
    const handle = new this.#dexie.Dexie("bench", {
      chromeTransactionDurability,
    });
    handle.version(1).stores({ item: "id, [author+done+rank]" });
    return handle;
  }

  /** The handle for durable writes opens itself when it is first used. */
  async open(): Promise<undefined> {
    await this.#relaxed.open();
  }

  close(): void {
    this.#relaxed.close();
    this.#strict.close();
  }

  async createMany(items: readonly Item[]): Promise<void> {
    await this.#strict.table("item").bulkPut(items.map(toStored));
  }

  async create(item: Item): Promise<void> {
    await this.#strict.table("item").put(toStored(item));
  }

  async createSoon(item: Item): Promise<void> {
    await this.#table.put(toStored(item));
  }

  async get(id: string): Promise<Item | undefined> {
    const stored = await this.#table.get(id);
    return stored && fromStored(stored);
  }

  async open50(author: string): Promise<Item[]> {
    const { minKey, maxKey } = this.#dexie.Dexie;
    const stored = await this.#table.where("[author+done+rank]")
      .between([author, 0, minKey], [author, 0, maxKey])
      .limit(pageLimit).toArray();
    return stored.map(fromStored);
  }

  async move(id: string, rank: number): Promise<void> {
    await this.#table.update(id, { rank });
  }

  watch(
    author: string,
    listener: (items: readonly Item[]) => void,
  ): () => void {
    const live = this.#dexie.liveQuery(() => this.open50(author));
    const subscription = live.subscribe(listener);
    return () => subscription.unsubscribe();
  }
}
