/**
 * The order of rows: some fields, each up or down, and the id last.
 *
 * Absent values come first going up and last going down. Ties are broken by id
 * upwards whatever the direction, by code unit, so the order is total and the
 * same on every replica.
 *
 * The first few of many are found without sorting them all: at most twice as many
 * candidates as asked for are kept; when the buffer is full it is sorted and cut
 * in half, and the last kept one turns away the rest.
 */

import { limits } from "../base/limits.ts";
import type { Item } from "../schema/patch.ts";
import type { Column, Source } from "../schema/source.ts";
import type { Fields } from "./condition.ts";
import { invalidQuery, unknownField } from "./parse_where.ts";
import {
  compareKeys,
  compareText,
  compareValues,
  isOrderable,
} from "./value.ts";

export interface OrderTerm {
  readonly field: string;
  readonly descending: boolean;
}

/** A place in an order: just behind the item with this id and these values of the ordered fields. */
export type Place = Item;

export type Compare<T> = (a: T, b: T) => number;

/** Adds a term, checked; a field that is ordered already changes nothing. */
export function addTerm(
  order: readonly OrderTerm[],
  fields: Fields,
  field: unknown,
  direction: unknown,
): readonly OrderTerm[] {
  if (direction !== "asc" && direction !== "desc") {
    throw invalidQuery("Cannot order: the direction is 'asc' or 'desc'");
  }
  const kind = typeof field === "string" ? fields.get(field) : undefined;
  if (kind === undefined || typeof field !== "string") {
    throw unknownField("order", field, fields);
  }
  if (!isOrderable(kind)) {
    throw invalidQuery(`Cannot order: '${field}' (${kind}) has no order`);
  }
  if (order.length >= limits.fieldsMax) {
    throw invalidQuery("Cannot order: too many fields");
  }
  if (order.some((term) => term.field === field)) return order;
  return [...order, { field, descending: direction === "desc" }];
}

export function compileItemOrder(order: readonly OrderTerm[]): Compare<Item> {
  const first = order[0];
  if (first === undefined) return (a, b) => compareText(a.id, b.id);
  if (order.length > 1) return (a, b) => compareByTerms(order, a, b);
  const { field } = first;
  const sign = first.descending ? -1 : 1;
  return (a, b) =>
    sign * compareValues(a[field], b[field]) || compareText(a.id, b.id);
}

function compareByTerms(order: readonly OrderTerm[], a: Item, b: Item): number {
  for (let i = 0; i < order.length; i++) {
    const { field, descending } = order[i]!;
    const found = compareValues(a[field], b[field]);
    if (found !== 0) return descending ? -found : found;
  }
  return compareText(a.id, b.id);
}

export function isBehind(
  order: readonly OrderTerm[],
  item: Item,
  place: Place,
): boolean {
  return compareByTerms(order, item, place) > 0;
}

export function compileColumnOrder(
  order: readonly OrderTerm[],
  columns: readonly (Column | undefined)[],
  source: Source,
): Compare<number> | undefined {
  const compares: Compare<number>[] = [];
  for (let i = 0; i < order.length; i++) {
    const column = columns[i];
    if (column === undefined) return undefined;
    compares.push(compareColumn(column, order[i]!.descending ? -1 : 1));
  }
  const byId: Compare<number> = (a, b) =>
    compareText(source.idAt(a), source.idAt(b));
  const first = compares[0];
  if (first === undefined) return byId;
  if (compares.length === 1) return (a, b) => first(a, b) || byId(a, b);
  compares.push(byId);
  return (a, b) => {
    for (let i = 0; i < compares.length; i++) {
      const found = compares[i]!(a, b);
      if (found !== 0) return found;
    }
    return 0;
  };
}

function compareColumn(column: Column, sign: 1 | -1): Compare<number> {
  if (column.kind === "word") {
    const { codes, words } = column;
    return (a, b) => {
      const x = codes[a]!;
      const y = codes[b]!;
      return x === y ? 0 : sign * compareKeys(words[x], words[y]);
    };
  }
  const { values } = column;
  return (a, b) => {
    const x = values[a]!;
    const y = values[b]!;
    if (x < y) return -sign;
    if (x > y) return sign;
    return x === y ? 0 : sign * compareNaN(x, y);
  };
}

/** NaN is absent: it comes first. */
function compareNaN(x: number, y: number): number {
  if (x !== x) return y !== y ? 0 : -1;
  return 1;
}

/** Above this share of all, sorting everything is no slower. */
const sortAllShare = 4;

/**
 * Elements `[offset, offset + limit)` in order of the first `length` of `all`.
 * An array is sorted in place.
 */
export function selectTop<T>(
  all: ArrayLike<T>,
  length: number,
  compare: Compare<T>,
  offset: number,
  limit: number,
): T[] {
  if (limit <= 0 || offset >= length) return [];
  const need = offset + limit;
  if (need * sortAllShare < length) {
    const kept = bounded(all, length, compare, need);
    return offset === 0 ? kept : kept.slice(offset);
  }
  const sorted = Array.isArray(all) ? all : firstOf(all, length);
  if (!isSorted(sorted, compare)) sorted.sort(compare);
  return offset === 0 && need >= length ? sorted : sorted.slice(offset, need);
}

function firstOf<T>(all: ArrayLike<T>, length: number): T[] {
  const first: T[] = [];
  for (let i = 0; i < length; i++) first.push(all[i]!);
  return first;
}

/** Items are often found in order already: ids are often made in order. */
function isSorted<T>(all: readonly T[], compare: Compare<T>): boolean {
  for (let i = 1; i < all.length; i++) {
    if (compare(all[i - 1]!, all[i]!) > 0) return false;
  }
  return true;
}

function bounded<T>(
  all: ArrayLike<T>,
  length: number,
  compare: Compare<T>,
  need: number,
): T[] {
  const kept = firstOf(all, need).sort(compare);
  let last = kept[need - 1]!;
  for (let i = need; i < length; i++) {
    const one = all[i]!;
    if (compare(one, last) >= 0) continue;
    kept.push(one);
    if (kept.length < need * 2) continue;
    kept.sort(compare);
    kept.length = need;
    last = kept[need - 1]!;
  }
  kept.sort(compare);
  kept.length = need;
  return kept;
}
