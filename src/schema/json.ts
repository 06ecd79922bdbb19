/**
 * JSON values: copied in, frozen, bounded, and compared.
 *
 * A value has one text: no spaces, keys ascending, numbers and characters as
 * `JSON.stringify()` writes them. A copy reads each property once, so an accessor
 * cannot show one value to the check and another to the store. Negative zero
 * becomes zero, since JSON text cannot tell them apart. A key named `__proto__`
 * stays an own property.
 */

import { limits } from "../base/limits.ts";
import type { Value } from "./patch.ts";

type Json = Exclude<Value, undefined | Date | Uint8Array>;

export type Complain = (why: string) => never;

/** A frozen deep copy of what JSON can say; complains about anything else. */
export function copyJson(value: unknown, complain: Complain, depth = 0): Json {
  switch (typeof value) {
    case "string":
      return value.isWellFormed() ? value : complain("it has a lone surrogate");
    case "number":
      if (!Number.isFinite(value)) return complain(`${value} is not JSON`);
      return value === 0 ? 0 : value;
    case "boolean":
      return value;
    case "object":
      if (value === null) return null;
      if (depth >= limits.jsonDepthMax) {
        return complain(
          `it is nested over ${limits.jsonDepthMax} deep or cyclic`,
        );
      }
      if (Array.isArray(value)) return copyArray(value, complain, depth);
      return copyRecord(value, complain, depth);
    default:
      return complain(`${typeof value} is not JSON`);
  }
}

function copyArray(
  value: readonly unknown[],
  complain: Complain,
  depth: number,
): Json {
  const { length } = value;
  if (length > limits.valueBytesMax) return complain("it is too long");
  const copy: Json[] = [];
  for (let i = 0; i < length; i++) {
    copy.push(copyJson(value[i], complain, depth + 1));
  }
  return Object.freeze(copy);
}

function copyRecord(value: object, complain: Complain, depth: number): Json {
  const prototype = Object.getPrototypeOf(value);
  if (prototype !== null && Object.getPrototypeOf(prototype) !== null) {
    return complain("it holds an object with a class");
  }
  const copy: Record<string, Json> = {};
  for (const [key, inner] of ascending(Object.entries(value))) {
    if (!key.isWellFormed()) return complain("a key has a lone surrogate");
    setOwn(copy, key, copyJson(inner, complain, depth + 1));
  }
  return Object.freeze(copy);
}

/** The same entries, by their keys: nearly always they are so already. */
export function ascending<T>(entries: [string, T][]): [string, T][] {
  for (let i = 1; i < entries.length; i++) {
    if (entries[i - 1]![0] < entries[i]![0]) continue;
    return entries.sort(([a], [b]) => a < b ? -1 : 1);
  }
  return entries;
}

/** The one text of a JSON value. */
export function writeJson(value: Value): string {
  return isAscending(value) ? JSON.stringify(value) : sortedJson(value);
}

/** Does every object in it say its keys in ascending order? Engines put those that are numbers first. */
function isAscending(value: Value): boolean {
  if (typeof value !== "object" || value === null) return true;
  if (Array.isArray(value)) return value.every(isAscending);
  // Proof: whatever JSON text says is JSON.
  const record = value as Record<string, Json>;
  let last: string | undefined;
  for (const key of Object.keys(record)) {
    if (last !== undefined && last > key) return false;
    if (!isAscending(record[key])) return false;
    last = key;
  }
  return true;
}

function sortedJson(value: Value): string {
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(sortedJson).join()}]`;
  const entries = ascending(Object.entries(value))
    .map(([key, inner]) => `${JSON.stringify(key)}:${sortedJson(inner)}`);
  return `{${entries.join()}}`;
}

/** Sets an own property, whatever its name. */
export function setOwn<T>(
  target: Record<string, T>,
  key: string,
  value: T,
): void {
  if (key !== "__proto__") target[key] = value;
  else {
    Object.defineProperty(target, key, {
      value,
      enumerable: true,
      configurable: true,
      writable: true,
    });
  }
}

/** The frozen value of JSON text; `SyntaxError` when it is none of ours. */
export function parseJson(text: string): Json {
  return settleText(text, new Met());
}

/** The same, of a value's one text; `SyntaxError` when it is another. */
export function parseOneJson(text: string): Json {
  const met = new Met();
  const value = settleText(text, met);
  const isOne = met.isAscending && isPlain(text, met.keys) ||
    writeJson(value) === text;
  return isOne ? value : undecodable("it has another form");
}

class Met {
  /** Are the keys of each object, in the order of the text, too? No engine puts them elsewhere. */
  isAscending = true;
  keys = 0;
  /** May half a character be in it? */
  hasHalves = false;
}

/** Longer texts are written again: a pattern that repeats takes memory. */
const PLAIN_LENGTH_MAX = 4_096;
/** Nothing in it that could be said otherwise, where it is JSON: no space, no escape, no odd number. */
const PLAIN =
  /^(?:"[^"\\]*"|[{}[\]:,]|-?(?:0|[1-9]\d{0,6})\.\d{0,5}[1-9](?![\d.eE])|(?:0|-?[1-9]\d{0,14})(?![\d.eE])|true|false|null)*$/;

/** Is JSON text of so many different keys, which ascend, surely the only one of its value? */
function isPlain(text: string, keys: number): boolean {
  if (text.length > PLAIN_LENGTH_MAX || !PLAIN.test(text)) return false;
  let count = 0;
  for (let at = text.indexOf('":'); at >= 0; at = text.indexOf('":', at + 2)) {
    count++;
  }
  return count === keys;
}

function settleText(text: string, met: Met): Json {
  // Where the text is whole, only an escape makes a half.
  met.hasHalves = text.includes("\\") || !text.isWellFormed();
  // Proof: whatever JSON text says is JSON.
  return settle(JSON.parse(text) as Json, 0, met);
}

/** What was parsed, checked and frozen in its place: a copy would take as much memory again. */
function settle(value: Json, depth: number, met: Met): Json {
  if (typeof value === "string") {
    if (met.hasHalves && !value.isWellFormed()) undecodable(HALF);
    return value;
  }
  if (typeof value !== "object" || value === null) {
    return copyJson(value, undecodable);
  }
  if (depth >= limits.jsonDepthMax) undecodable("it is nested too deep");
  if (Array.isArray(value)) settleArray(value, depth + 1, met);
  // Proof: nobody else has it yet.
  else settleRecord(value as Record<string, Json>, depth + 1, met);
  return Object.freeze(value);
}

function settleArray(all: Json[], depth: number, met: Met): void {
  for (let i = 0; i < all.length; i++) {
    const inner = settle(all[i]!, depth, met);
    if (!Object.is(inner, all[i])) all[i] = inner;
  }
}

function settleRecord(
  record: Record<string, Json>,
  depth: number,
  met: Met,
): void {
  let last = "";
  for (const key of Object.keys(record)) {
    if (met.hasHalves && !key.isWellFormed()) undecodable(HALF);
    if (key < last || isDigit(key)) met.isAscending = false;
    last = key;
    met.keys++;
    const inner = settle(record[key]!, depth, met);
    if (!Object.is(inner, record[key])) setOwn(record, key, inner);
  }
}

/** Engines put keys that are numbers first. */
function isDigit(key: string): boolean {
  const code = key.charCodeAt(0);
  return code >= 48 && code <= 57;
}

const HALF = "it has a lone surrogate";

function undecodable(why: string): never {
  throw new SyntaxError(`Cannot decode JSON: ${why}`);
}

/** Are both the same value, all the way down? Key order does not matter. */
export function equalValues(a: Value, b: Value): boolean {
  if (a === b) return true;
  if (typeof a !== "object" || typeof b !== "object") return false;
  if (a === null || b === null) return false;
  if (a instanceof Date) {
    return b instanceof Date && a.getTime() === b.getTime();
  }
  if (a instanceof Uint8Array || Array.isArray(a)) {
    return a instanceof Uint8Array === b instanceof Uint8Array &&
      equalSequences(a, b);
  }
  return equalRecords(a, b);
}

function equalSequences(
  a: readonly Value[] | Uint8Array,
  b: object,
): boolean {
  if (!Array.isArray(b) && !(b instanceof Uint8Array)) return false;
  if (a.length !== b.length) return false;
  for (let i = 0; i < a.length; i++) {
    if (!equalValues(a[i], b[i])) return false;
  }
  return true;
}

function equalRecords(a: object, b: object): boolean {
  if (b instanceof Date || b instanceof Uint8Array || Array.isArray(b)) {
    return false;
  }
  const left = Object.entries(a);
  if (left.length !== Object.keys(b).length) return false;
  const right = new Map<string, Value>(Object.entries(b));
  return left.every(([key, value]) =>
    right.has(key) && equalValues(value, right.get(key))
  );
}

/** A value that its holder may change without harm. */
export function copyValue(value: Value): Value {
  if (value instanceof Date) return new Date(value.getTime());
  return value instanceof Uint8Array ? value.slice() : value;
}
