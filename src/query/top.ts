/**
 * The first few of many in some order, without sorting them all.
 *
 * Keeps at most twice as many candidates as asked for: when the buffer is full
 * it is sorted and cut in half, and the last kept one turns away the rest.
 *
 * @module
 */

import type { Compare } from "./order.ts";

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
