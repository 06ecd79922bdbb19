/**
 * Turns a raw row into a draft: text into numbers, dates, bytes and nested
 * values, as the field's kind says.
 *
 * Whether a value is allowed is the schema's business; here it only has to
 * have a reading. `SyntaxError` says that it has none.
 *
 * @module
 */

import { fromBase64 } from "../base/bytes.ts";
import { InexactJson, isExactNumber, parseExactJson } from "./exact_json.ts";
import type { Draft, Field, FieldKind, RawRow, Value } from "./field.ts";
import { fieldName, parseBoolean } from "./infer.ts";
import { parseIsoDate } from "./iso_date.ts";

/** Reads rows of one input for one schema. */
export class RowReader {
  readonly #fields: ReadonlyMap<string, Field>;
  readonly #idField: string;
  readonly #isText: boolean;

  /**
   * @param fields the schema's fields
   * @param idField the field that holds the item's id
   * @param isText are all values text, as in CSV?
   */
  constructor(fields: readonly Field[], idField: string, isText: boolean) {
    this.#fields = new Map(fields.map((field) => [field.name, field]));
    this.#idField = idField;
    this.#isText = isText;
  }

  /** The draft of a row; `SyntaxError` when a value has no reading. */
  read(row: RawRow): Draft {
    const values: { [field: string]: Value } = {};
    for (const name of Object.keys(row.values)) {
      if (name === "id") continue;
      const field = this.#fields.get(name) ??
        this.#fields.get(fieldName(name));
      if (field === undefined) throw this.#unknown(name);
      if (Object.hasOwn(values, field.name)) {
        throw new SyntaxError(`field "${field.name}" stands twice`);
      }
      const value = readValue(field, row.values[name], this.#isText);
      if (value !== undefined) values[field.name] = value;
    }
    return { id: this.#id(row), values };
  }

  #id(row: RawRow): string | undefined {
    const value = row.values[this.#idField];
    if (typeof value === "string" && value !== "") return value;
    if (isShort(value)) return String(value);
    if (value === undefined && this.#idField === "id") return undefined;
    throw new SyntaxError(`field "${this.#idField}" holds no id`);
  }

  #unknown(name: string): SyntaxError {
    const known = [...this.#fields.keys()].join(", ");
    return new SyntaxError(
      `the schema has no field "${name}" (it has ${known})`,
    );
  }
}

/**
 * The value of a field; `undefined` when it is missing.
 *
 * @param isText does text stand for JSON, and an empty one for nothing, as in CSV?
 */
function readValue(field: Field, raw: unknown, isText: boolean): Value {
  if (raw === undefined) return undefined;
  if (isText && raw === "" && !wordy.has(field.kind)) return undefined;
  if (field.kind === "json") return readJsonValue(raw, isText);
  if (raw === null) return undefined;
  const value = readKind(field.kind, field.element, raw);
  if (value !== undefined) return value;
  throw new SyntaxError(
    `field "${field.name}" is ${named[field.kind]}, found ${shown(raw)}`,
  );
}

/** Kinds for which an empty text is a value. */
const wordy: ReadonlySet<FieldKind> = new Set(["string", "enum", "text"]);

/** `undefined` when `raw` cannot be read as `kind`. */
function readKind(
  kind: FieldKind,
  element: FieldKind | undefined,
  raw: unknown,
): Value {
  switch (kind) {
    case "string":
    case "enum":
    case "ref":
    case "text":
      return readString(raw);
    case "number":
    case "counter":
      return readNumber(raw);
    case "boolean":
      return typeof raw === "string" ? parseBoolean(raw) : asBoolean(raw);
    case "date":
      return raw instanceof Date ? raw : readText(raw, parseIsoDate);
    case "bytes":
      return raw instanceof Uint8Array ? raw : readText(raw, readBytes);
    case "json":
      return asValue(raw);
    case "set":
    case "list":
      return readList(element, raw);
    case "map":
      return readMap(element, raw);
  }
}

function readString(raw: unknown): string | undefined {
  if (typeof raw === "string") return raw;
  return isShort(raw) || typeof raw === "boolean" ? String(raw) : undefined;
}

/** Is it a number whose text has all its digits? Larger ones are rounded to tens. */
function isShort(raw: unknown): raw is number {
  return typeof raw === "number" && Math.abs(raw) <= Number.MAX_SAFE_INTEGER;
}

function readNumber(raw: unknown): number | undefined {
  if (typeof raw === "number") return raw;
  return typeof raw === "string" && isExactNumber(raw)
    ? Number(raw)
    : undefined;
}

function asBoolean(raw: unknown): boolean | undefined {
  return typeof raw === "boolean" ? raw : undefined;
}

function readText<T>(raw: unknown, read: (text: string) => T): T | undefined {
  return typeof raw === "string" ? read(raw) : undefined;
}

function readBytes(raw: string): Uint8Array | undefined {
  try {
    return fromBase64(raw);
  } catch {
    return undefined;
  }
}

/** A CSV cell holds JSON text; in JSON and JSONL the value stands as it is. */
function readJsonValue(raw: unknown, isText: boolean): Value {
  return asValue(isText && typeof raw === "string" ? parsedOr(raw, raw) : raw);
}

function readList(element: FieldKind | undefined, raw: unknown): Value {
  const list = typeof raw === "string" ? parsedOr(raw, undefined) : raw;
  if (!Array.isArray(list)) return undefined;
  return readElements(element, list);
}

function readElements(
  element: FieldKind | undefined,
  list: readonly unknown[],
): readonly Value[] | undefined {
  const values: Value[] = [];
  for (const raw of list) {
    const value = readKind(element ?? "json", undefined, raw);
    if (value === undefined) return undefined;
    values.push(value);
  }
  return values;
}

function readMap(element: FieldKind | undefined, raw: unknown): Value {
  const map = typeof raw === "string" ? parsedOr(raw, undefined) : raw;
  if (typeof map !== "object" || map === null || Array.isArray(map)) {
    return undefined;
  }
  const values = readElements(element, Object.values(map));
  if (values === undefined) return undefined;
  return Object.fromEntries(Object.keys(map).map((key, i) => [key, values[i]]));
}

function parsedOr(text: string, otherwise: unknown): unknown {
  try {
    return parseExactJson(text);
  } catch (error) {
    if (error instanceof InexactJson) throw error;
    return otherwise;
  }
}

/** Proof that a parsed JSON value is a {@linkcode Value}: it has no other kinds. */
function asValue(json: unknown): Value {
  return json as Value;
}

function shown(raw: unknown): string {
  const text = JSON.stringify(raw) ?? typeof raw;
  return text.length > 40 ? `${text.slice(0, 40)}…` : text;
}

const named: Readonly<Record<FieldKind, string>> = {
  string: "a string",
  number: "a number",
  boolean: "true or false",
  date: "a date (ISO 8601: a day, or a time with its zone)",
  bytes: "bytes (base64)",
  enum: "one of its words",
  json: "a JSON value",
  ref: "the id of an item",
  counter: "a counter (a number)",
  set: "a set (a JSON array)",
  map: "a map (a JSON object)",
  list: "a list (a JSON array)",
  text: "text",
};
