/**
 * What a user writes: an immutable description of which rows, in which order.
 *
 * Every method gives a new query; nothing is read before `run`, `count`,
 * `await`, iteration or a subscription. A query remembers its plan, so running
 * it again is cheap.
 */

import { refuseOptions } from "../base/known_options.ts";
import type { Item } from "../schema/patch.ts";
import type { Aggregated, AggregateSpec } from "./aggregate.ts";
import type { Condition } from "./condition.ts";
import { decodeCursor, encodeCursor, placeOf } from "./cursor.ts";
import type { QueryEngine } from "./engine.ts";
import { explain, type Explanation } from "./explain.ts";
import { GroupBuilder, overAll, parseGroupFields } from "./group.ts";
import type { GroupedQuery } from "./grouped_query.ts";
import {
  Include,
  type Included,
  type IncludeSpec,
  type IncludeTerm,
  type OnlyRefs,
  originOf,
  parseInclude,
} from "./include.ts";
import {
  type FollowOptions,
  latest,
  signalOf,
  subscriptionTo,
} from "./following.ts";
import { type Live, type LiveChange, LiveRows } from "./live.ts";
import { addTerm, type OrderTerm, type Place } from "./order.ts";
import { invalidQuery, parseWhere } from "./parse_where.ts";
import type { Plan, Request } from "./plan.ts";
import { asRows } from "./rows.ts";
import { type QueryStore, storeOf } from "./store.ts";
import type { AnyRow, Direction, OrderField, Where } from "./where.ts";

interface QueryState {
  readonly parts: readonly Condition[];
  readonly order: readonly OrderTerm[];
  readonly offset: number;
  readonly limit: number;
  /** A cursor, or the row to continue behind. */
  readonly after: string | Item | undefined;
  readonly include: readonly IncludeTerm[];
}

const emptyState: QueryState = {
  parts: [],
  order: [],
  offset: 0,
  limit: Infinity,
  after: undefined,
  include: [],
};

/**
 * A query. `Row` is what it gives; `Base` is the item that conditions and
 * order speak of, before references are followed; `Ref` names the references.
 */
export class Query<
  Row extends AnyRow,
  Base extends AnyRow = Row,
  Ref extends string = keyof Base & string,
> implements PromiseLike<Row[]>, Iterable<Row> {
  readonly #engine: QueryEngine;
  readonly #state: QueryState;
  #request: Request | undefined;
  /** The same, where nobody asked for an order. */
  #free: Request | undefined;
  #plan: Plan | undefined;
  #epoch = -1;

  /** Made by a collection, not by users. */
  constructor(engine: QueryEngine, state: QueryState = emptyState) {
    refuseOptions(this);
    this.#engine = engine;
    this.#state = state;
  }

  #with(change: Partial<QueryState>): Query<Row, Base, Ref> {
    return new Query(this.#engine, { ...this.#state, ...change });
  }

  /** Only rows that satisfy this too: an object of conditions, or a function. */
  where(
    condition: Where<Base> | ((row: Base) => boolean),
  ): Query<Row, Base, Ref> {
    const engine = this.#engine;
    const parts: readonly Condition[] = typeof condition === "function"
      ? [engine.predicate(condition)]
      : parseWhere(condition, engine.fields);
    const before = this.#state.parts;
    return this.#with({
      parts: before.length === 0 ? parts : [...before, ...parts],
    });
  }

  /**
   * Orders by a field, or by several; called again it orders ties. Absent
   * values come first upwards. Rows that still tie are in order of their ids.
   */
  orderBy(
    field: OrderField<Base> | readonly OrderField<Base>[],
    direction: Direction = "asc",
  ): Query<Row, Base, Ref> {
    const fields: readonly unknown[] = Array.isArray(field) ? field : [field];
    let { order } = this.#state;
    for (const one of fields) {
      order = addTerm(order, this.#engine.fields, one, direction);
    }
    return this.#with({ order });
  }

  /** At most this many rows. */
  limit(count: number): Query<Row, Base, Ref> {
    return this.#with({ limit: checkCount(count, "limit") });
  }

  /** Skips this many rows. */
  offset(count: number): Query<Row, Base, Ref> {
    return this.#with({ offset: checkCount(count, "offset") });
  }

  /** Only rows behind this row, or behind where this cursor stands. */
  after(position: string | Row): Query<Row, Base, Ref> {
    const after: unknown = position;
    if (typeof after !== "string" && !isItem(after)) {
      throw invalidQuery("Cannot continue: 'after' takes a row or a cursor");
    }
    return this.#with({ after });
  }

  /** Opaque text for the place of a row in this query's order. */
  cursor(row: Row): string {
    const item: unknown = row;
    if (!isItem(item)) {
      throw invalidQuery("Cannot make a cursor: this is not a row");
    }
    const { order } = this.#asked();
    return encodeCursor(order, originOf(item));
  }

  /** Puts related items in place of their ids. */
  include<const Spec extends IncludeSpec>(
    spec: Spec & OnlyRefs<Spec, Ref>,
  ): Query<Included<Row, Spec> & AnyRow, Base, Ref> {
    const terms = parseInclude(this.#engine, spec);
    const include = [
      ...this.#state.include.filter((old) =>
        !terms.some((term) => term.field === old.field)
      ),
      ...terms,
    ];
    return new Query(this.#engine, { ...this.#state, include });
  }

  /** The rows, now. Without an order, a limit and a place they come as they are found. */
  run(): Row[] {
    const engine = this.#engine;
    const request = this.#asked();
    const plan = this.#planned(request);
    if (!isFree(this.#state)) return this.#rows(engine.run(request, plan));
    this.#free ??= { ...request, isFree: true };
    return this.#rows(engine.run(this.#free, plan));
  }

  /** The first row. */
  first(): Row | undefined {
    return this.#state.limit === 0 ? undefined : this.limit(1).run()[0];
  }

  /** How many rows `run` would give. */
  count(): number {
    const { order: _, ...rest } = this.#asked();
    const request: Request = rest.after === undefined
      ? { ...rest, order: [] }
      : this.#asked();
    const everything = { ...request, offset: 0, limit: Infinity };
    return this.#engine.count(request, this.#engine.plan(everything));
  }

  /** Runs the query; so `await query` gives its rows. */
  then<A = Row[], B = never>(
    resolve?: ((rows: Row[]) => A | PromiseLike<A>) | null,
    reject?: ((reason: unknown) => B | PromiseLike<B>) | null,
  ): Promise<A | B> {
    return new Promise<Row[]>((done) => done(this.run())).then(resolve, reject);
  }

  /** The rows, now. */
  [Symbol.iterator](): IterableIterator<Row> {
    return this.run()[Symbol.iterator]();
  }

  /** Groups rows by fields, to be aggregated. */
  groupBy<const F extends OrderField<Base>>(
    ...fields: F[]
  ): GroupBuilder<Base, F> {
    const checked = parseGroupFields(this.#engine, fields);
    return new GroupBuilder(this.#engine, this.#asked(), checked);
  }

  /** Aggregates over all rows. */
  aggregate<const Spec extends AggregateSpec<Base>>(
    spec: Spec,
  ): GroupedQuery<Aggregated<Base, Spec>, Aggregated<Base, Spec>> {
    return overAll(this.#engine, this.#asked(), spec);
  }

  /**
   * Calls back after every transaction that changed the rows, once each. What a
   * callback throws reaches neither the writer nor the other callbacks.
   */
  subscribe(
    callback: (change: LiveChange<Row>) => void,
    options?: FollowOptions,
  ): Live<Row> {
    const live = this.#live(signalOf(options));
    live.onChange(callback);
    return live;
  }

  /**
   * The rows now and after every change. A slow consumer gets the latest state
   * and skips those between.
   */
  live(options?: FollowOptions): AsyncIterable<readonly Row[]> {
    const signal = signalOf(options);
    return latest(() => this.#live(signal), signal);
  }

  #live(signal: AbortSignal | undefined): Live<Row> {
    const request = this.#asked();
    const make = () =>
      new LiveRows<Row>(this.#engine, request, this.#include());
    const asked = [request, this.#state.include];
    return subscriptionTo(this.#engine, asked, make, signal);
  }

  /**
   * The rows as a store for views. Equal queries give the same store, so it may
   * be asked for in each render; it ends a while after nobody uses it.
   */
  store(): QueryStore<readonly Row[]> {
    const asked = [this.#asked(), this.#state.include];
    return storeOf(this.#engine, asked, () => {
      const live = this.#live(undefined);
      return { live, read: live.getSnapshot };
    });
  }

  /** How this query is answered, and what it read when run for this answer. */
  explain(): Explanation {
    const request = this.#asked();
    return explain(this.#engine, request, this.#engine.plan(request));
  }

  #asked(): Request {
    this.#request ??= toRequest(this.#state);
    return this.#request;
  }

  /** Scans are planned anew, as their fields may have an index by now. */
  #planned(request: Request): Plan {
    const engine = this.#engine;
    if (this.#plan !== undefined && this.#epoch === engine.epoch) {
      return this.#plan;
    }
    const plan = engine.plan(request);
    this.#plan = plan.what === "scan" ? undefined : plan;
    this.#epoch = engine.epoch;
    return plan;
  }

  #include(): Include | undefined {
    const { include } = this.#state;
    return include.length === 0
      ? undefined
      : new Include(this.#engine, include);
  }

  #rows(items: Item[]): Row[] {
    const include = this.#include();
    const { reader } = this.#engine.options;
    if (include !== undefined) {
      return asRows(items.map((i) => include.make(i, include.resolve(i))));
    }
    return asRows(reader === undefined ? items : items.map(reader));
  }
}

function checkCount(count: number, what: string): number {
  if (Number.isSafeInteger(count) && count >= 0) return count;
  throw invalidQuery(`Cannot query: '${what}' takes a whole number from 0`);
}

function isItem(value: unknown): value is Item {
  return typeof value === "object" && value !== null && "id" in value &&
    typeof value.id === "string";
}

/** Terms behind an id decide nothing; an id upwards is the tie-break anyway. */
function isFree({ order, offset, limit, after }: QueryState): boolean {
  return order.length === 0 && offset === 0 && limit === Infinity &&
    after === undefined;
}

function toRequest(state: QueryState): Request {
  const { parts, offset, limit } = state;
  let { order } = state;
  const id = order.findIndex((term) => term.field === "id");
  if (id >= 0) order = order.slice(0, order[id]!.descending ? id + 1 : id);
  return { parts, order, offset, limit, after: toPlace(state, order) };
}

function toPlace(
  { after }: QueryState,
  order: readonly OrderTerm[],
): Place | undefined {
  if (after === undefined) return undefined;
  if (typeof after === "string") return decodeCursor(order, after);
  return placeOf(order, originOf(after));
}
