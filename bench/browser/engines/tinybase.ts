/**
 * TinyBase: everything in memory, kept in IndexedDB by its persister, which
 * saves the whole store each time.
 *
 * A cell holds a plain value, so tags are one text.
 *
 * @module
 */

import type { Item } from "../../harness/items.ts";
import { type PageEngine, pageLimit } from "../engine.ts";

type Cells = Record<string, string | number | boolean>;

interface Store {
  setTable(table: string, rows: Record<string, Cells>): Store;
  setRow(table: string, id: string, cells: Cells): Store;
  setCell(table: string, id: string, cell: string, value: number): Store;
  getRow(table: string, id: string): Cells;
  hasRow(table: string, id: string): boolean;
  transaction(actions: () => void): void;
}

interface Queries {
  setQueryDefinition(
    id: string,
    table: string,
    define: (builder: {
      select(cell: string): void;
      where(cell: string, equals: string | boolean): void;
    }) => void,
  ): Queries;
  getResultSortedRowIds(
    id: string,
    cell: string,
    descending: boolean,
    offset: number,
    limit: number,
  ): string[];
  addResultSortedRowIdsListener(
    id: string,
    cell: string,
    descending: boolean,
    offset: number,
    limit: number,
    listener: (
      queries: Queries,
      id: string,
      cell: string,
      descending: boolean,
      offset: number,
      limit: number,
      rows: string[],
    ) => void,
  ): string;
  delListener(id: string): Queries;
}

interface Persister {
  load(): Promise<unknown>;
  save(): Promise<unknown>;
  destroy(): Promise<unknown>;
}

/** What is used of the package. */
export interface TinyBasePackage {
  createStore(): Store;
  createQueries(store: Store): Queries;
  createIndexedDbPersister(store: Store, name: string): Persister;
}

/** TinyBase. */
export function tinyBaseEngine(tinyBase: TinyBasePackage): PageEngine {
  return new TinyBaseEngine(tinyBase);
}

function toCells({ id: _, tags, ...rest }: Item): Cells {
  return { ...rest, tags: tags.join() };
}

class TinyBaseEngine implements PageEngine {
  readonly #store: Store;
  readonly #queries: Queries;
  readonly #persister: Persister;
  readonly #asked = new Set<string>();

  constructor(tinyBase: TinyBasePackage) {
    this.#store = tinyBase.createStore();
    this.#queries = tinyBase.createQueries(this.#store);
    this.#persister = tinyBase.createIndexedDbPersister(this.#store, "bench");
  }

  async open(): Promise<undefined> {
    await this.#persister.load();
  }

  async close(): Promise<void> {
    await this.#persister.destroy();
  }

  async createMany(items: readonly Item[]): Promise<void> {
    this.#store.transaction(() =>
      items.forEach((item) => this.createSoon(item))
    );
    await this.#persister.save();
  }

  async create(item: Item): Promise<void> {
    this.createSoon(item);
    await this.#persister.save();
  }

  createSoon(item: Item): void {
    this.#store.setRow("item", item.id, toCells(item));
  }

  get(id: string): Item | undefined {
    if (!this.#store.hasRow("item", id)) return;
    const { tags, ...rest } = this.#store.getRow("item", id);
    // The cells are those of `toCells`.
    return { ...rest, id, tags: String(tags).split(",") } as unknown as Item;
  }

  #query(author: string): string {
    if (this.#asked.has(author)) return author;
    this.#asked.add(author);
    this.#queries.setQueryDefinition(author, "item", ({ select, where }) => {
      select("rank");
      where("author", author);
      where("done", false);
    });
    return author;
  }

  #items(ids: readonly string[]): Item[] {
    return ids.map((id) => this.get(id)).filter((item) => item !== undefined);
  }

  open50(author: string): Item[] {
    const query = this.#query(author);
    return this.#items(
      this.#queries.getResultSortedRowIds(query, "rank", false, 0, pageLimit),
    );
  }

  move(id: string, rank: number): void {
    this.#store.setCell("item", id, "rank", rank);
  }

  watch(
    author: string,
    listener: (items: readonly Item[]) => void,
  ): () => void {
    const query = this.#query(author);
    const id = this.#queries.addResultSortedRowIdsListener(
      query,
      "rank",
      false,
      0,
      pageLimit,
      (_queries, _id, _cell, _descending, _offset, _limit, rows) =>
        listener(this.#items(rows)),
    );
    return () => this.#queries.delListener(id);
  }
}
