/** Ordered indexes, for who loads them when they are needed. */

// As in online.ts.
import "../../repo/mod.ts";
import "../query/query.ts";

export { indexes } from "../query/indexes.ts";
