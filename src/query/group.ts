/**
 * Aggregated queries as they are asked for: `groupBy(…).aggregate(…)` and
 * `aggregate(…)` over all. The aggregates bring the code that answers.
 */

import { refuseOptions } from "../base/known_options.ts";
import type { Aggregated, AggregateSpec } from "./aggregate.ts";
import type { QueryEngine } from "./engine.ts";
import type { GroupedQuery, groupedQuery } from "./grouped_query.ts";
import { invalidQuery, unknownField } from "./parse_where.ts";
import type { Request } from "./plan.ts";
import { asRow, asRows } from "./rows.ts";
import { isOrderable } from "./value.ts";
import type { AnyRow } from "./where.ts";

/** What the first of the aggregates brings to work them out. */
function answererOf(spec: object): typeof groupedQuery {
  const [first] = Object.entries(Object(spec));
  if (first === undefined) {
    throw invalidQuery(
      "Cannot aggregate: no aggregate is given, such as { n: count() }",
    );
  }
  const [name, given] = first;
  const { by }: { by?: unknown } = Object(given);
  if (typeof by === "function") return by as typeof groupedQuery; // proof: `count` and the others made it
  throw invalidQuery(
    `Cannot aggregate: '${name}' is not one of count(), sum(), avg(), min(), max()`,
  );
}

/** Aggregates over all rows as one group. */
export function overAll<Row>(
  engine: QueryEngine,
  request: Request,
  spec: object,
): GroupedQuery<Row, Row> {
  const answer = answererOf(spec);
  return answer(engine, request, [], spec, (rows) => asRow(rows[0]!));
}

export function parseGroupFields(
  engine: QueryEngine,
  fields: readonly string[],
): readonly string[] {
  if (fields.length === 0) {
    throw invalidQuery("Cannot group: no field is given");
  }
  for (const field of fields) {
    const kind = engine.fields.get(field);
    if (kind === undefined) throw unknownField("group", field, engine.fields);
    if (!isOrderable(kind)) {
      throw invalidQuery(`Cannot group: '${field}' (${kind}) has no order`);
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
    refuseOptions(this);
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
    return answererOf(spec)(
      this.#engine,
      this.#request,
      this.#fields,
      spec,
      asRows<Pick<Base, F> & Aggregated<Base, Spec>>,
    );
  }
}
