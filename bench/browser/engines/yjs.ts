/**
 * Yjs with y-indexeddb: one map of items, each a map of its own, so that fields
 * merge. It has no queries: an answer is a walk over all items.
 *
 * @module
 */

import type { Item } from "../../harness/items.ts";
import { type PageEngine, pageLimit } from "../engine.ts";

interface YMap<T> {
  get(key: string): T | undefined;
  set(key: string, value: T): void;
  forEach(visit: (value: T, key: string) => void): void;
  observeDeep(listener: () => void): void;
  unobserveDeep(listener: () => void): void;
}

interface Doc {
  getMap<T>(name: string): YMap<T>;
  transact(actions: () => void): void;
}

interface Provider {
  readonly whenSynced: Promise<unknown>;
  readonly db: {
    transaction(
      store: string,
      mode: "readwrite",
      options: { durability: "strict" },
    ): {
      objectStore(name: string): { count(): unknown };
      oncomplete: (() => void) | null;
    };
  };
  destroy(): Promise<void>;
}

type Fields = YMap<unknown>;

/** What is used of the packages. */
export interface YjsPackage {
  readonly Doc: new () => Doc;
  readonly Map: new (entries: Iterable<[string, unknown]>) => Fields;
  readonly IndexeddbPersistence: new (name: string, doc: Doc) => Provider;
}

/** Yjs. */
export function yjsEngine(yjs: YjsPackage): PageEngine {
  return new YjsEngine(yjs);
}

class YjsEngine implements PageEngine {
  readonly #yjs: YjsPackage;
  readonly #doc: Doc;
  readonly #items: YMap<Fields>;
  #provider: Provider | undefined;

  constructor(yjs: YjsPackage) {
    this.#yjs = yjs;
    this.#doc = new yjs.Doc();
    this.#items = this.#doc.getMap("item");
  }

  async open(): Promise<undefined> {
    const { IndexeddbPersistence } = this.#yjs;
    this.#provider = new IndexeddbPersistence("bench", this.#doc);
    await this.#provider.whenSynced;
  }

  async close(): Promise<void> {
    await this.#provider?.destroy();
  }

  /** The provider says nothing of its writes; a strict one behind them does. */
  async #durable(): Promise<void> {
    const transaction = this.#provider?.db.transaction("updates", "readwrite", {
      durability: "strict",
    });
    if (transaction === undefined) throw new Error("not open");
    transaction.objectStore("updates").count();
    await new Promise<void>((resolve) => {
      transaction.oncomplete = () => resolve();
    });
  }

  async createMany(items: readonly Item[]): Promise<void> {
    this.#doc.transact(() => items.forEach((item) => this.createSoon(item)));
    await this.#durable();
  }

  async create(item: Item): Promise<void> {
    this.createSoon(item);
    await this.#durable();
  }

  createSoon({ id, ...fields }: Item): void {
    this.#items.set(id, new this.#yjs.Map(Object.entries(fields)));
  }

  #itemOf(id: string, fields: Fields): Item {
    const item: Record<string, unknown> = { id };
    fields.forEach((value, name) => item[name] = value);
    // The fields are those of `createSoon`.
    return item as unknown as Item;
  }

  get(id: string): Item | undefined {
    const fields = this.#items.get(id);
    return fields && this.#itemOf(id, fields);
  }

  open50(author: string): Item[] {
    const found: [rank: number, id: string, fields: Fields][] = [];
    this.#items.forEach((fields, id) => {
      if (fields.get("author") !== author || fields.get("done") !== false) {
        return;
      }
      found.push([Number(fields.get("rank")), id, fields]);
    });
    return found.sort(([left], [right]) => left - right).slice(0, pageLimit)
      .map(([, id, fields]) => this.#itemOf(id, fields));
  }

  move(id: string, rank: number): void {
    this.#items.get(id)?.set("rank", rank);
  }

  watch(
    author: string,
    listener: (items: readonly Item[]) => void,
  ): () => void {
    const ask = () => listener(this.open50(author));
    this.#items.observeDeep(ask);
    return () => this.#items.unobserveDeep(ask);
  }
}
