/**
 * Aggregates: what can be said of many rows at once.
 *
 * Absent values are left out: they neither count for an average nor are they
 * the least. A sum does not depend on the order of rows.
 */

import type { Item, Value } from "../schema/patch.ts";
import type { QueryEngine } from "./engine.ts";
import { ExactSum } from "./exact_sum.ts";
import { invalidQuery, unknownField } from "./parse_where.ts";
import { compareValues, isOrderable } from "./value.ts";
import type { AnyRow, NumberField, OrderField } from "./where.ts";

/** One aggregate; made by `count`, `sum` and the others. */
export interface Aggregate<
  What extends "count" | "sum" | "avg" | "min" | "max",
  Field extends string,
> {
  readonly what: What;
  /** Empty for a count. */
  readonly field: Field;
  /** What works it out: a page that asks for no aggregate does not load it. */
  readonly by: unknown;
}

/** Aggregates by the names of the results. */
export interface AggregateSpec<Base extends AnyRow> {
  readonly [name: string]:
    | Aggregate<"count", "">
    | Aggregate<"sum" | "avg", NumberField<Base>>
    | Aggregate<"min" | "max", OrderField<Base>>;
}

type ResultOf<Base, A> = A extends Aggregate<infer What, infer Field>
  ? What extends "count" | "sum" ? number
  : What extends "avg" ? number | undefined
  : Field extends keyof Base ? Base[Field] | undefined
  : never
  : never;

export type Aggregated<Base, Spec> = {
  readonly [Name in keyof Spec]: ResultOf<Base, Spec[Name]>;
};

export interface AggregateTerm {
  readonly name: string;
  readonly what: "count" | "sum" | "avg" | "min" | "max";
  readonly field: string;
}

export function parseAggregates(
  engine: QueryEngine,
  spec: object,
): AggregateTerm[] {
  return Object.entries(spec).map(([name, given]): AggregateTerm => {
    const { what, field }: { what?: unknown; field?: unknown } = Object(given);
    switch (what) {
      case "count":
        return { name, what, field: "" };
      case "sum":
      case "avg":
      case "min":
      case "max":
        return { name, what, field: checkField(engine, what, field) };
    }
    throw invalidQuery(
      `Cannot aggregate: '${name}' is not one of count(), sum(), avg(), min(), max()`,
    );
  });
}

function checkField(
  engine: QueryEngine,
  what: string,
  field: unknown,
): string {
  const kind = typeof field === "string" ? engine.fields.get(field) : undefined;
  const fits = what === "sum" || what === "avg"
    ? kind === "number" || kind === "counter"
    : kind !== undefined && isOrderable(kind);
  if (typeof field === "string" && fits) return field;
  if (kind === undefined) throw unknownField("aggregate", field, engine.fields);
  throw invalidQuery(
    `Cannot aggregate: '${what}' does not fit field '${field}' (${kind})`,
  );
}

export interface Accumulator {
  add(item: Item): void;
  /** False when only looking at all items again can tell the result. */
  remove(item: Item): boolean;
  readonly value: Value;
}

export function accumulate(term: AggregateTerm): Accumulator {
  switch (term.what) {
    case "count":
      return new CountAccumulator();
    case "sum":
    case "avg":
      return new SumAccumulator(term.field, term.what === "avg");
    case "min":
      return new ExtremeAccumulator(term.field, -1);
    case "max":
      return new ExtremeAccumulator(term.field, 1);
  }
}

class CountAccumulator implements Accumulator {
  value = 0;

  add(): void {
    this.value++;
  }

  remove(): boolean {
    this.value--;
    return true;
  }
}

class SumAccumulator implements Accumulator {
  readonly #field: string;
  readonly #averages: boolean;
  readonly #sum = new ExactSum();
  #count = 0;

  constructor(field: string, averages: boolean) {
    this.#field = field;
    this.#averages = averages;
  }

  add(item: Item): void {
    const value = item[this.#field];
    if (typeof value !== "number" || Number.isNaN(value)) return;
    this.#sum.add(value);
    this.#count++;
  }

  remove(item: Item): boolean {
    const value = item[this.#field];
    if (typeof value !== "number" || Number.isNaN(value)) return true;
    this.#sum.subtract(value);
    this.#count--;
    return true;
  }

  get value(): number | undefined {
    if (!this.#averages) return this.#sum.value;
    return this.#count === 0 ? undefined : this.#sum.value / this.#count;
  }
}

class ExtremeAccumulator implements Accumulator {
  readonly #field: string;
  readonly #sign: 1 | -1;
  value: Value = undefined;

  constructor(field: string, sign: 1 | -1) {
    this.#field = field;
    this.#sign = sign;
  }

  add(item: Item): void {
    const value = item[this.#field];
    if (compareValues(value, undefined) === 0) return;
    if (
      this.value === undefined ||
      compareValues(value, this.value) * this.#sign > 0
    ) this.value = value === 0 ? 0 : value;
  }

  remove(item: Item): boolean {
    return compareValues(item[this.#field], this.value) !== 0;
  }
}
