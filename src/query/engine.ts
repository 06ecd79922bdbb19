/**
 * One collection's query engine: its indexes, its plans and its live results.
 *
 * Subscribes once to the source. Every transaction first reaches all indexes
 * and all live results, and only then are callbacks called; so whatever a
 * callback reads is up to date, and a write within one is told after it.
 */

import { getOrMake } from "../base/collections.ts";
import { DatabaseError } from "../base/errors.ts";
import type { World } from "../base/world.ts";
import type { FieldKind, Item } from "../schema/patch.ts";
import { Columns } from "./column_scan.ts";
import type { Condition, Fields } from "./condition.ts";
import { type Effort, Executor } from "./execute.ts";
import type { IndexSet, Slices } from "./index_set.ts";
import { lateIndexes } from "./late_indexes.ts";
import {
  helpfulIndex,
  type Plan,
  planIds,
  type Request,
  scanPlan,
} from "./plan.ts";
import { type CostedResult, type Follower, Routes } from "./routes.ts";
import { asRow } from "./rows.ts";
import type { ItemChange, Source } from "../schema/source.ts";

export interface EngineOptions {
  readonly name: string;
  /** Its fields, without `id`. */
  readonly fields: ReadonlyMap<string, FieldKind>;
  /** Declared indexes: fields, in order. */
  readonly indexes: readonly (readonly string[])[];
  /** The engine of another collection of the same repository. */
  readonly related?: (collection: string) => QueryEngine | undefined;
  /** Reference field to collection. */
  readonly refs?: ReadonlyMap<string, string>;
  /** Copies an item's mutable values before it reaches the user. */
  readonly reader?: (item: Item) => Item;
  /** Hears which index would help a slow query; needs `world`. */
  readonly onSlow?: (message: string) => void;
  /**
   * The clock for `onSlow`; the timer of stores that nobody uses, and of slices in
   * which large indexes are built: at once, when there is none.
   */
  readonly world?: Pick<World, "monotonic"> & Partial<Pick<World, "after">>;
  /**
   * Runs a task that calls users' callbacks. Immediately, when absent; an owner
   * of several engines runs it when all of them heard of the transaction.
   */
  readonly deliver?: (task: () => void) => void;
  /** Hears what a callback threw; when absent it is thrown in a microtask. */
  readonly onError?: (error: unknown) => void;
}

/** What keeping one live result up to date has cost while somebody measured. */
export interface FollowerCost {
  readonly result: CostedResult;
  /** Transactions that may have touched it. */
  changes: number;
  lastMs: number;
  totalMs: number;
  maxMs: number;
}

/** A query that takes longer than this, in milliseconds, is worth a hint. */
const slowMs = 16;
const slowHintsMax = 100;
/** Among so few items nobody fetches code to find some by their ids' order. */
const fewCount = 1_024;

function hasTimer(world: EngineOptions["world"]): world is Slices {
  return world?.after !== undefined;
}

function readsIds({ parts, order, limit }: Request): boolean {
  if (parts.some((one) => "field" in one && one.field === "id")) return true;
  return parts.length === 0 && limit < Infinity &&
    (order.length === 0 || order[0]!.field === "id");
}

export class QueryEngine {
  readonly name: string;
  /** Fields with `id`. */
  readonly fields: Fields;
  readonly source: Source;
  readonly options: EngineOptions;
  /** Once there is something to plan by. */
  #indexes: IndexSet | undefined;
  readonly #executor: Executor;
  readonly #routes = new Routes();
  /** Stores in use, by what they ask for. */
  readonly stores: Map<string, object> = new Map();
  /** Live results in use, by what they ask for. */
  readonly results: Map<string, object> = new Map();
  readonly #predicates = new WeakMap<object, Condition>();
  /** Set once there is something to keep up to date: an index or a live result. */
  #unsubscribe: (() => void) | undefined;
  readonly #hinted = new Set<string>();
  readonly #tasks: (() => void)[] = [];
  /** Tasks of the transaction that is being told, and whose turn they wait for. */
  #absorbed: [turn: number, task: () => void][] = [];
  #turn = 0;
  /** Present while somebody measures. */
  #costs: WeakMap<Follower, FollowerCost> | undefined;
  #absorbing = false;
  #delivering = false;
  #disposed = false;

  constructor(source: Source, options: EngineOptions) {
    this.source = source;
    this.options = options;
    this.name = options.name;
    this.fields = new Map([...options.fields, ["id", "string"]]);
    const columns = new Columns(source);
    this.#executor = new Executor(source, columns, this.fields);
  }

  #listen(): void {
    this.#unsubscribe ??= this.source.subscribe((changes) =>
      this.#hear(changes)
    );
  }

  /** Changes whenever cached plans go stale. */
  get epoch(): number {
    return this.#indexes?.epoch ?? 0;
  }

  /** A user's function as a condition: it sees rows as the user does. The same for the same function. */
  predicate<Row>(test: (row: Row) => boolean): Condition {
    return getOrMake(this.#predicates, test, () => ({
      what: "predicate",
      test: (item) => test(asRow<Row>(this.read(item))) === true,
    }));
  }

  /** An item as users may have it. */
  read(item: Item): Item {
    const { reader } = this.options;
    return reader === undefined ? item : reader(item);
  }

  get followers(): number {
    return this.#routes.size;
  }

  plan(request: Request): Plan {
    this.#assertOpen();
    return planIds(request.parts) ?? this.#planIndex(request) ?? scanPlan;
  }

  #planIndex(request: Request): Plan | undefined {
    const { indexes, world } = this.options;
    if (this.#indexes === undefined) {
      if (!lateIndexes.isLoaded) {
        const isLarge = this.source.count > fewCount;
        const isWanted = indexes.length > 0 || isLarge && readsIds(request);
        if (isWanted) lateIndexes.load().catch(() => {});
        return undefined;
      }
      this.#indexes = new lateIndexes.code.IndexSet(
        indexes,
        this.fields,
        this.source,
        () => this.#listen(),
        hasTimer(world) ? world : undefined,
      );
    }
    return this.#indexes.plan(request);
  }

  run(request: Request, plan: Plan): Item[] {
    this.#assertOpen();
    const { onSlow, world } = this.options;
    if (onSlow === undefined || world === undefined) {
      return this.#executor.run(request, plan);
    }
    const start = world.monotonic();
    const items = this.#executor.run(request, plan);
    const tookMs = world.monotonic() - start;
    if (tookMs >= slowMs) this.#hintAbout(request, tookMs, onSlow);
    return items;
  }

  /** Items that satisfy a request's conditions, whatever its limit, in no order. */
  collect(request: Request): Item[] {
    return this.#executor.collect(request, this.plan(request));
  }

  count(request: Request, plan: Plan): number {
    this.#assertOpen();
    return this.#executor.count(request, plan);
  }

  /** What the last run or count read. */
  get effort(): Readonly<Effort> {
    return this.#executor.effort;
  }

  #hintAbout(
    request: Request,
    tookMs: number,
    onSlow: (message: string) => void,
  ): void {
    const helpful = helpfulIndex(request);
    if (helpful === undefined || this.#hinted.size >= slowHintsMax) return;
    const name = helpful.fields.join(", ");
    if (this.#hinted.has(name) || this.isDeclared(helpful.fields)) return;
    this.#hinted.add(name);
    onSlow(
      `A query on '${this.name}' took ${tookMs.toFixed(1)} ms; ` +
        `an index on [${name}] would help it`,
    );
  }

  isDeclared(fields: readonly string[]): boolean {
    return [...this.options.indexes, ["id"]].some((index) =>
      fields.every((field, at) => index[at] === field)
    );
  }

  /** Follows the collection until the result is called. */
  follow(follower: Follower): () => void {
    this.#assertOpen();
    this.#listen();
    return this.#routes.add(follower);
  }

  #hear(changes: readonly ItemChange[]): void {
    // What is true now, rather than what was told: news may come late.
    const ordinals = changes.map(({ ordinal }) => ordinal);
    this.#indexes?.update(ordinals);
    this.#absorbing = true;
    this.#routes.tell(ordinals, this.source, (follower, some) => {
      this.attempt(() => this.#absorb(follower, some));
    });
    this.#absorbing = false;
    for (const [, task] of this.#absorbed.sort(([a], [b]) => a - b)) {
      this.#tasks.push(task);
    }
    this.#absorbed = [];
    this.#deliver();
  }

  #absorb(follower: Follower, ordinals: readonly number[]): void {
    const cost = this.#costs && this.#costOf(follower);
    if (cost === undefined) return follower.absorb(ordinals);
    const start = this.options.world!.monotonic();
    follower.absorb(ordinals);
    cost.lastMs = this.options.world!.monotonic() - start;
    cost.changes++;
    cost.totalMs += cost.lastMs;
    cost.maxMs = Math.max(cost.maxMs, cost.lastMs);
  }

  #costOf(follower: Follower): FollowerCost | undefined {
    const { about } = follower;
    if (about === undefined) return undefined;
    const none = { changes: 0, lastMs: 0, totalMs: 0, maxMs: 0 };
    return getOrMake(
      this.#costs!,
      follower,
      () => ({ result: about, ...none }),
    );
  }

  /** Measures what live results cost from now on, or no more. */
  measure(isOn: boolean): void {
    const canMeasure = isOn && this.options.world !== undefined;
    this.#costs = canMeasure ? new WeakMap() : undefined;
  }

  costs(): FollowerCost[] {
    if (this.#costs === undefined) return [];
    return this.#routes.followers().flatMap((one) => this.#costOf(one) ?? []);
  }

  /** Callbacks of one transaction are called in the order in which turns were taken. */
  nextTurn(): number {
    return this.#turn++;
  }

  /** Puts a call of a user's callback behind those that wait already. */
  tell(task: () => void, turn: number = this.nextTurn()): void {
    if (this.#absorbing) {
      this.#absorbed.push([turn, task]);
      return;
    }
    // Rows may also change because a related collection did.
    this.#tasks.push(task);
    this.#deliver();
  }

  #deliver(): void {
    if (this.#tasks.length === 0 || this.#delivering) return;
    const { deliver } = this.options;
    if (deliver === undefined) this.#drain();
    else deliver(() => this.#drain());
  }

  #drain(): void {
    if (this.#delivering) return;
    this.#delivering = true;
    try {
      for (
        let task = this.#tasks.shift();
        task !== undefined;
        task = this.#tasks.shift()
      ) this.attempt(task);
    } finally {
      this.#delivering = false;
    }
  }

  /** One callback that throws must not keep the others from hearing. */
  attempt(task: () => void): void {
    try {
      task();
    } catch (error) {
      this.report(error);
    }
  }

  /** Tells of what a user's function threw, past whoever wrote just now. */
  report(error: unknown): void {
    const { onError } = this.options;
    if (onError !== undefined) {
      onError(error);
      return;
    }
    queueMicrotask(() => {
      throw error;
    });
  }

  dispose(): void {
    if (this.#disposed) return;
    this.#disposed = true;
    this.#unsubscribe?.();
    this.#indexes?.close();
    this.source.leaveOrders?.();
    for (const follower of this.#routes.followers()) follower.end();
    this.#routes.clear();
    this.stores.clear();
    this.results.clear();
    this.#tasks.length = 0;
  }

  #assertOpen(): void {
    if (!this.#disposed) return;
    throw new DatabaseError(
      "closed",
      `Cannot query '${this.name}': its repository is closed`,
    );
  }
}
