/**
 * Values from the caller: checked by kind, bounds and the application's own
 * validators, copied and frozen, so that nothing the caller still holds can
 * change what was stored.
 */

import { DatabaseError, type ErrorCode } from "../base/errors.ts";
import { limits } from "../base/limits.ts";
import type { AnyCheck } from "./field.ts";
import { copyJson, copyValue, equalValues } from "./json.ts";
import { isLongerThan, itemIdFault, show, textBytes } from "./names.ts";
import type { FieldKind, Value } from "./patch.ts";
import type { TextEngine } from "./text_state.ts";
import { compareScalars } from "./value_codec.ts";

export interface SchemaField {
  readonly collection: string;
  readonly name: string;
  readonly kind: FieldKind;
  readonly isOptional: boolean;
  initial: Value;
  readonly options: ReadonlySet<string> | undefined;
  readonly inner: SchemaField | undefined;
  /** Knows the order of a text's characters. */
  readonly engine: TextEngine | undefined;
  /** The collection that a ref points into. */
  readonly target: string | undefined;
  /** Must the item that a ref names be there? */
  readonly mustExist: boolean;
  readonly min: number;
  readonly max: number;
  readonly isInteger: boolean;
  readonly isBounded: boolean;
  readonly checks: readonly AnyCheck[];
}

/** Stops with a coded error that names collection, field and expectation. */
export function refuseValue(
  field: SchemaField,
  expected: string,
  value: unknown,
  code?: ErrorCode,
): never {
  refuse(field, expected, show(value), code);
}

function refuse(
  field: SchemaField,
  expected: string,
  got: string,
  code: ErrorCode = "invalid-value",
): never {
  throw new DatabaseError(
    code,
    `Cannot write ${field.collection}.${field.name}: expected ${expected}, got ${got}.`,
  );
}

/** The value of a field, checked and frozen; `undefined` only where it may be. */
export function parseValue(field: SchemaField, value: unknown): Value {
  const parsed = parseKind(field, value);
  if (!field.isBounded || parsed === undefined) return parsed;
  checkBounds(field, parsed);
  return runChecks(field, parsed);
}

function parseKind(field: SchemaField, value: unknown): Value {
  switch (field.kind) {
    case "string":
    case "text":
      return parseString(field, value);
    case "number":
      return parseNumber(field, value);
    case "boolean":
      return typeof value === "boolean" ? value : missing(field, value);
    case "enum":
      return parseEnum(field, value);
    case "ref":
      return parseRef(field, value);
    case "date":
      return parseDate(field, value);
    case "bytes":
      return parseBytes(field, value);
    case "json":
      return parseJsonValue(field, value);
    case "counter":
      return parseCount(field, value);
    case "set":
      return parseSet(field, value);
    case "map":
      return parseMap(field, value);
    default:
      return parseList(field, value);
  }
}

export const expectations: Readonly<Record<FieldKind, string>> = {
  string: "a string",
  number: "a finite number",
  boolean: "true or false",
  date: "a valid Date",
  bytes: "a Uint8Array",
  enum: "one of the options",
  json: "a JSON value",
  ref: "an item id",
  counter: "a whole number",
  set: "an iterable of values",
  map: "an object of values",
  list: "an array of values",
  text: "text",
};

/** `undefined` where the field is optional, otherwise the fault. */
function missing(field: SchemaField, value: unknown): undefined {
  if (value === undefined && field.isOptional) return undefined;
  const more = field.isOptional ? " or undefined" : "";
  refuseValue(field, expectations[field.kind] + more, value);
}

function parseString(field: SchemaField, value: unknown): Value {
  if (typeof value !== "string") return missing(field, value);
  if (isLongerThan(value, limits.valueBytesMax)) tooLarge(field, value);
  if (value.isWellFormed()) return value;
  refuseValue(field, "text without lone surrogates", value);
}

function parseNumber(field: SchemaField, value: unknown): Value {
  if (typeof value !== "number") return missing(field, value);
  if (!Number.isFinite(value)) refuseValue(field, "a finite number", value);
  if (field.isInteger && !Number.isSafeInteger(value)) {
    refuseValue(field, "a whole number", value);
  }
  return value === 0 ? 0 : value;
}

/** Whole, so that sums do not depend on the order of their parts. */
export function parseCount(field: SchemaField, value: unknown): number {
  if (typeof value === "number" && Number.isSafeInteger(value)) {
    return value + 0;
  }
  refuseValue(field, expectations.counter, value);
}

function parseEnum(field: SchemaField, value: unknown): Value {
  if (typeof value === "string" && field.options?.has(value)) return value;
  if (value === undefined) return missing(field, value);
  const options = [...field.options ?? []].map(show).join(", ");
  refuseValue(field, `one of ${options}`, value);
}

function parseRef(field: SchemaField, value: unknown): Value {
  if (typeof value !== "string") return missing(field, value);
  const fault = itemIdFault(value);
  if (fault === undefined) return value;
  refuseValue(field, `an item id, but ${fault}`, value);
}

function parseDate(field: SchemaField, value: unknown): Value {
  if (!(value instanceof Date)) return missing(field, value);
  const ms = Date.prototype.getTime.call(value);
  if (Number.isNaN(ms)) refuse(field, expectations.date, "an invalid one");
  return new Date(ms);
}

function parseBytes(field: SchemaField, value: unknown): Value {
  if (!(value instanceof Uint8Array)) return missing(field, value);
  if (value.length > limits.valueBytesMax) tooLarge(field, value);
  return new Uint8Array(value);
}

function parseJsonValue(field: SchemaField, value: unknown): Value {
  if (value === undefined) return missing(field, value);
  const copy = copyJson(value, (why) => {
    refuse(field, "a JSON value", `${show(value)}: ${why}`);
  });
  if (typeof copy === "object" || typeof copy === "string") {
    checkJsonSize(field, JSON.stringify(copy));
  }
  return copy;
}

function checkJsonSize(field: SchemaField, text: string): void {
  if (isLongerThan(text, limits.valueBytesMax)) tooLarge(field, text);
}

function tooLarge(field: SchemaField, value: string | Uint8Array): never {
  const bytes = typeof value === "string" ? textBytes(value) : value.length;
  const expected = `at most ${limits.valueBytesMax} bytes`;
  refuse(field, expected, `${bytes} bytes`, "value-too-large");
}

/** Stops when a rich field would have too many elements. */
export function checkCount(field: SchemaField, count: number): void {
  if (count <= limits.elementsMax) return;
  const expected = `at most ${limits.elementsMax} elements`;
  refuse(field, expected, `${count}`, "value-too-large");
}

export function parseInner(field: SchemaField, value: unknown): Value {
  return field.inner === undefined ? undefined : parseValue(field.inner, value);
}

/** The values of any iterable but a string, which nobody means as a set. */
export function parseIterable(
  field: SchemaField,
  value: unknown,
): readonly Value[] {
  if (!isIterable(value)) refuseValue(field, expectations.set, value);
  const values: Value[] = [];
  for (const inner of value) {
    checkCount(field, values.length + 1);
    values.push(parseInner(field, inner));
  }
  return values;
}

/** Can it be iterated over, and is it no string? */
export function isIterable(value: unknown): value is Iterable<unknown> {
  return typeof value === "object" && value !== null &&
    Symbol.iterator in value && typeof value[Symbol.iterator] === "function";
}

/** Distinct and ascending. */
function parseSet(field: SchemaField, value: unknown): Value {
  if (Array.isArray(value) && value.length <= SMALL) {
    return parseSmallSet(field, value);
  }
  return sortedSet(parseIterable(field, value));
}

/** Up to here inserting in place beats a sort. */
const SMALL = 16;

function parseSmallSet(field: SchemaField, values: readonly unknown[]): Value {
  if (values.length === 0) return empty;
  const sorted: Value[] = new Array(values.length);
  let count = 0;
  for (let i = 0; i < sorted.length; i++) {
    const value = parseInner(field, values[i]);
    let at = count;
    while (at > 0 && compareScalars(sorted[at - 1], value) > 0) at--;
    if (at > 0 && compareScalars(sorted[at - 1], value) === 0) continue;
    for (let j = count++; j > at; j--) sorted[j] = sorted[j - 1];
    sorted[at] = value;
  }
  return Object.freeze(count < sorted.length ? sorted.slice(0, count) : sorted);
}

const empty: readonly Value[] = Object.freeze([]);

/** A frozen array of the distinct values in ascending order. */
export function sortedSet(values: readonly Value[]): readonly Value[] {
  if (values.length === 0) return empty;
  const sorted = values.slice();
  if (!isAscending(sorted)) sorted.sort(compareScalars);
  let count = 0;
  for (const value of sorted) {
    if (count === 0 || sorted[count - 1] !== value) sorted[count++] = value;
  }
  sorted.length = count;
  return Object.freeze(sorted);
}

function isAscending(values: readonly Value[]): boolean {
  for (let i = 1; i < values.length; i++) {
    if (compareScalars(values[i - 1], values[i]) >= 0) return false;
  }
  return true;
}

/** The entries of a plain object, checked; each property is read once. */
export function parseEntries(
  field: SchemaField,
  value: unknown,
): [string, Value][] {
  if (!isPlainObject(value)) refuseValue(field, expectations.map, value);
  const entries: [string, Value][] = [];
  for (const [key, inner] of Object.entries(value)) {
    entries.push([parseKey(field, key), parseInner(field, inner)]);
  }
  checkCount(field, entries.length);
  return entries;
}

export function parseKey(field: SchemaField, key: unknown): string {
  if (typeof key !== "string" || !key.isWellFormed()) {
    refuseValue(field, "keys of well-formed text", key);
  }
  if (!isLongerThan(key, limits.keyBytesMax)) return key;
  const expected = `keys of at most ${limits.keyBytesMax} bytes`;
  refuseValue(field, expected, key, "value-too-large");
}

/** An object that is no array, date, bytes or instance of a class. */
export function isPlainObject(value: unknown): value is object {
  if (typeof value !== "object" || value === null) return false;
  const prototype = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}

function parseMap(field: SchemaField, value: unknown): Value {
  return recordOf(parseEntries(field, value));
}

/** A frozen object without a prototype, keys in ascending order. */
export function recordOf(entries: [string, Value][]): Value {
  const record: Record<string, Value> = Object.create(null);
  entries.sort(([a], [b]) => a < b ? -1 : a > b ? 1 : 0);
  for (const [key, value] of entries) record[key] = value;
  return Object.freeze(record);
}

function parseList(field: SchemaField, value: unknown): Value {
  if (!Array.isArray(value)) refuseValue(field, expectations.list, value);
  const { length } = value;
  checkCount(field, length);
  const values: Value[] = [];
  for (let i = 0; i < length; i++) values.push(parseInner(field, value[i]));
  return Object.freeze(values);
}

function checkBounds(field: SchemaField, value: Value): void {
  const size = sizeOf(value);
  if (size >= field.min && size <= field.max) return;
  const what = typeof value === "number" ? "a number" : "a length";
  const { min, max } = field;
  const range = max === Infinity
    ? `of at least ${min}`
    : min === -Infinity
    ? `of at most ${max}`
    : `from ${min} to ${max}`;
  refuseValue(field, `${what} ${range}`, size);
}

function sizeOf(value: Value): number {
  if (typeof value === "number") return value;
  if (typeof value === "string" || value instanceof Uint8Array) {
    return value.length;
  }
  if (Array.isArray(value)) return value.length;
  return value ? Object.keys(value).length : 0;
}

export function runChecks(field: SchemaField, value: Value): Value {
  let current = value;
  for (const check of field.checks) {
    const answer = typeof check === "function"
      // The value was parsed by its kind: it has the type that the check takes.
      ? askFunction(field, check as (value: Value) => unknown, current)
      : askStandard(field, check, current);
    if (!equalValues(answer, current)) {
      current = parseKind(field, answer);
      checkBounds(field, current);
    }
  }
  return current;
}

// A validator gets its own dates and bytes, so that it cannot change ours.
function askFunction(
  field: SchemaField,
  check: (value: Value) => unknown,
  value: Value,
): Value {
  const answer = check(copyValue(value));
  if (answer === true) return value;
  const why = typeof answer === "string"
    ? answer
    : "a value that its check takes";
  refuseValue(field, why, value);
}

function askStandard(
  field: SchemaField,
  check: Exclude<AnyCheck, (value: never) => unknown>,
  value: Value,
): Value {
  const result = check["~standard"].validate(copyValue(value));
  if (result instanceof Promise || "then" in result) {
    throw new DatabaseError(
      "invalid-schema",
      `Cannot use the validator of ${field.collection}.${field.name}: it answers later. ` +
        "Use a synchronous validator.",
    );
  }
  if (result.issues !== undefined) {
    const why = result.issues.map((issue) => issue.message).join("; ");
    refuseValue(field, `a value that its validator takes (${why})`, value);
  }
  return parseKind(field, result.value);
}
