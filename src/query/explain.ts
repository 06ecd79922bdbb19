/** How a query is answered, for people. */

import { describe } from "./condition.ts";
import type { QueryEngine } from "./engine.ts";
import { helpfulIndex, type Plan, type Request } from "./plan.ts";

/** How a query was answered. */
export interface Explanation {
  /** The plan, in one line. */
  readonly plan: string;
  /** Fields of the index that was read. */
  readonly index?: readonly string[];
  /** What rows must satisfy. */
  readonly conditions: readonly string[];
  /** Index entries, column slots or items that were looked at. */
  readonly rowsScanned: number;
  /** Rows of the result. */
  readonly rowsReturned: number;
  /** How long it took, when the engine was given a clock. */
  readonly milliseconds?: number;
  /** Which index would help. */
  readonly hint?: string;
}

export function explain(
  engine: QueryEngine,
  request: Request,
  plan: Plan,
): Explanation {
  const { world } = engine.options;
  const start = world?.monotonic();
  const rowsReturned = engine.run(request, plan).length;
  const took = world === undefined || start === undefined
    ? undefined
    : world.monotonic() - start;
  const { rowsScanned, how } = engine.effort;
  const hint = hintFor(engine, request, plan, rowsScanned);
  return {
    plan: describePlan(request, plan, how),
    ...(plan.what === "index" && { index: plan.index.fields }),
    conditions: request.parts.map(describe),
    rowsScanned,
    rowsReturned,
    ...(took !== undefined && { milliseconds: took }),
    ...(hint !== undefined && { hint }),
  };
}

function describePlan(request: Request, plan: Plan, how: string): string {
  const parts = [how];
  if (plan.what === "index" && how.startsWith("index")) {
    parts[0] = `index ${plan.index.fields.join(",")}`;
    if (plan.reading === "unordered") parts.push("sort");
    else parts.push(`in order ${plan.reading}`);
    if (plan.residual.length > 0) {
      parts.push(`then ${plan.residual.map(describe).join(" and ")}`);
    }
  } else if (request.order.length > 0) parts.push("sort");
  if (request.limit < Infinity) parts.push(`limit ${request.limit}`);
  return parts.join(", ");
}

/** What an index on all bound and ordered fields would read. */
function hintFor(
  engine: QueryEngine,
  request: Request,
  plan: Plan,
  scanned: number,
): string | undefined {
  if (plan.what === "ids") return undefined;
  const helpful = helpfulIndex(request);
  if (helpful === undefined) return undefined;
  if (engine.isDeclared(helpful.fields)) return undefined;
  const bound: Request = { ...request, parts: helpful.parts, order: [] };
  const matches = engine.count(
    { ...bound, offset: 0, limit: Infinity },
    { what: "scan" },
  );
  const stopsEarly = helpful.inOrder &&
    helpful.parts.length === request.parts.length;
  const reads = stopsEarly
    ? Math.min(matches, request.offset + request.limit)
    : matches;
  if (reads >= scanned) return undefined;
  return `an index on [${helpful.fields.join(", ")}] would read ` +
    `${reads} rows instead of ${scanned}`;
}
