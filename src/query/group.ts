/**
 * Aggregated queries: `groupBy(…).aggregate(…)` and `aggregate(…)` over all.
 *
 * @module
 */

import type { Item } from "../schema/patch.ts";
import {
  type Aggregated,
  type AggregateSpec,
  type AggregateTerm,
  parseAggregates,
} from "./aggregate.ts";
import type { QueryEngine } from "./engine.ts";
import { aggregatedItems, Grouping, type GroupRequest } from "./grouping.ts";
import { latest } from "./latest.ts";
import { LiveGroups } from "./live_groups.ts";
import type { LiveChange } from "./live.ts";
import { invalidQuery } from "./parse_where.ts";
import type { Request } from "./plan.ts";
import { asRow, asRows } from "./rows.ts";
import { type QueryStore, storeOf } from "./store.ts";
import { isOrderable } from "./value.ts";
import type { AnyRow } from "./where.ts";

/** Checks fields to group by. */
export function parseGroupFields(
  engine: QueryEngine,
  fields: readonly string[],
): readonly string[] {
  if (fields.length === 0) {
    throw invalidQuery("Cannot group: no field is given");
  }
  for (const field of fields) {
    const kind = engine.fields.get(field);
    if (kind === undefined || !isOrderable(kind)) {
      throw invalidQuery(`Cannot group by '${String(field)}'`);
    }
  }
  return [...new Set(fields)];
}

/** A query with its group fields, waiting for the aggregates. */
export class GroupBuilder<Base extends AnyRow, F extends keyof Base> {
  readonly #engine: QueryEngine;
  readonly #request: Request;
  readonly #fields: readonly string[];

  /** Made by `groupBy`, not by users. */
  constructor(
    engine: QueryEngine,
    request: Request,
    fields: readonly string[],
  ) {
    this.#engine = engine;
    this.#request = request;
    this.#fields = fields;
  }

  /** One row per group: the group fields and the aggregates. */
  aggregate<const Spec extends AggregateSpec<Base>>(
    spec: Spec,
  ): GroupedQuery<
    (Pick<Base, F> & Aggregated<Base, Spec>)[],
    Pick<Base, F> & Aggregated<Base, Spec>
  > {
    const terms = parseAggregates(this.#engine, spec);
    const clash = terms.find((term) => this.#fields.includes(term.name));
    if (clash !== undefined) {
      throw invalidQuery(
        `Cannot aggregate: '${clash.name}' names a group field`,
      );
    }
    const groups: GroupRequest = { fields: this.#fields, terms };
    return new GroupedQuery(
      this.#engine,
      this.#request,
      groups,
      asRows<Pick<Base, F> & Aggregated<Base, Spec>>,
    );
  }
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

  /** Aggregates over all rows as one group. */
  static overAll<Row>(
    engine: QueryEngine,
    request: Request,
    terms: readonly AggregateTerm[],
  ): GroupedQuery<Row, Row> {
    const groups: GroupRequest = { fields: [], terms };
    return new GroupedQuery(engine, request, groups, (rows) => asRow(rows[0]!));
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
    return Promise.try(() => this.run()).then(resolve, reject);
  }

  /** Calls back after every transaction that changed the rows, once each. */
  subscribe(
    callback: (change: LiveChange<Row>) => void,
    options: { readonly signal?: AbortSignal } = {},
  ): LiveGroups<Row> {
    const live = this.#live(options.signal);
    live.onChange(callback);
    return live;
  }

  /** The rows now and after every change; a slow consumer skips those between. */
  live(
    options: { readonly signal?: AbortSignal } = {},
  ): AsyncIterable<readonly Row[]> {
    return latest(() => this.#live(options.signal), options.signal);
  }

  /** The result as a store for views; as `store` of a query. */
  store(): QueryStore<Result> {
    const asked = [this.#request, this.#groups];
    return storeOf(this.#engine, asked, () => {
      const live = new LiveGroups<Item>(
        this.#engine,
        this.#request,
        this.#groups,
        undefined,
      );
      return { live, read: () => this.#finish(live.getSnapshot()) };
    });
  }

  #live(signal: AbortSignal | undefined): LiveGroups<Row> {
    return new LiveGroups(this.#engine, this.#request, this.#groups, signal);
  }
}
