/**
 * Sheaf behind the bench's interface: the only file here that knows its API.
 *
 * The module is loaded when asked for, so that SQLite's processes do without.
 *
 * @module
 */

import type {
  Collection,
  Database as SheafHandle,
  Repository,
} from "../../mod.ts";
import type { Database, Done, Engine, Live, Mode, Shape } from "./engine.ts";
import { type Change, indexes, type Item } from "../harness/items.ts";

type Sheaf = typeof import("../../mod.ts");
type ItemSchema = ReturnType<typeof itemSchema>;
type Items = Collection<ItemSchema>;
type Subscription = ReturnType<
  ReturnType<Items["where"]>["subscribe"]
>;

const sources = new URL("../../mod.ts", import.meta.url).href;

/** Loads Sheaf, to be opened in `mode`: its module is `core`. */
export async function sheafEngine(
  mode: Mode,
  core: string = sources,
): Promise<Engine> {
  // Where the address stood here, Deno would read the sources for every core.
  const sheaf: Sheaf = await import(core);
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
      return new SheafDatabase(handle, repository, schema);
    },
  };
}

/** The same fields as SQLite's columns; history is always kept. */
function itemSchema({ defineSchema, field }: Sheaf, isIndexed: boolean) {
  return defineSchema("item", {
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
  #handle: SheafHandle;
  #repository: Repository;
  #schema: ItemSchema;
  #items: Items;

  constructor(handle: SheafHandle, repository: Repository, schema: ItemSchema) {
    this.#handle = handle;
    this.#repository = repository;
    this.#schema = schema;
    this.#items = repository.collection(schema);
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
  readonly countsWrite = true;
  #items: Items;
  #rows: readonly Item[];
  #subscription: Subscription;
  #durable: Done;
  #wakes: (() => void)[] = [];
  #isHeard = false;

  constructor(items: Items, from: number, to: number) {
    this.#items = items;
    const query = items.where({ rank: { gte: from, lt: to } }).orderBy("rank");
    this.#subscription = query.subscribe((change) => {
      this.#rows = change.rows;
      this.#isHeard = true;
      for (const wake of this.#wakes.splice(0)) wake();
    });
    this.#rows = this.#subscription.getSnapshot();
  }

  before(): Done {
    return undefined;
  }

  update(change: Change): Done {
    this.#isHeard = false;
    this.#durable =
      this.#items.update(change.id, { done: change.done, rank: change.rank })
        .durable;
    if (this.#isHeard) return undefined;
    return new Promise<void>((resolve) => this.#wakes.push(resolve));
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
