/**
 * What the query engine asks of a collection. The types stand one floor down,
 * so that the repository can keep them without knowing of queries.
 *
 * @module
 */

export type * from "../schema/source.ts";
