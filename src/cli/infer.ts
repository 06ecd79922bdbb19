/**
 * Infers the fields of a collection from the rows of an input.
 *
 * A kind is taken only when every value fits it: a date field has nothing but
 * ISO 8601 dates, a number field in CSV nothing but numbers that survive being
 * one (`007` and a 20-digit id stay strings). A field that any row lacks is
 * optional.
 */

import { limits } from "../base/limits.ts";
import { isFieldName } from "../schema/names.ts";
import { isExactNumber, parseExactJson } from "./exact_json.ts";
import { usageFailure } from "./failure.ts";
import type { Field, FieldKind, RawRow } from "./field.ts";
import { parseIsoDate } from "./iso_date.ts";

interface Seen {
  present: number;
  /** Strings, all of which may also read as: */
  strings: number;
  emptyStrings: number;
  allDates: boolean;
  allNumbers: boolean;
  allBooleans: boolean;
  allNested: boolean;
  numbers: number;
  booleans: number;
  nested: number;
  elements: FieldKind | "mixed" | undefined;
  /** Distinct words, gathered only where a stored enum is to be filled. */
  readonly words: Set<string> | undefined;
}

/** The id and the fields of a schema. */
const namesMax = limits.fieldsMax + 1;

/** Gathers what rows hold; {@linkcode Inference.fields} says what fits. */
export class Inference {
  readonly #seen = new Map<string, Seen>();
  readonly #areStringsTyped: boolean;
  readonly #stored: ReadonlyMap<string, Field>;
  #rows = 0;

  /**
   * @param areStringsTyped may a string stand for a number, as in CSV?
   * @param stored fields that the collection has already: their kinds win, so
   * that an export goes back into the collection that it came from
   */
  constructor(areStringsTyped: boolean, stored: readonly Field[] = []) {
    this.#areStringsTyped = areStringsTyped;
    this.#stored = new Map(stored.map((field) => [field.name, field]));
  }

  get rows(): number {
    return this.#rows;
  }

  add(row: RawRow): void {
    this.#rows++;
    for (const name of Object.keys(row.values)) {
      const value = row.values[name];
      const seen = this.#of(name);
      if (value !== null && value !== undefined) this.#look(seen, value);
    }
  }

  /**
   * The fields, in order of first appearance, without the one named `id`;
   * stored ones that no row has come last.
   */
  fields(): Field[] {
    const fields: Field[] = [];
    const missing = new Map(this.#stored);
    const sources = new Map<string, string>();
    for (const [name, seen] of this.#seen) {
      if (name === "id") continue;
      const field = this.#field(fieldName(name), seen);
      refuseCollision(sources, name, field.name);
      const stored = this.#stored.get(field.name);
      fields.push(stored ? likeStored(field, stored, seen) : field);
      missing.delete(field.name);
    }
    const unseen = emptySeen(new Set());
    for (const stored of missing.values()) {
      const field = { name: stored.name, kind: stored.kind, optional: true };
      fields.push(likeStored(field, stored, unseen));
    }
    return fields;
  }

  #of(name: string): Seen {
    let seen = this.#seen.get(name);
    if (seen === undefined) {
      if (this.#seen.size === namesMax) {
        throw usageFailure(
          `The rows have over ${namesMax} different names; a schema has at most ${limits.fieldsMax} fields`,
        );
      }
      const isEnum = this.#stored.get(fieldName(name))?.kind === "enum";
      seen = emptySeen(isEnum ? new Set() : undefined);
      this.#seen.set(name, seen);
    }
    return seen;
  }

  #look(seen: Seen, value: unknown): void {
    seen.present++;
    if (typeof value === "number") seen.numbers++;
    else if (typeof value === "boolean") seen.booleans++;
    else if (typeof value === "string") this.#lookAtString(seen, value);
    else lookAtNested(seen, value);
  }

  #lookAtString(seen: Seen, text: string): void {
    seen.strings++;
    seen.words?.add(text);
    if (text === "") {
      seen.emptyStrings++;
      return;
    }
    seen.allDates &&= parseIsoDate(text) !== undefined;
    if (!this.#areStringsTyped) return;
    seen.allNumbers &&= isNumber(text);
    seen.allBooleans &&= parseBoolean(text) !== undefined;
    if (!seen.allNested) return;
    const nested = parseNested(text);
    seen.allNested = nested !== undefined;
    if (nested !== undefined) lookAtElements(seen, nested);
  }

  #field(name: string, seen: Seen): Field {
    const kind = this.#kind(seen);
    const filled = kind === "string" || !this.#areStringsTyped
      ? seen.present
      : seen.present - seen.emptyStrings;
    return { name, kind, optional: filled < this.#rows };
  }

  #kind(seen: Seen): FieldKind {
    if (seen.present === 0) return "string";
    if (seen.numbers === seen.present) return "number";
    if (seen.booleans === seen.present) return "boolean";
    if (seen.strings < seen.present) return "json";
    if (seen.emptyStrings === seen.present) return "string";
    const canBeEmpty = this.#areStringsTyped || seen.emptyStrings === 0;
    if (seen.allDates && canBeEmpty) return "date";
    if (!this.#areStringsTyped) return "string";
    if (seen.allNumbers) return "number";
    if (seen.allBooleans) return "boolean";
    return seen.allNested ? "json" : "string";
  }
}

/** Two names of the input must not end in one field. */
function refuseCollision(
  sources: Map<string, string>,
  name: string,
  field: string,
): void {
  const other = sources.get(field);
  if (other !== undefined) {
    throw usageFailure(
      `"${other}" and "${name}" would both become the field "${field}"`,
      "rename one of them, or give a schema with --schema",
    );
  }
  sources.set(field, name);
}

function emptySeen(words: Set<string> | undefined): Seen {
  return {
    present: 0,
    strings: 0,
    emptyStrings: 0,
    allDates: true,
    allNumbers: true,
    allBooleans: true,
    allNested: true,
    numbers: 0,
    booleans: 0,
    nested: 0,
    elements: undefined,
    words,
  };
}

/** The field as it is stored already, with what only the rows can tell. */
function likeStored(field: Field, stored: Field, seen: Seen): Field {
  const { name } = field;
  const { kind } = stored;
  const optional = field.optional === true || stored.optional === true;
  if (kind === "enum") {
    const options = new Set([...stored.options ?? [], ...seen.words ?? []]);
    return options.size === 0
      ? { name, kind: "string", optional }
      : { name, kind, optional, options: [...options] };
  }
  if (kind !== "set" && kind !== "map" && kind !== "list") {
    return { name, kind, optional };
  }
  const found = seen.elements ?? "json";
  const element = stored.element ?? (found === "mixed" ? "json" : found);
  // Sets hold no nested values, so one that seems to is a set of nothing yet.
  const isBare = kind === "set" && element === "json";
  return { name, kind, optional, element: isBare ? "string" : element };
}

function lookAtNested(seen: Seen, value: unknown): void {
  seen.nested++;
  lookAtElements(seen, value);
}

function lookAtElements(seen: Seen, value: unknown): void {
  if (typeof value !== "object" || value === null) return;
  for (const element of Object.values(value)) {
    const kind = elementKind(element);
    seen.elements ??= kind;
    if (seen.elements !== kind) seen.elements = "mixed";
  }
}

function elementKind(value: unknown): FieldKind {
  if (typeof value === "string") return "string";
  if (typeof value === "number") return "number";
  return typeof value === "boolean" ? "boolean" : "json";
}

/** A whole number beyond 2^53 is more likely an id. */
function isNumber(text: string): boolean {
  return isExactNumber(text) &&
    (Math.abs(Number(text)) <= Number.MAX_SAFE_INTEGER || /\D/.test(text));
}

/** `true` and `false` in any case; `undefined` for anything else. */
export function parseBoolean(text: string): boolean | undefined {
  const lower = text.length > 5 ? "" : text.toLowerCase();
  return lower === "true" ? true : lower === "false" ? false : undefined;
}

/** The object or array that a cell holds as JSON; `undefined` when it does not. */
function parseNested(text: string): object | undefined {
  if (!/^\s*[[{]/.test(text)) return undefined;
  try {
    const value = parseExactJson(text);
    return typeof value === "object" && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}

const longest = 64;

/** The field that a column or key is stored in. */
export function fieldName(name: string): string {
  if (isFieldName(name)) return name;
  const plain = name.normalize("NFKD").replace(/\p{M}/gu, "").trim()
    .replace(/[^A-Za-z0-9_]+/g, "_").slice(0, longest - 2);
  if (isFieldName(plain)) return plain;
  const prefixed = `f_${plain}`;
  return isFieldName(prefixed) ? prefixed : "field";
}

export function schemaCode(
  collection: string,
  fields: readonly Field[],
): string {
  const lines = fields.map((field) =>
    `  ${field.name}: ${fieldCode(field)},\n`
  );
  return `${imports(fields)}\n\n` +
    `export default defineSchema(${JSON.stringify(collection)}, {\n` +
    `${lines.join("")}});\n`;
}

/** Texts have a door of their own. */
function imports(fields: readonly Field[]): string {
  return fields.some(({ kind }) => kind === "text")
    ? 'import { defineSchema } from "@sheaf/sheaf";\n' +
      'import { field } from "@sheaf/sheaf/text";'
    : 'import { defineSchema, field } from "@sheaf/sheaf";';
}

function fieldCode(field: Field): string {
  const { kind, optional } = field;
  const suffix = optional && !neverMissing.has(kind) ? ".optional()" : "";
  return `field.${kind}(${builderArgument(field)})${suffix}`;
}

function builderArgument({ name, kind, element, options }: Field): string {
  if (kind === "enum") return JSON.stringify(options ?? []);
  // Rows do not tell the collection that ids point into: the name is a guess.
  if (kind === "ref") return JSON.stringify(name);
  const isRich = kind === "set" || kind === "list" || kind === "map";
  return isRich ? `field.${element ?? "json"}()` : "";
}

/** Kinds whose missing value is the empty one. */
const neverMissing: ReadonlySet<FieldKind> = new Set([
  "counter",
  "set",
  "map",
  "list",
  "text",
]);
