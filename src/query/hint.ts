/**
 * Which index a query would like to have.
 *
 * @module
 */

import type { Condition } from "./condition.ts";
import type { Request } from "./plan.ts";
import { isOrderable } from "./value.ts";

/** An index that would help. */
export interface Helpful {
  readonly fields: readonly string[];
  /** Conditions that it would answer. */
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
