/**
 * The query evaluator that is plainly right: filter, sort, slice over items.
 *
 * Only tests use it, as the oracle that the engine is compared with.
 *
 * @module
 */

import type { Item } from "../schema/patch.ts";
import { compileItemTest } from "./item_check.ts";
import { isBehind } from "./order.ts";
import type { Request } from "./plan.ts";
import { compareText, compareValues } from "./value.ts";

/** What a request asks for, found by looking at everything. */
export function runNaively(items: readonly Item[], request: Request): Item[] {
  const { parts, order, after, offset, limit } = request;
  return items
    .filter((item) => parts.every((part) => compileItemTest(part)(item)))
    .filter((item) => after === undefined || isBehind(order, item, after))
    .sort((a, b) => {
      for (const { field, descending } of order) {
        const found = compareValues(a[field], b[field]);
        if (found !== 0) return descending ? -found : found;
      }
      return compareText(a.id, b.id);
    })
    .slice(offset, offset + limit);
}
