/**
 * What users name aggregates with. Each brings the code that works it out, so
 * that an app which asks for none has none of that.
 *
 * @module
 */

import type { Aggregate } from "./aggregate.ts";
import { groupedQuery } from "./grouped_query.ts";

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
