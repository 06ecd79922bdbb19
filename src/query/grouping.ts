/**
 * Groups of items with their aggregates, kept as items come and go.
 *
 * Groups are in the order of their fields' values, so every replica lists them
 * alike; without group fields there is exactly one group, even of no items.
 */

import { copyValue } from "../schema/json.ts";
import type { Item, Value } from "../schema/patch.ts";
import {
  accumulate,
  type Accumulator,
  type AggregateTerm,
} from "./aggregate.ts";
import type { Fields } from "./condition.ts";
import type { QueryEngine } from "./engine.ts";
import type { Request } from "./plan.ts";
import { compareText, compareValues, keyOf } from "./value.ts";

/** What to group by, and what to say of each group. */
export interface GroupRequest {
  readonly fields: readonly string[];
  readonly terms: readonly AggregateTerm[];
}

export class Group {
  /** Tells groups apart. */
  readonly key: string;
  readonly values: readonly Value[];
  /** Its items by ordinal, when it is kept up to date. */
  readonly members = new Map<number, Item>();
  size = 0;
  #accumulators: Accumulator[];
  readonly #terms: readonly AggregateTerm[];
  #isStale = false;

  constructor(
    key: string,
    values: readonly Value[],
    terms: readonly AggregateTerm[],
  ) {
    this.key = key;
    this.values = values;
    this.#terms = terms;
    this.#accumulators = terms.map(accumulate);
  }

  add(item: Item): void {
    this.size++;
    for (const accumulator of this.#accumulators) accumulator.add(item);
  }

  remove(item: Item): void {
    this.size--;
    for (const accumulator of this.#accumulators) {
      if (!accumulator.remove(item)) this.#isStale = true;
    }
  }

  toRow(fields: readonly string[]): Item {
    if (this.#isStale) this.#recompute();
    const row: Record<string, Value> = {};
    fields.forEach((field, at) => define(row, field, this.values[at]));
    this.#terms.forEach((term, at) => {
      define(row, term.name, this.#accumulators[at]!.value);
    });
    return Object.freeze(row) as Item; // proof: read as a row only
  }

  /** The least or greatest value went: all members are looked at again. */
  #recompute(): void {
    this.#accumulators = this.#terms.map(accumulate);
    for (const item of this.members.values()) {
      for (const accumulator of this.#accumulators) accumulator.add(item);
    }
    this.#isStale = false;
  }
}

/** Results may have any name; dates and bytes are copies. */
function define(row: Record<string, Value>, name: string, value: Value): void {
  Object.defineProperty(row, name, {
    value: copyValue(value),
    enumerable: true,
  });
}

export class Grouping {
  readonly request: GroupRequest;
  readonly #fields: Fields;
  readonly #groups = new Map<string, Group>();

  constructor(request: GroupRequest, fields: Fields) {
    this.request = request;
    this.#fields = fields;
    if (request.fields.length === 0) this.#make("", []);
  }

  #make(key: string, values: readonly Value[]): Group {
    const group = new Group(key, values, this.request.terms);
    this.#groups.set(key, group);
    return group;
  }

  /** The group of an item, made when it is the first in it. */
  groupOf(item: Item): Group {
    const { fields } = this.request;
    let key = "";
    for (const field of fields) key += this.#token(field, item[field]);
    const known = this.#groups.get(key);
    if (known !== undefined) return known;
    return this.#make(key, fields.map((field) => plain(item[field])));
  }

  #token(field: string, value: Value): string {
    const key = keyOf(this.#fields.get(field)!, value);
    if (key === undefined) return "u;";
    if (typeof key === "number") return `n${key};`;
    if (typeof key === "string") return `s${key.length}:${key};`;
    const text = JSON.stringify(value) ?? "";
    return `x${typeof value}${text.length}:${text};`;
  }

  drop(group: Group): boolean {
    if (group.size > 0 || this.request.fields.length === 0) return false;
    return this.#groups.delete(group.key);
  }

  sorted(): Group[] {
    return [...this.#groups.values()].sort(compareGroups);
  }
}

/** NaN and invalid dates count as absent, and -0 as 0, wherever they came first. */
function plain(value: Value): Value {
  if (value === 0) return 0;
  return compareValues(value, undefined) === 0 ? undefined : value;
}

function compareGroups(a: Group, b: Group): number {
  for (let i = 0; i < a.values.length; i++) {
    const found = compareValues(a.values[i], b.values[i]);
    if (found !== 0) return found;
  }
  return compareText(a.key, b.key);
}

/** Order decides only which rows there are, so it matters only with a limit. */
export function aggregatedItems(engine: QueryEngine, asked: Request): Item[] {
  const { offset, limit, after } = asked;
  const isWhole = offset === 0 && limit === Infinity && after === undefined;
  if (isWhole) return engine.collect({ ...asked, order: [] });
  return engine.run(asked, engine.plan(asked));
}
