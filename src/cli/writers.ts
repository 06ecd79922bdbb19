/**
 * Items as text: JSON, JSONL, CSV, and cells of a table.
 *
 * Dates are ISO 8601, bytes base64, sets, lists and maps JSON, so that an
 * import of the output gives the same items. For a terminal every steering
 * character is escaped (in JSON the value stays the same).
 */

import { toBase64 } from "../base/bytes.ts";
import { escapeControls, escapeJson } from "./output.ts";
import type { TextFormat } from "./input.ts";
import type { Field, FieldKind, Item, Value } from "./field.ts";

/** Turns items into text or bytes, one piece per item. */
export interface ItemWriter<Piece extends string | Uint8Array = string> {
  /** What stands before the first item. */
  readonly head: Piece;
  /** One item, with what separates it from its predecessor. */
  item(item: Item): Piece;
  /** What stands behind the last item. */
  readonly tail: Piece;
}

/** A writer of text; is it safe to show where `isTerminal`? */
export function itemWriter(
  format: TextFormat,
  names: readonly string[],
  isTerminal: boolean,
): ItemWriter {
  const safe = isTerminal ? escapeJson : (text: string) => text;
  if (format === "csv") return csvWriter(names, isTerminal);
  if (format === "jsonl") {
    return { head: "", item: (item) => `${safe(toJson(item))}\n`, tail: "" };
  }
  let separator = "\n  ";
  return {
    head: "[",
    item(item) {
      const text = separator + safe(toJson(item));
      separator = ",\n  ";
      return text;
    },
    tail: "\n]\n",
  };
}

/** What text does not carry of these fields, for the person who exports; `undefined` when nothing. */
export function textLoss(
  format: TextFormat,
  fields: readonly Field[],
): string | undefined {
  const lost = fields.filter(({ kind }) => !carried.has(kind));
  if (lost.length === 0) return undefined;
  const listed = lost.slice(0, 12).map(({ name, kind }) => `${name} (${kind})`);
  const more = lost.length > 12 ? ` and ${lost.length - 12} more` : "";
  const csv = format === "csv" && lost.some(({ kind }) => kind === "json")
    ? "; in CSV a json text that reads as JSON comes back as what it says"
    : "";
  return `note: ${format} does not carry the kinds of ${
    listed.join(", ")
  }${more}: ` +
    `they come back only with --schema, or into a collection that has them${csv}; ` +
    "--format msgpack loses nothing";
}

/** Kinds that a text format's own values tell. */
const carried: ReadonlySet<FieldKind> = new Set([
  "string",
  "number",
  "boolean",
]);

export function columnNames(fields: readonly Field[]): string[] {
  return ["id", ...fields.map((field) => field.name)];
}

function csvWriter(names: readonly string[], isTerminal: boolean): ItemWriter {
  const cell = isTerminal
    ? (text: string) => quote(escapeControls(text))
    : quote;
  return {
    head: `${names.map(cell).join(",")}\r\n`,
    item(item) {
      let line = "";
      for (let i = 0; i < names.length; i++) {
        if (i > 0) line += ",";
        const text = toCell(item[names[i] ?? ""]);
        if (text !== undefined) line += cell(text);
      }
      // A lone missing value would be an empty line, which is no record.
      return `${line === "" ? '""' : line}\r\n`;
    },
    tail: "",
  };
}

const special = /[",\r\n]/;

/** A missing value is an empty cell, so an empty string wears quotes. */
function quote(text: string): string {
  const isPlain = text.length > 0 && !special.test(text) &&
    text.charCodeAt(0) > space && text.charCodeAt(text.length - 1) > space;
  return isPlain ? text : `"${text.replaceAll('"', '""')}"`;
}

/** Some readers trim white space at the ends of an unquoted cell. */
const space = 32;

export function toCell(value: Value): string | undefined {
  if (value === undefined) return undefined;
  if (typeof value === "string") return value;
  if (typeof value === "number") return numberText(value);
  if (typeof value === "boolean") return String(value);
  return textOf(value) ?? toJson(value);
}

/** What JSON has only text for; `undefined` for the rest. */
function textOf(value: Value): string | undefined {
  if (value instanceof Date) return value.toISOString();
  return value instanceof Uint8Array ? toBase64(value) : undefined;
}

/** `String(-0)` loses the sign. */
function numberText(value: number): string {
  return Object.is(value, -0) ? "-0" : String(value);
}

/** A value as JSON text, which unlike that of `JSON.stringify` has a zero's sign. */
function toJson(value: Value): string {
  if (typeof value === "number") {
    return Number.isFinite(value) ? numberText(value) : "null";
  }
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const text = textOf(value);
  if (text !== undefined) return JSON.stringify(text);
  if (Array.isArray(value)) {
    return `[${value.map((one) => toJson(one ?? null)).join(",")}]`;
  }
  const fields = Object.entries(value).filter(([, one]) => one !== undefined)
    .map(([name, one]) => `${JSON.stringify(name)}:${toJson(one)}`);
  return `{${fields.join(",")}}`;
}
