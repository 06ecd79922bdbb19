/**
 * Reads `--where` and `--order-by`.
 *
 * The text is JSON with the operators of the query language. Two things that
 * JSON lacks are read by the field's kind: `null` means missing, and in a date
 * field an ISO 8601 text means its moment (in a bytes field, base64 its bytes).
 *
 * @module
 */

import { fromBase64 } from "../base/bytes.ts";
import { usageFailure } from "./failure.ts";
import { parseIsoDate } from "./iso_date.ts";
import type { Direction } from "../query/where.ts";
import type { Field, FieldKind, Value } from "./field.ts";

/** Conditions as the query language takes them. */
export type Where = { readonly [key: string]: Value };

const example = `for example --where '{"rank": {"gte": 3}, "done": false}'`;
const depthMax = 32;

/** The conditions of `--where`. */
export function parseWhere(text: string, fields: readonly Field[]): Where {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw usageFailure(`--where is not JSON: ${why}`, example);
  }
  const kinds = new Map(fields.map((field) => [field.name, field.kind]));
  kinds.set("id", "string");
  return readWhere(value, kinds, 0);
}

type Kinds = ReadonlyMap<string, FieldKind>;

function readWhere(value: unknown, kinds: Kinds, depth: number): Where {
  if (!isRecord(value)) {
    throw usageFailure("--where takes an object of conditions", example);
  }
  if (depth > depthMax) throw usageFailure("--where is nested too deeply");
  const where: { [key: string]: Value } = {};
  for (const [key, inner] of Object.entries(value)) {
    where[key] = readCondition(key, inner, kinds, depth);
  }
  return where;
}

function readCondition(
  key: string,
  value: unknown,
  kinds: Kinds,
  depth: number,
): Value {
  const kind = kinds.get(key);
  if (kind !== undefined) return readOperand(value, kind, key, depth);
  if (key === "not") return readWhere(value, kinds, depth + 1);
  if (key === "or" || key === "and") {
    if (Array.isArray(value)) {
      return value.map((part) => readWhere(part, kinds, depth + 1));
    }
    throw usageFailure(`"${key}" takes an array of conditions`, example);
  }
  throw unknownField(key, kinds);
}

/** A value, or an object of operators whose values are of the field's kind. */
function readOperand(
  value: unknown,
  kind: FieldKind,
  field: string,
  depth: number,
): Value {
  if (depth > depthMax) throw usageFailure("--where is nested too deeply");
  if (value === null) return undefined;
  if (typeof value === "string") return readText(value, kind, field);
  if (typeof value === "number" || typeof value === "boolean") return value;
  const read = (inner: unknown) => readOperand(inner, kind, field, depth + 1);
  if (Array.isArray(value)) return value.map(read);
  if (!isRecord(value)) return undefined;
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [key, read(inner)]),
  );
}

function readText(text: string, kind: FieldKind, field: string): Value {
  if (kind === "date") {
    const date = parseIsoDate(text);
    if (date !== undefined) return date;
    throw usageFailure(
      `field "${field}" is a date, "${text}" is none`,
      "ISO 8601: 2026-11-20, or 2026-11-20T14:05:00Z with its zone",
    );
  }
  if (kind !== "bytes") return text;
  try {
    return fromBase64(text);
  } catch {
    throw usageFailure(`field "${field}" holds bytes, "${text}" is not base64`);
  }
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function unknownField(name: string, kinds: Kinds): Error {
  const known = [...kinds.keys()].join(", ");
  return usageFailure(`no field is named "${name}"`, `fields: ${known}`);
}

/** The keys of `--order-by`: `rank`, `rank:desc`, or several with commas. */
export function parseOrderBy(
  text: string,
  fields: readonly Field[],
): (readonly [string, Direction])[] {
  const kinds: Kinds = new Map([
    ["id", "string"],
    ...fields.map((field) => [field.name, field.kind] as const),
  ]);
  return text.split(",").map((part) => {
    const [, name = "", direction = "asc"] =
      /^(.*?)(?::(asc|desc))?$/.exec(part.trim()) ?? [];
    if (!kinds.has(name)) throw unknownField(name, kinds);
    return [name, direction === "desc" ? "desc" : "asc"];
  });
}
