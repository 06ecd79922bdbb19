/**
 * `src/query/` answers questions about one collection: predicates, ordered
 * indexes, plans, live results, aggregates.
 *
 * A query is plain data until it is run. The planner then looks for the way
 * that reads least: ids, an index whose leading fields are bound, columns, or
 * all items. Indexes and live results are kept up to date per transaction, from
 * their own copies of what they once saw. It reads a collection through
 * `Source` alone; it never knows commits, signatures, storage or peers.
 *
 * Architecture invariant: an answer depends on the items and the query alone,
 * never on ordinals, indexes or columns, so it is the same on every replica.
 *
 * @module
 */

export {
  type Aggregate,
  type Aggregated,
  type AggregateSpec,
  avg,
  count,
  max,
  min,
  sum,
} from "./aggregate.ts";
export { type EngineOptions, QueryEngine } from "./engine.ts";
export type { Explanation } from "./explain.ts";
export { GroupBuilder, GroupedQuery } from "./group.ts";
export type { Included, IncludeSpec } from "./include.ts";
export { Following } from "./following.ts";
export { Live, type LiveChange } from "./live.ts";
export type { RowAt, RowChanged, RowChanges, RowMoved } from "./live_change.ts";
export { LiveGroups } from "./live_groups.ts";
export { type FollowOptions, Query } from "./query.ts";
export type {
  AnyRow,
  BooleanOperators,
  Direction,
  ElementOperators,
  FieldWhere,
  KeyOperators,
  NumberField,
  OrderedOperators,
  OrderField,
  TextOperators,
  Where,
} from "./where.ts";
