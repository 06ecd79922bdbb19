/**
 * How values compare: one total order over everything a field may hold, and
 * the plain keys (numbers and strings) that indexes and conditions work on.
 *
 * Absent comes before everything; then null, booleans, numbers, dates, strings
 * (by code unit), bytes (by content). Lists and objects come last, all equal.
 * NaN and invalid dates count as absent, as they do in columns.
 *
 * Architecture invariant: the order depends on values and ids alone, never on
 * ordinals or locale, so every replica gives the same answer (law 4).
 */

import type { FieldKind, Value } from "../schema/patch.ts";

/** A value of a scalar field as a plain key; `undefined` is absent. */
export type Key = number | string | undefined;

export function isNumeric(kind: FieldKind): boolean {
  return kind === "number" || kind === "boolean" || kind === "date" ||
    kind === "counter";
}

/** Kinds whose values have an order that a query may use. */
export function isOrderable(kind: FieldKind): boolean {
  return isNumeric(kind) || isText(kind) || kind === "bytes";
}

/** Kinds whose values are strings. */
export function isText(kind: FieldKind): boolean {
  return kind === "string" || kind === "enum" || kind === "ref" ||
    kind === "text";
}

/** The key of a value; `null` when the value is not of that kind. */
export function keyOf(kind: FieldKind, value: Value): Key | null {
  if (value === undefined) return undefined;
  switch (kind) {
    case "string":
    case "enum":
    case "ref":
    case "text":
      return typeof value === "string" ? value : null;
    case "number":
    case "counter":
      return typeof value === "number" ? numberKey(value) : null;
    case "boolean":
      return typeof value === "boolean" ? (value ? 1 : 0) : null;
    case "date":
      return value instanceof Date ? numberKey(value.getTime()) : null;
    case "bytes":
      return value instanceof Uint8Array ? bytesKey(value) : null;
    default:
      return null;
  }
}

function numberKey(value: number): number | undefined {
  return Number.isNaN(value) ? undefined : value;
}

/** One code unit per byte, so that strings compare as the bytes do. */
function bytesKey(bytes: Uint8Array): string {
  let key = "";
  for (let i = 0; i < bytes.length; i++) key += String.fromCharCode(bytes[i]!);
  return key;
}

export function compareText(a: string, b: string): number {
  return a === b ? 0 : a < b ? -1 : 1;
}

/** Negative, zero or positive; `undefined` comes first. */
export function compareKeys(a: Key, b: Key): number {
  if (a === b) return 0;
  if (a === undefined) return -1;
  if (b === undefined) return 1;
  return a < b ? -1 : 1;
}

/** Negative, zero or positive as `a` comes before, with or after `b`. */
export function compareValues(a: Value, b: Value): number {
  if (typeof a === "string" && typeof b === "string") return compareText(a, b);
  if (typeof a === "number" && typeof b === "number") {
    if (a < b) return -1;
    if (a > b) return 1;
    if (a === b) return 0;
  }
  const rank = rankOf(a);
  const difference = rank - rankOf(b);
  return difference !== 0 ? difference : compareSameRank(rank, a, b);
}

const absent = 0;

function rankOf(value: Value): number {
  switch (typeof value) {
    case "undefined":
      return absent;
    case "boolean":
      return 2;
    case "number":
      return Number.isNaN(value) ? absent : 3;
    case "string":
      return 5;
  }
  if (value === null) return 1;
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? absent : 4;
  return value instanceof Uint8Array ? 6 : 7;
}

function compareSameRank(rank: number, a: Value, b: Value): number {
  if (rank === 2) return Number(a) - Number(b);
  if (a instanceof Date && b instanceof Date && rank !== absent) {
    return a.getTime() - b.getTime();
  }
  if (a instanceof Uint8Array && b instanceof Uint8Array) {
    return compareBytes(a, b);
  }
  return 0;
}

function compareBytes(a: Uint8Array, b: Uint8Array): number {
  const length = Math.min(a.length, b.length);
  for (let i = 0; i < length; i++) {
    if (a[i] !== b[i]) return a[i]! - b[i]!;
  }
  return a.length - b.length;
}

/** Are two scalars the same: dates by time, bytes by content? */
export function sameScalar(a: Value, b: Value): boolean {
  if (a === b) return true;
  if (typeof a !== "object" || typeof b !== "object") return false;
  const rank = rankOf(a);
  return (rank === 4 || rank === 6) && rank === rankOf(b) &&
    compareSameRank(rank, a, b) === 0;
}
