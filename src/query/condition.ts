/**
 * Conditions as plain data: what a `where` object means once it was checked.
 *
 * Values are already keys (dates are milliseconds, booleans 0 and 1), so that
 * indexes, columns and items are all asked the same question. A range or a
 * prefix never matches an absent value; `not` is plain negation, so it does.
 */

import type { FieldKind, Item, Value } from "../schema/patch.ts";
import type { Key } from "./value.ts";

/** Names of checked fields with their kinds; `id` is one of them. */
export type Fields = ReadonlyMap<string, FieldKind>;

export interface OfField {
  readonly field: string;
  readonly kind: FieldKind;
}

/** The field has this key; `undefined` asks for absence. */
export interface Equal extends OfField {
  readonly what: "equal";
  readonly key: Key;
}

/** The field has one of these keys, each listed once. */
export interface In extends OfField {
  readonly what: "in";
  readonly keys: readonly Key[];
}

/** The field lies between two keys; `undefined` leaves a side open-ended. */
export interface Range extends OfField {
  readonly what: "range";
  readonly low: Key;
  readonly lowOpen: boolean;
  readonly high: Key;
  readonly highOpen: boolean;
}

export interface Prefix extends OfField {
  readonly what: "prefix";
  readonly text: string;
}

/** A substring, a set's or list's element, or a map's key. */
export interface Contains extends OfField {
  readonly what: "contains";
  readonly value: Value;
}

export type Leaf = Equal | In | Range | Prefix | Contains;

/** A user's function. */
export interface Predicate {
  readonly what: "predicate";
  readonly test: (item: Item) => boolean;
}

export type Condition =
  | Leaf
  | Predicate
  | { readonly what: "all"; readonly parts: readonly Condition[] }
  | { readonly what: "any"; readonly parts: readonly Condition[] }
  | { readonly what: "not"; readonly part: Condition };

/** Does a key satisfy a leaf? `contains` holds here for strings only. */
export function keyMatches(leaf: Leaf, key: Key | null): boolean {
  if (key === null) return false;
  switch (leaf.what) {
    case "equal":
      return key === leaf.key;
    case "in":
      return leaf.keys.includes(key);
    case "range":
      return key !== undefined && inRange(leaf, key);
    case "prefix":
      return typeof key === "string" && key.startsWith(leaf.text);
    case "contains":
      return typeof key === "string" && typeof leaf.value === "string" &&
        key.includes(leaf.value);
  }
}

function inRange(range: Range, key: number | string): boolean {
  const { low, high } = range;
  if (low !== undefined && (range.lowOpen ? key <= low : key < low)) {
    return false;
  }
  return high === undefined || (range.highOpen ? key < high : key <= high);
}

export function describe(condition: Condition): string {
  switch (condition.what) {
    case "predicate":
      return "a function";
    case "all":
      return condition.parts.map(describe).join(" and ");
    case "any":
      return `(${condition.parts.map(describe).join(" or ")})`;
    case "not":
      return `not (${describe(condition.part)})`;
    case "equal":
      return condition.key === undefined
        ? `${condition.field} is absent`
        : `${condition.field} = ${showKey(condition.kind, condition.key)}`;
    case "in":
      return `${condition.field} in ${condition.keys.length} values`;
    case "range":
      return describeRange(condition);
    case "prefix":
      return `${condition.field} starts with ${show(condition.text)}`;
    case "contains":
      return `${condition.field} contains ${show(condition.value)}`;
  }
}

function describeRange(range: Range): string {
  const { field, kind, low, high } = range;
  const parts: string[] = [];
  if (low !== undefined) {
    parts.push(`${field} ${range.lowOpen ? ">" : ">="} ${showKey(kind, low)}`);
  }
  if (high !== undefined) {
    parts.push(
      `${field} ${range.highOpen ? "<" : "<="} ${showKey(kind, high)}`,
    );
  }
  return parts.join(" and ");
}

/** A key as the user wrote it. */
function showKey(kind: FieldKind, key: Key): string {
  if (kind === "boolean") return key === 1 ? "true" : "false";
  if (kind === "date" && typeof key === "number") {
    return new Date(key).toISOString();
  }
  return kind === "bytes" ? `${String(key).length} bytes` : show(key);
}

const shownMax = 40;

function show(value: Value): string {
  const text = JSON.stringify(value) ?? "absent";
  return text.length > shownMax ? `${text.slice(0, shownMax)}…` : text;
}

/** The first text behind all that start with `text`, if there is one. */
export function textAfter(text: string): string | undefined {
  for (let at = text.length - 1; at >= 0; at--) {
    const unit = text.charCodeAt(at);
    if (unit < 0xffff) {
      return text.slice(0, at) + String.fromCharCode(unit + 1);
    }
  }
  return undefined;
}
