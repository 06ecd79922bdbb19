/**
 * Aggregated queries at work. The aggregates bring this module: what every page
 * loads has `group.ts`.
 *
 * @module
 */

import type { Item } from "../schema/patch.ts";
import { type Aggregate, parseAggregates } from "./aggregate.ts";
import type { QueryEngine } from "./engine.ts";
import {
  type FollowOptions,
  latest,
  signalOf,
  subscriptionTo,
} from "./following.ts";
import { aggregatedItems, Grouping, type GroupRequest } from "./grouping.ts";
import type { Live, LiveChange } from "./live.ts";
import { LiveGroups } from "./live_groups.ts";
import { invalidQuery } from "./parse_where.ts";
import type { Request } from "./plan.ts";
import { type QueryStore, storeOf } from "./store.ts";

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
    options: FollowOptions = {},
  ): Live<Row> {
    const live = this.#live<Row>(signalOf(options));
    live.onChange(callback);
    return live;
  }

  /** The rows now and after every change; a slow consumer skips those between. */
  live(
    options: FollowOptions = {},
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
