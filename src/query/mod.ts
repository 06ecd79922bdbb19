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

export { avg, count, max, min, sum } from "./grouped_query.ts";
export type { Explanation } from "./explain.ts";
export type { Live, LiveChange } from "./live.ts";
export { Query } from "./query.ts";
export type { QueryStore } from "./store.ts";
export type { OrderField, Where } from "./where.ts";
