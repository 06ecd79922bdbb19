/**
 * Users' functions inside live results: one that throws while a transaction is
 * told must break neither the writer nor the result. It is reported, and the
 * item counts as not wanted.
 *
 * @module
 */

import type { Condition } from "./condition.ts";
import type { QueryEngine } from "./engine.ts";
import type { Request } from "./plan.ts";

/** The request with its functions guarded. */
export function guarded(engine: QueryEngine, request: Request): Request {
  if (request.parts.every((part) => part.what !== "predicate")) return request;
  const parts = request.parts.map((part) => guardPart(engine, part));
  return { ...request, parts };
}

/** Functions stand at the top only: `and`, `or` and `not` take objects. */
function guardPart(engine: QueryEngine, part: Condition): Condition {
  if (part.what !== "predicate") return part;
  const { test } = part;
  return {
    what: "predicate",
    test(item) {
      try {
        return test(item);
      } catch (error) {
        engine.report(error);
        return false;
      }
    },
  };
}
