/**
 * Sheaf in a page: its worker, OPFS, one repository.
 *
 * @module
 */

import type { Collection, Database, Query, Repository } from "../../../mod.ts";
import { indexes, type Item } from "../../harness/items.ts";
import { type PageEngine, pageLimit } from "../engine.ts";

type Sheaf = Pick<typeof import("../../../mod.ts"), "defineSchema" | "field">;

/** What is used of the package. */
export interface SheafPackage extends Sheaf {
  openDatabase(options: {
    readonly name: string;
    readonly worker: () => Worker;
    readonly schemas: readonly ReturnType<typeof itemSchema>[];
    readonly user: string;
  }): Promise<Database>;
}

function itemSchema({ defineSchema, field }: Sheaf) {
  return defineSchema("item", {
    title: field.string(),
    done: field.boolean(),
    rank: field.number(),
    tags: field.set(field.string()),
    createdAt: field.number(),
    author: field.string(),
    body: field.string(),
  }, { indexes });
}

/** The platform, as far as Deno's types lack it. */
const { navigator: { locks } } = globalThis as unknown as {
  navigator: {
    locks: { request(name: string, held: () => void): Promise<void> };
  };
};

/** Sheaf. */
export function sheafEngine(sheaf: SheafPackage): PageEngine {
  return new SheafEngine(sheaf);
}

class SheafEngine implements PageEngine {
  readonly #sheaf: SheafPackage;
  readonly #schema: ReturnType<typeof itemSchema>;
  #database: Database | undefined;
  #repository: Repository | undefined;

  constructor(sheaf: SheafPackage) {
    this.#sheaf = sheaf;
    this.#schema = itemSchema(sheaf);
  }

  get #items(): Collection<ReturnType<typeof itemSchema>> {
    if (this.#repository === undefined) throw new Error("not open");
    return this.#repository.collection(this.#schema);
  }

  async open(): Promise<number> {
    let up = 0;
    this.#database = await this.#sheaf.openDatabase({
      name: "bench",
      worker() {
        const url = "/sheaf_worker.js";
        const worker = new Worker(url, { type: "module" });
        // It says so itself when its script has run.
        const started = () => up = performance.now();
        worker.addEventListener("message", started, { once: true });
        return worker;
      },
      schemas: [this.#schema],
      user: "bench",
    });
    this.#repository = await this.#database.repository("bench");
    return up;
  }

  async close(): Promise<void> {
    await this.#database?.close();
    // The worker writes its checkpoint and gives the files back.
    await locks.request("sheaf:bench", () => {});
  }

  async createMany(items: readonly Item[]): Promise<void> {
    await this.#items.createMany(items).durable;
  }

  async create(item: Item): Promise<void> {
    await this.#items.create(item).durable;
  }

  createSoon(item: Item): void {
    this.#items.create(item);
  }

  get(id: string): Item | undefined {
    return this.#items.get(id);
  }

  #open50(author: string): Query<Item> {
    return this.#items.where({ author, done: false }).orderBy("rank")
      .limit(pageLimit);
  }

  open50(author: string): readonly Item[] {
    return this.#open50(author).run();
  }

  move(id: string, rank: number): void {
    this.#items.update(id, { rank });
  }

  watch(
    author: string,
    listener: (items: readonly Item[]) => void,
  ): () => void {
    const live = this.#open50(author).subscribe(({ rows }) => listener(rows));
    return () => live[Symbol.dispose]();
  }
}
