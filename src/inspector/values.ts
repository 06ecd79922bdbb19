/**
 * Values of fields as text that a person reads and types, and back. Pure.
 *
 * What is typed is only turned into its kind here: the write itself says whether
 * it fits the field.
 */

import { fromHex, toHex } from "../base/bytes.ts";
import type { FieldKind } from "../schema/patch.ts";

/** A field, as far as its values are read and typed. */
export interface TypedField {
  readonly kind: FieldKind;
  /** The elements of a set, map or list. */
  readonly inner?: TypedField | undefined;
}

/** What is shown of a value; nothing of what is absent. */
export function textOf(value: unknown, { kind }: TypedField): string {
  if (value === undefined) return "";
  if (isJson(kind)) return JSON.stringify(value, plain);
  return String(plain("", value));
}

/** Is it typed as JSON? */
export function isJson(kind: FieldKind): boolean {
  return ["json", "set", "map", "list"].includes(kind);
}

/** Dates are ISO text, bytes hexadecimal text. */
function plain(_name: string, value: unknown): unknown {
  if (value instanceof Uint8Array) return toHex(value);
  return value instanceof Date ? value.toISOString() : value;
}

/**
 * What a text says as a value of a field; `undefined` for nothing, where nothing
 * is no value of that kind.
 *
 * @throws {SyntaxError} where JSON or bytes are expected and the text is none
 */
export function valueOf(text: string, { kind, inner }: TypedField): unknown {
  if (kind === "string" || kind === "text") return text;
  if (text.trim() === "") return undefined;
  if (!isJson(kind)) return scalarOf(text, kind);
  const value = parse(text);
  if (kind === "json" || typeof value !== "object" || value === null) {
    return value;
  }
  const element = (one: unknown) =>
    typeof one === "string" && inner !== undefined
      ? scalarOf(one, inner.kind)
      : one;
  if (Array.isArray(value)) return value.map(element);
  const entries = Object.entries(value);
  return Object.fromEntries(entries.map(([key, one]) => [key, element(one)]));
}

function scalarOf(text: string, kind: FieldKind): unknown {
  switch (kind) {
    case "number":
    case "counter":
      return Number(text);
    case "boolean":
      return text === "true" ? true : text === "false" ? false : text;
    case "date":
      return new Date(text);
    case "bytes":
      return fromHex(text);
    default:
      return text;
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new SyntaxError(`This is not JSON: ${(error as Error).message}`);
  }
}
