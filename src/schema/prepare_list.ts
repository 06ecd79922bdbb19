/**
 * From whole lists and explicit changes of lists to the least changes that say
 * the same: elements that stay keep their ids and positions.
 *
 * Of a whole list equal values in the same order stay (longest common
 * subsequence); equal values elsewhere have moved; what is left between two that
 * stay was replaced, one by one. The rest is new.
 */

import { checkOptions } from "../base/known_options.ts";
import { limits } from "../base/limits.ts";
import { equalValues } from "./json.ts";
import type { Change, Element, Placement, Value } from "./patch.ts";
import { positionAt, positionBetween } from "./position.ts";
import { type ElementIds, explicitParts } from "./rich_kind.ts";
import {
  checkCount,
  isPlainObject,
  parseInner,
  parseValue,
  refuseValue,
  type SchemaField,
} from "./validate.ts";

interface Slot {
  readonly old: Element | undefined;
  readonly value: Value;
  /** Must it leave its position? */
  readonly isMoved: boolean;
}

const placed = { at: 0, value: 0 };
/** What each part of an explicit change says. */
const partsKnown = {
  replace: placed,
  move: { from: 0, to: 0 },
  insert: placed,
};
const partNames = [...Object.keys(partsKnown), "delete"];

/** The changes of a list of these elements that an update asks for. */
export function listChanges(
  field: SchemaField,
  now: readonly Element[],
  given: unknown,
  ids: ElementIds,
): readonly Change[] {
  const parts = explicitParts(field, given, partNames);
  const wanted = parts === undefined
    ? slotsOfWhole(field, now, given)
    : slotsOfParts(field, now, parts);
  checkCount(field, wanted.length);
  if (field.isBounded) parseValue(field, wanted.map((slot) => slot.value));
  return changesBetween(now, wanted, ids);
}

function slotsOfWhole(
  field: SchemaField,
  now: readonly Element[],
  given: unknown,
): Slot[] {
  if (!Array.isArray(given)) {
    refuseValue(field, "an array of values or changes of a list", given);
  }
  checkCount(field, given.length);
  const values = Array.from(given, (value) => parseInner(field, value));
  const matches = matchLists(now.map((element) => element.value), values);
  return matches.map(({ from, isMoved }, i) => ({
    old: now[from],
    value: values[i],
    isMoved,
  }));
}

function slotsOfParts(
  field: SchemaField,
  now: readonly Element[],
  parts: Readonly<Record<string, unknown>>,
): Slot[] {
  const slots: (Slot | undefined)[] = now.map((old) => ({
    old,
    value: old.value,
    isMoved: false,
  }));
  for (const part of partsOf(field, parts, "replace")) {
    const at = indexIn(field, slots.length - 1, part.at);
    slots[at] = { ...slots[at]!, value: parseInner(field, part.value) };
  }
  for (const at of arrayOf(field, parts.delete)) {
    slots[indexIn(field, slots.length - 1, at)] = undefined;
  }
  const left = slots.filter((slot) => slot !== undefined);
  for (const part of partsOf(field, parts, "move")) move(field, left, part);
  for (const part of partsOf(field, parts, "insert")) {
    const at = indexIn(field, left.length, part.at);
    const value = parseInner(field, part.value);
    left.splice(at, 0, { old: undefined, value, isMoved: false });
  }
  return left;
}

function move(
  field: SchemaField,
  slots: Slot[],
  part: Readonly<Record<string, unknown>>,
): void {
  const from = indexIn(field, slots.length - 1, part.from);
  const to = indexIn(field, slots.length - 1, part.to);
  if (from === to) return;
  const [slot] = slots.splice(from, 1);
  slots.splice(to, 0, { ...slot!, isMoved: true });
}

function arrayOf(field: SchemaField, given: unknown): readonly unknown[] {
  if (given === undefined) return [];
  if (!Array.isArray(given)) refuseValue(field, "an array of changes", given);
  checkCount(field, given.length);
  return Array.from(given);
}

function partsOf(
  field: SchemaField,
  parts: Readonly<Record<string, unknown>>,
  name: keyof typeof partsKnown,
): Readonly<Record<string, unknown>>[] {
  return arrayOf(field, parts[name]).map((part) => {
    if (!isPlainObject(part)) refuseValue(field, "an object of a change", part);
    const known: Record<string, unknown> = partsKnown[name];
    return checkOptions({ ...part }, known, `${name}.`);
  });
}

function indexIn(field: SchemaField, max: number, given: unknown): number {
  const isIndex = typeof given === "number" && Number.isInteger(given) &&
    given >= 0 && given <= max;
  if (isIndex) return given;
  refuseValue(field, `an index from 0 to ${max}`, given);
}

function changesBetween(
  now: readonly Element[],
  wanted: readonly Slot[],
  ids: ElementIds,
): Change[] {
  const kept = new Set(wanted.map((slot) => slot.old));
  const deleted = now.filter((old) => !kept.has(old)).map((old) => old.element);
  const positions = positionsOf(wanted);
  const moves: Placement[] = [];
  const inserts: Element[] = [];
  const values: [string, Value][] = [];
  wanted.forEach(({ old, value }, i) => {
    const position = positions[i]!;
    if (old === undefined) {
      inserts.push({ element: ids.elementId(), position, value });
      return;
    }
    const { element } = old;
    if (position !== old.position) moves.push({ element, position });
    if (!equalValues(value, old.value)) values.push([element, value]);
  });
  const changes: Change[] = [];
  if (deleted.length > 0) changes.push({ what: "delete", elements: deleted });
  if (values.length > 0) changes.push({ what: "replace", values });
  if (moves.length > 0) changes.push({ what: "move", moves });
  if (inserts.length > 0) changes.push({ what: "insert", elements: inserts });
  return changes;
}

/**
 * A position for each slot, ascending. Elements keep theirs where they can; two
 * that concurrent inserts gave the same position are told apart here. When a
 * position would grow too long, the whole list is spread anew.
 */
function positionsOf(slots: readonly Slot[]): string[] {
  const positions: string[] = [];
  let pending = 0;
  let low: string | undefined;
  for (const { old, isMoved } of slots) {
    const isFixed = old !== undefined && !isMoved &&
      (low === undefined || old.position > low);
    if (!isFixed) {
      pending++;
      continue;
    }
    spread(low, old.position, pending, positions);
    positions.push(old.position);
    low = old.position;
    pending = 0;
  }
  spread(low, undefined, pending, positions);
  const isTooLong = positions.some((p) => p.length > limits.positionBytesMax);
  return isTooLong ? slots.map((_, i) => positionAt(i)) : positions;
}

/** Appends `count` ascending positions between two, halving, so that they stay short. */
function spread(
  low: string | undefined,
  high: string | undefined,
  count: number,
  target: string[],
): void {
  if (count === 0) return;
  const middle = positionBetween(low, high);
  const before = high === undefined ? 0 : Math.floor((count - 1) / 2);
  spread(low, middle, before, target);
  target.push(middle);
  let last = middle;
  for (let i = before + 1; high === undefined && i < count; i++) {
    last = positionBetween(last, undefined);
    target.push(last);
  }
  if (high !== undefined) spread(middle, high, count - before - 1, target);
}

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
