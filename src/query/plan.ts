/**
 * How rows are found: by id, by an index (`index_plan.ts` chooses it), or by a
 * scan.
 */

import type { Condition } from "./condition.ts";
import type { OrderTerm, Place } from "./order.ts";
import type { KeyRange, OrderedIndex } from "./ordered_index.ts";
import { isOrderable } from "./value.ts";

/** What a query asks, checked. */
export interface Request {
  /** Joined by "and". */
  readonly parts: readonly Condition[];
  readonly order: readonly OrderTerm[];
  /** Rows behind this place only. */
  readonly after: Place | undefined;
  readonly offset: number;
  /** Infinity: no limit. */
  readonly limit: number;
  /** Nobody asked for an order: rows may come as they are found. */
  readonly isFree?: true;
}

/** Which way entries of an index are read to give rows in order. */
export type Reading = "up" | "down" | "unordered";

/** Look these ids up. */
export interface IdPlan {
  readonly what: "ids";
  readonly ids: readonly string[];
  readonly residual: readonly Condition[];
}

/** Read ranges of an index. */
export interface IndexPlan {
  readonly what: "index";
  readonly index: OrderedIndex;
  readonly ranges: readonly KeyRange[];
  /** Leading fields that are equal in all entries read. */
  readonly single: number;
  readonly reading: Reading;
  readonly residual: readonly Condition[];
  readonly budget: number;
}

/** Look at every item, by columns where they are. */
export interface ScanPlan {
  readonly what: "scan";
}

export type Plan = IdPlan | IndexPlan | ScanPlan;

/** The plan for everything that no index helps with. */
export const scanPlan: ScanPlan = { what: "scan" };

/** Looks ids up, where conditions say which. */
export function planIds(parts: readonly Condition[]): IdPlan | undefined {
  for (let i = 0; i < parts.length; i++) {
    const part = parts[i]!;
    if (part.what !== "equal" && part.what !== "in") continue;
    if (part.field !== "id") continue;
    const keys = part.what === "equal" ? [part.key] : part.keys;
    const ids = keys.filter((key) => typeof key === "string");
    return { what: "ids", ids, residual: without(parts, [part]) };
  }
  return undefined;
}

export function without(
  parts: readonly Condition[],
  used: readonly Condition[],
): readonly Condition[] {
  if (used.length === 0) return parts;
  return parts.filter((part) => !used.includes(part));
}

interface Helpful {
  readonly fields: readonly string[];
  readonly parts: readonly Condition[];
  /** Would it give the rows in order, so that a limit stops early? */
  readonly inOrder: boolean;
}

/** Fields with one value first, then the order, or else one range. */
export function helpfulIndex(request: Request): Helpful | undefined {
  const fields = new Set<string>();
  const parts: Condition[] = [];
  for (const part of request.parts) {
    const binds = part.what === "equal" || part.what === "in";
    if (!binds || !isOrderable(part.kind) || fields.has(part.field)) continue;
    fields.add(part.field);
    parts.push(part);
  }
  const ordered = request.order[0];
  const range = request.parts.find((part) =>
    (part.what === "range" || part.what === "prefix") &&
    (ordered === undefined || part.field === ordered.field)
  );
  const inOrder = request.limit < Infinity && request.order.length === 1 &&
    parts.every((part) => part.what === "equal");
  if (range !== undefined && "field" in range) {
    fields.add(range.field);
    parts.push(range);
  } else if (inOrder && ordered !== undefined) fields.add(ordered.field);
  fields.delete("id");
  return fields.size === 0
    ? undefined
    : { fields: [...fields], parts, inOrder };
}
