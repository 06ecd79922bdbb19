/**
 * Reading an index whose entries come in the wanted order: skip to the cursor,
 * stop at the limit.
 */

import type { Item } from "../schema/patch.ts";
import type { Fields } from "./condition.ts";
import type { ItemTest } from "./item_check.ts";
import { isBehind, type Place } from "./order.ts";
import type { Seat } from "./chunks.ts";
import type { OrderedIndex } from "./ordered_index.ts";
import type { IndexPlan, Request } from "./plan.ts";
import type { Source } from "../schema/source.ts";
import { type Key, keyOf } from "./value.ts";

export interface Walk {
  readonly source: Source;
  readonly fields: Fields;
  readonly test: ItemTest | undefined;
  scanned: number;
}

/** Items in order; `undefined` when the plan's budget was spent in vain. */
export function indexOrderedWalk(
  plan: IndexPlan,
  request: Request,
  walk: Walk,
): Item[] | undefined {
  const items: Item[] = [];
  const need = request.limit;
  if (need <= 0) return items;
  const { source, test } = walk;
  const { budget } = plan;
  // Where each entry is a row, the rows to skip are not looked at.
  const leap = test === undefined && request.after === undefined;
  let skip = leap ? 0 : request.offset;
  const visit = (ordinal: number): boolean => {
    if (++walk.scanned > budget) return false;
    if (test === undefined && skip > 0) {
      skip--;
      return true;
    }
    const item = source.itemAt(ordinal);
    if (item === undefined || (test !== undefined && !test(item))) return true;
    if (skip > 0) {
      skip--;
      return true;
    }
    items.push(item);
    return items.length < need;
  };
  steer(plan, request, walk, visit, leap ? request.offset : 0);
  return walk.scanned > budget ? undefined : items;
}

function steer(
  plan: IndexPlan,
  request: Request,
  walk: Walk,
  visit: (ordinal: number) => boolean,
  leap = 0,
): void {
  const { index, reading } = plan;
  const range = plan.ranges[0]!;
  let from = index.seat(range.low, range.lowAfter);
  let to = index.seat(range.high, range.highAfter);
  const { after } = request;
  if (after === undefined) {
    if (reading === "up") index.walk(index.forward(from, leap), to, visit);
    else index.walkDown(from, to, visit, leap);
    return;
  }
  const keys = placeKeys(plan, request, after, walk.fields);
  if (keys === undefined) {
    steer(plan, { ...request, after: undefined }, walk, (ordinal) => {
      const item = walk.source.itemAt(ordinal);
      if (item === undefined) return true;
      return isBehind(request.order, item, after) ? visit(ordinal) : true;
    });
    return;
  }
  const seat = index.seat(keys, true, after.id);
  if (reading === "up") {
    from = Math.max(from, seat);
    index.walk(from, to, visit);
    return;
  }
  to = Math.min(to, restOfRun(index, keys, seat, from, to, visit));
  if (to >= 0) index.walkDown(from, to, visit);
}

/** Finishes the run of equal keys that the cursor stands in; -1 to stop. */
function restOfRun(
  index: OrderedIndex,
  keys: readonly Key[],
  seat: Seat,
  from: Seat,
  to: Seat,
  visit: (ordinal: number) => boolean,
): Seat {
  const end = Math.min(to, index.seat(keys, true));
  if (!index.walk(Math.max(from, seat), end, visit)) return -1;
  return index.seat(keys, false);
}

/** Keys of the cursor in the index; `undefined` when it does not say them all. */
function placeKeys(
  { ranges, single, index }: IndexPlan,
  { order }: Request,
  after: Place,
  fields: Fields,
): Key[] | undefined {
  const keys: Key[] = ranges[0]!.low.slice(0, single);
  for (let i = 0; i < index.fields.length; i++) {
    const field = index.fields[i]!;
    const isOrdered = order.some((term) => term.field === field);
    const isSaid = isOrdered || field === "id" && i >= single;
    const key = isSaid ? keyOf(fields.get(field)!, after[field]) : null;
    if (i >= single) {
      if (key === null || key === -Infinity) return undefined;
      keys.push(key);
      // A cursor of another query may stand before or behind all of this one.
    } else if (isOrdered && key !== keys[i]) return undefined;
  }
  return keys;
}
