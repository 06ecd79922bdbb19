/**
 * Aggregated queries at work. The aggregates bring this module: what every page
 * loads has `group.ts`.
 */

import { refuseOptions } from "../base/known_options.ts";
import type { Item } from "../schema/patch.ts";
import { type Aggregate, parseAggregates } from "./aggregate.ts";
import type { QueryEngine } from "./engine.ts";
import {
  Following,
  type FollowOptions,
  guarded,
  latest,
  signalOf,
  subscriptionTo,
} from "./following.ts";
import {
  aggregatedItems,
  type Group,
  Grouping,
  type GroupRequest,
} from "./grouping.ts";
import { frozen, type Live, type LiveChange } from "./live.ts";
import { invalidQuery } from "./parse_where.ts";
import type { Request } from "./plan.ts";
import { type QueryStore, storeOf } from "./store.ts";
import { compileItemTests, type ItemTest } from "./item_check.ts";
import { Held, interestOf } from "./interest.ts";
import type { RowAt, RowChanged } from "./live_change.ts";
import { asRows } from "./rows.ts";
import { sameScalar } from "./value.ts";

/** Checks aggregates over groups by `fields`, and makes the query for them. */
export function groupedQuery<Result, Row>(
  engine: QueryEngine,
  request: Request,
  fields: readonly string[],
  spec: object,
  finish: (rows: readonly Item[]) => Result,
): GroupedQuery<Result, Row> {
  const terms = parseAggregates(engine, spec);
  const clash = terms.find((term) => fields.includes(term.name));
  if (clash !== undefined) {
    throw invalidQuery(`Cannot aggregate: '${clash.name}' names a group field`);
  }
  return new GroupedQuery(engine, request, { fields, terms }, finish);
}

/** An aggregated query. `Result` is what it gives: rows, or one row over all. */
export class GroupedQuery<Result, Row> implements PromiseLike<Result> {
  readonly #engine: QueryEngine;
  readonly #request: Request;
  readonly #groups: GroupRequest;
  readonly #finish: (rows: readonly Item[]) => Result;

  /** Made by `aggregate`, not by users. */
  constructor(
    engine: QueryEngine,
    request: Request,
    groups: GroupRequest,
    finish: (rows: readonly Item[]) => Result,
  ) {
    refuseOptions(this);
    this.#engine = engine;
    this.#request = request;
    this.#groups = groups;
    this.#finish = finish;
  }

  /** The result, now. */
  run(): Result {
    const { fields } = this.#groups;
    const grouping = new Grouping(this.#groups, this.#engine.fields);
    for (const item of aggregatedItems(this.#engine, this.#request)) {
      grouping.groupOf(item).add(item);
    }
    return this.#finish(grouping.sorted().map((group) => group.toRow(fields)));
  }

  /** Runs the query; so `await query` gives its result. */
  then<A = Result, B = never>(
    resolve?: ((result: Result) => A | PromiseLike<A>) | null,
    reject?: ((reason: unknown) => B | PromiseLike<B>) | null,
  ): Promise<A | B> {
    return new Promise<Result>((done) => done(this.run())).then(
      resolve,
      reject,
    );
  }

  /** Calls back after every transaction that changed the rows, once each. */
  subscribe(
    callback: (change: LiveChange<Row>) => void,
    options?: FollowOptions,
  ): Live<Row> {
    const live = this.#live<Row>(signalOf(options));
    live.onChange(callback);
    return live;
  }

  /** The rows now and after every change; a slow consumer skips those between. */
  live(
    options?: FollowOptions,
  ): AsyncIterable<readonly Row[]> {
    const signal = signalOf(options);
    return latest(() => this.#live<Row>(signal), signal);
  }

  /** The result as a store for views; as `store` of a query. */
  store(): QueryStore<Result> {
    const asked = [this.#request, this.#groups];
    return storeOf(this.#engine, asked, () => {
      const live = this.#live<Item>(undefined);
      return { live, read: () => this.#finish(live.getSnapshot()) };
    });
  }

  /** Rows are items to who finishes them, and `Row` to who subscribes. */
  #live<R>(signal: AbortSignal | undefined): Live<R> {
    const make = () =>
      new LiveGroups<R>(this.#engine, this.#request, this.#groups);
    const asked = [this.#request, this.#groups];
    return subscriptionTo(this.#engine, asked, make, signal);
  }
}

/** How many rows. */
export function count(): Aggregate<"count", ""> {
  return { what: "count", field: "", by: groupedQuery };
}

/** The sum of a field; 0 without rows. */
export function sum<F extends string>(field: F): Aggregate<"sum", F> {
  return { what: "sum", field, by: groupedQuery };
}

/** The average of a field; `undefined` when no row has it. */
export function avg<F extends string>(field: F): Aggregate<"avg", F> {
  return { what: "avg", field, by: groupedQuery };
}

/** The least value of a field; `undefined` when no row has it. */
export function min<F extends string>(field: F): Aggregate<"min", F> {
  return { what: "min", field, by: groupedQuery };
}

/** The greatest value of a field; `undefined` when no row has it. */
export function max<F extends string>(field: F): Aggregate<"max", F> {
  return { what: "max", field, by: groupedQuery };
}

interface Member {
  readonly item: Item;
  readonly group: Group;
}

/**
 * The rows of a live aggregated query, for all who ask the same: only the groups
 * that a transaction touched are worked out again. With a limit, an offset or a
 * cursor, items enter and leave by what happens to others, so there the
 * membership is found anew by running the query.
 */
class LiveGroups<Row> extends Following<readonly Row[], LiveChange<Row>> {
  readonly #engine: QueryEngine;
  readonly #request: Request;
  readonly #grouping: Grouping;
  readonly #test: ItemTest;
  readonly #members = new Held<Member>();
  readonly #isWhole: boolean;
  #groups: Group[] = [];
  #list: Item[] = [];
  #snapshot: readonly Row[] | undefined;

  constructor(engine: QueryEngine, asked: Request, groups: GroupRequest) {
    super(engine, asked);
    const request = guarded(engine, asked);
    this.#engine = engine;
    this.#request = request;
    this.#grouping = new Grouping(groups, engine.fields);
    this.#test = compileItemTests(request.parts) ?? (() => true);
    this.#isWhole = request.offset === 0 && request.limit === Infinity &&
      request.after === undefined;
    for (const item of aggregatedItems(engine, request)) {
      this.#enter(engine.source.ordinalOf(item.id), item);
    }
    this.#groups = this.#grouping.sorted();
    this.#list = this.#groups.map((group) => group.toRow(groups.fields));
    // Who leaves before the offset is no member, and makes others members.
    const interest = request.offset === 0
      ? interestOf(engine.source, request, this.#members)
      : undefined;
    this.follow(engine, (ordinals) => this.#absorb(ordinals), interest);
  }

  /** The rows now: the same frozen array until something visible changes. */
  override readonly getSnapshot = (): readonly Row[] => {
    this.#snapshot ??= Object.freeze(asRows<Row>(this.#list.slice()));
    return this.#snapshot;
  };

  #enter(ordinal: number, item: Item): Group {
    const group = this.#grouping.groupOf(item);
    group.add(item);
    group.members.set(ordinal, item);
    this.#members.set(ordinal, { item, group });
    return group;
  }

  #leave(ordinal: number, { item, group }: Member): Group {
    group.members.delete(ordinal);
    group.remove(item);
    this.#members.delete(ordinal);
    return group;
  }

  #absorb(ordinals: readonly number[]): void {
    const touched = new Set<Group>();
    if (this.#isWhole) {
      for (const ordinal of ordinals) {
        const item = this.#engine.source.itemAt(ordinal);
        const wanted = item !== undefined && this.#test(item);
        this.#settle(touched, ordinal, wanted ? item : undefined);
      }
    } else this.#absorbAnew(touched);
    if (touched.size > 0) this.#show(touched);
  }

  #absorbAnew(touched: Set<Group>): void {
    const wanted = new Map<number, Item>();
    for (const item of aggregatedItems(this.#engine, this.#request)) {
      wanted.set(this.#engine.source.ordinalOf(item.id), item);
    }
    for (const ordinal of [...this.#members.keys()]) {
      if (!wanted.has(ordinal)) this.#settle(touched, ordinal, undefined);
    }
    for (const [ordinal, item] of wanted) this.#settle(touched, ordinal, item);
  }

  #settle(touched: Set<Group>, ordinal: number, item: Item | undefined): void {
    const member = this.#members.get(ordinal);
    if (member?.item === item) return;
    if (member !== undefined) touched.add(this.#leave(ordinal, member));
    if (item !== undefined) touched.add(this.#enter(ordinal, item));
  }

  #show(touched: ReadonlySet<Group>): void {
    const { fields } = this.#grouping.request;
    for (const group of touched) this.#grouping.drop(group);
    const before = this.#list;
    const places = new Map(this.#groups.map((group, at) => [group, at]));
    this.#groups = this.#grouping.sorted();
    const added: RowAt<Item>[] = [];
    const changed: RowChanged<Item>[] = [];
    this.#list = this.#groups.map((group, index) => {
      const at = places.get(group);
      places.delete(group);
      const old = at === undefined ? undefined : before[at]!;
      if (old !== undefined && !touched.has(group)) return old;
      const row = group.toRow(fields);
      if (old === undefined) added.push({ row, index });
      else if (sameRow(row, old)) return old;
      else changed.push({ row, index, before: old });
      return row;
    });
    const removed = [...places.values()].sort((a, b) => a - b)
      .map((index): RowAt<Item> => ({ row: before[index]!, index }));
    if (added.length + removed.length + changed.length === 0) return;
    this.#snapshot = undefined;
    const changes = { added, removed, moved: [], changed };
    this.publish(frozen<Row>(changes, this.getSnapshot()));
  }
}

function sameRow(a: Item, b: Item): boolean {
  return Object.keys(a).every((name) => sameValue(a[name], b[name]));
}

function sameValue(a: Item[string], b: Item[string]): boolean {
  return Object.is(a, b) || sameScalar(a, b);
}
