/**
 * Which elements of an old list are which of a new one.
 *
 * Equal values in the same order stay (longest common subsequence); equal values
 * elsewhere have moved; what is left between two that stay was replaced, one by
 * one. The rest is new.
 *
 * @module
 */

import type { Value } from "./patch.ts";

/** Where a value of the new list comes from. */
export interface Match {
  /** Index in the old list; -1 when it is new. */
  readonly from: number;
  /** Did it pass another element? */
  readonly isMoved: boolean;
}

/** Above this many comparisons the middle of a list counts as rewritten. */
const cellsMax = 1_000_000;

/** For each value of the new list, where it comes from. */
export function matchLists(
  before: readonly Value[],
  after: readonly Value[],
): readonly Match[] {
  const codes = new Map<string, number>();
  const a = before.map((value) => codeOf(codes, value));
  const b = after.map((value) => codeOf(codes, value));
  const stays = matchInOrder(a, b);
  const taken = new Set(stays.filter((from) => from >= 0));
  const moved = matchMoved(a, b, stays, taken);
  const replaced = matchReplaced(a.length, stays, moved, taken);
  return b.map((_, i) => ({
    from: Math.max(stays[i]!, moved[i]!, replaced[i]!),
    isMoved: moved[i]! >= 0,
  }));
}

/** Equal values get equal numbers. */
function codeOf(codes: Map<string, number>, value: Value): number {
  const key = typeof value === "object"
    ? JSON.stringify(value)
    : `${typeof value} ${value}`;
  const code = codes.get(key) ?? codes.size;
  codes.set(key, code);
  return code;
}

function matchInOrder(a: readonly number[], b: readonly number[]): number[] {
  const stays: number[] = b.map(() => -1);
  let start = 0;
  while (start < a.length && start < b.length && a[start] === b[start]) {
    stays[start] = start;
    start++;
  }
  let aEnd = a.length;
  let bEnd = b.length;
  while (aEnd > start && bEnd > start && a[aEnd - 1] === b[bEnd - 1]) {
    stays[--bEnd] = --aEnd;
  }
  if ((aEnd - start) * (bEnd - start) <= cellsMax) {
    matchMiddle(a.slice(start, aEnd), b.slice(start, bEnd), start, stays);
  }
  return stays;
}

/** The textbook table of common subsequences' lengths, read back from its start. */
function matchMiddle(
  a: readonly number[],
  b: readonly number[],
  start: number,
  stays: number[],
): void {
  const width = b.length + 1;
  const lengths = new Uint32Array((a.length + 1) * width);
  for (let i = a.length - 1; i >= 0; i--) {
    for (let j = b.length - 1; j >= 0; j--) {
      const at = i * width + j;
      lengths[at] = a[i] === b[j]
        ? lengths[at + width + 1]! + 1
        : Math.max(lengths[at + width]!, lengths[at + 1]!);
    }
  }
  for (let i = 0, j = 0; i < a.length && j < b.length;) {
    const at = i * width + j;
    if (a[i] === b[j]) stays[start + j++] = start + i++;
    else if (lengths[at + width]! >= lengths[at + 1]!) i++;
    else j++;
  }
}

function matchMoved(
  a: readonly number[],
  b: readonly number[],
  stays: readonly number[],
  taken: Set<number>,
): number[] {
  const free = new Map<number, number[]>();
  for (let i = a.length - 1; i >= 0; i--) {
    if (taken.has(i)) continue;
    const same = free.get(a[i]!);
    if (same === undefined) free.set(a[i]!, [i]);
    else same.push(i);
  }
  return b.map((code, j) => {
    const from = stays[j]! >= 0 ? -1 : free.get(code)?.pop() ?? -1;
    if (from >= 0) taken.add(from);
    return from;
  });
}

function matchReplaced(
  aLength: number,
  stays: readonly number[],
  moved: readonly number[],
  taken: ReadonlySet<number>,
): number[] {
  const ends = nextStays(aLength, stays);
  let next = 0;
  return stays.map((stay, j) => {
    if (stay >= 0) next = stay + 1;
    if (stay >= 0 || moved[j]! >= 0) return -1;
    while (next < ends[j]! && taken.has(next)) next++;
    return next < ends[j]! ? next++ : -1;
  });
}

/** For each new value, the old index of the next one that stays. */
function nextStays(aLength: number, stays: readonly number[]): number[] {
  const ends: number[] = stays.map(() => aLength);
  let end = aLength;
  for (let j = stays.length - 1; j >= 0; j--) {
    ends[j] = end;
    if (stays[j]! >= 0) end = stays[j]!;
  }
  return ends;
}
