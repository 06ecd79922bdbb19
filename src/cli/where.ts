/**
 * Reads `--where` and `--order-by`; whether they make a query is for the query
 * to say.
 *
 * The text is JSON with the operators of the query language. Two things that
 * JSON lacks are read by the field's kind: `null` means missing, and in a date
 * field an ISO 8601 text means its moment (in a bytes field, base64 its bytes).
 *
 * @module
 */

import { fromBase64 } from "../base/bytes.ts";
import type { Direction } from "../query/where.ts";
import { usageFailure } from "./failure.ts";
import type { Field, Value } from "./field.ts";
import { parseIsoDate } from "./iso_date.ts";

const example = `for example --where '{"rank": {"gte": 3}, "done": false}'`;

/** The conditions of `--where`, as the query language takes them. */
export function parseWhere(text: string, fields: readonly Field[]): Value {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw usageFailure(`--where is not JSON: ${why}`, example);
  }
  const known = new Map(fields.map((field) => [field.name, field]));
  return read(value, known, undefined, 0);
}

/** More than any query takes. */
const depthMax = 64;

/** A condition, or below a field's name its operators and their values. */
function read(
  value: unknown,
  known: ReadonlyMap<string, Field>,
  field: Field | undefined,
  depth: number,
): Value {
  if (depth > depthMax) throw usageFailure("--where is nested too deeply");
  if (value === null) return undefined;
  if (typeof value === "string") return readText(value, field);
  if (typeof value !== "object") return value as Value;
  const inner = (part: unknown, of = field) => read(part, known, of, depth + 1);
  if (Array.isArray(value)) return value.map((part) => inner(part));
  return Object.fromEntries(
    Object.entries(value).map((
      [key, part],
    ) => [key, inner(part, field ?? known.get(key))]),
  );
}

function readText(text: string, field: Field | undefined): Value {
  if (field?.kind === "date") {
    const date = parseIsoDate(text);
    if (date !== undefined) return date;
    throw usageFailure(
      `field "${field.name}" is a date, "${text}" is none`,
      "ISO 8601: 2026-11-20, or 2026-11-20T14:05:00Z with its zone",
    );
  }
  if (field?.kind !== "bytes") return text;
  try {
    return fromBase64(text);
  } catch {
    const { name } = field;
    throw usageFailure(`field "${name}" holds bytes, "${text}" is not base64`);
  }
}

/** The keys of `--order-by`: `rank`, `rank:desc`, or several with commas. */
export function parseOrderBy(text: string): (readonly [string, Direction])[] {
  return text.split(",").map((part) => {
    const [, name = "", direction = "asc"] =
      /^(.*?)(?::(asc|desc))?$/.exec(part.trim()) ?? [];
    return [name, direction === "desc" ? "desc" : "asc"];
  });
}
