/**
 * How rows are found: by id, by an index (`index_plan.ts` chooses it), or by a
 * scan.
 *
 * @module
 */

import type { Condition } from "./condition.ts";
import type { OrderTerm, Place } from "./order.ts";
import type { KeyRange, OrderedIndex } from "./ordered_index.ts";

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
  /** Entries to read before giving up for a scan. */
  readonly budget: number;
}

/** Look at every item, by columns where they are. */
export interface ScanPlan {
  readonly what: "scan";
}

/** A way to find rows. */
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

/** The conditions that were not used. */
export function without(
  parts: readonly Condition[],
  used: readonly Condition[],
): readonly Condition[] {
  if (used.length === 0) return parts;
  return parts.filter((part) => !used.includes(part));
}
