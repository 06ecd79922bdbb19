/**
 * From a user's `where` object to a checked condition.
 *
 * Reads every property of the user's objects exactly once, own enumerable ones
 * only, so neither getters nor `__proto__` can show one thing here and another
 * thing later. Whatever it does not know is an `invalid-query`.
 */

import { DatabaseError } from "../base/errors.ts";
import { limits } from "../base/limits.ts";
import { show } from "../schema/names.ts";
import type { FieldKind, Value } from "../schema/patch.ts";
import type { Condition, Fields, OfField, Range } from "./condition.ts";
import { isOrderable, isText, type Key, keyOf } from "./value.ts";

/** The one error of this folder for a caller's mistakes. */
export function invalidQuery(message: string): DatabaseError {
  return new DatabaseError("invalid-query", message);
}

/** The error for a field that is none, which names those that there are. */
export function unknownField(
  verb: string,
  name: unknown,
  fields: Fields,
): DatabaseError {
  const known = [...fields.keys()].join(", ");
  return invalidQuery(
    `Cannot ${verb}: ${show(name)} is not a field. The fields are ${known}`,
  );
}

export function parseWhere(where: unknown, fields: Fields): Condition[] {
  const parser = new Parser(fields);
  return parser.object(where, 0);
}

type Draft = { -readonly [P in keyof Range]: Range[P] };

class Parser {
  readonly #fields: Fields;
  #conditions = 0;

  constructor(fields: Fields) {
    this.#fields = fields;
  }

  /** All properties of one object, joined by "and". */
  object(where: unknown, depth: number): Condition[] {
    if (!isPlain(where)) {
      throw invalidQuery(
        "Cannot query: 'where' takes an object, such as { done: false }, or a function",
      );
    }
    if (depth > limits.queryDepthMax) {
      throw invalidQuery(
        `Cannot query: conditions nest deeper than ${limits.queryDepthMax}`,
      );
    }
    const parts: Condition[] = [];
    const names = Object.keys(where);
    for (let i = 0; i < names.length; i++) {
      const name = names[i]!;
      this.#property(parts, name, where[name], depth);
    }
    return parts;
  }

  #property(
    parts: Condition[],
    name: string,
    value: unknown,
    depth: number,
  ): void {
    switch (name) {
      case "and":
        for (const part of this.#list(value, name)) {
          for (const one of this.object(part, depth + 1)) parts.push(one);
        }
        return;
      case "or":
        parts.push({
          what: "any",
          parts: this.#list(value, name).map((part) =>
            allOf(this.object(part, depth + 1))
          ),
        });
        return;
      case "not":
        this.#count();
        parts.push({
          what: "not",
          part: allOf(this.object(value, depth + 1)),
        });
        return;
    }
    const kind = this.#fields.get(name);
    if (kind === undefined) {
      throw unknownField("query", name, this.#fields);
    }
    this.#field(parts, { field: name, kind }, value, depth);
  }

  #list(value: unknown, name: string): unknown[] {
    if (!Array.isArray(value)) {
      throw invalidQuery(`Cannot query: '${name}' takes a list of conditions`);
    }
    if (value.length > limits.conditionsMax) throw tooMany();
    this.#count();
    return Array.from(value);
  }

  #count(): void {
    if (++this.#conditions > limits.conditionsMax) throw tooMany();
  }

  #field(
    parts: Condition[],
    of: OfField,
    value: unknown,
    depth: number,
  ): void {
    if (isPlain(value)) return this.#operators(parts, of, value, depth);
    this.#count();
    const { field, kind } = of;
    parts.push({ what: "equal", field, kind, key: toKey(of, value) });
  }

  #operators(
    parts: Condition[],
    of: OfField,
    operators: Record<string, unknown>,
    depth: number,
  ): void {
    const { field, kind } = of;
    const range: Draft = {
      what: "range",
      field,
      kind,
      low: undefined,
      lowOpen: false,
      high: undefined,
      highOpen: false,
    };
    const names = Object.keys(operators);
    if (names.length === 0) {
      throw invalidQuery(`Cannot query: no operator given for '${field}'`);
    }
    for (const name of names) {
      this.#count();
      const value = operators[name];
      if (narrow(range, name, value)) continue;
      parts.push(this.#operator(of, name, value, depth));
    }
    if (range.low !== undefined || range.high !== undefined) parts.push(range);
  }

  #operator(
    of: OfField,
    name: string,
    value: unknown,
    depth: number,
  ): Condition {
    const { field, kind } = of;
    switch (name) {
      case "in":
        return { what: "in", field, kind, keys: toKeys(of, value) };
      case "not":
        return this.#negated(of, value, depth);
      case "prefix":
        if (!isText(kind) || typeof value !== "string") break;
        return { what: "prefix", field, kind, text: value };
      case "contains":
        return { what: "contains", field, kind, value: part(of, value) };
    }
    throw invalidQuery(
      `Cannot query: '${name}' of '${field}' (${kind}) is not an operator, or its value does not fit. ` +
        `Its operators are ${operatorsOf(kind)}`,
    );
  }

  #negated(of: OfField, value: unknown, depth: number): Condition {
    if (depth >= limits.queryDepthMax) {
      throw invalidQuery("Cannot query: conditions nest too deep");
    }
    const parts: Condition[] = [];
    this.#field(parts, of, value, depth + 1);
    return { what: "not", part: allOf(parts) };
  }
}

function operatorsOf(kind: FieldKind): string {
  const scalar = isOrderable(kind) ? "in, gt, gte, lt, lte, not" : "in, not";
  if (isText(kind)) return `${scalar}, prefix, contains`;
  const isMany = kind === "set" || kind === "list" || kind === "map";
  return isMany ? "contains, not" : scalar;
}

/** One condition for several. */
function allOf(parts: readonly Condition[]): Condition {
  return parts.length === 1 ? parts[0]! : { what: "all", parts };
}

function tooMany(): DatabaseError {
  return invalidQuery(
    `Cannot query: more than ${limits.conditionsMax} conditions`,
  );
}

/** Is it an object that may carry conditions, rather than a value? */
function isPlain(value: unknown): value is Record<string, unknown> {
  if (typeof value !== "object" || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

/** Takes a range operator into `range`; false when it is none. */
function narrow(range: Draft, name: string, value: unknown): boolean {
  const low = name === "gt" || name === "gte";
  if (!low && name !== "lt" && name !== "lte") return false;
  const { field, kind } = range;
  if (!isOrderable(kind)) {
    throw invalidQuery(`Cannot query: '${field}' (${kind}) has no order`);
  }
  const key = toKey(range, value);
  if (key === undefined) {
    throw invalidQuery(`Cannot query: '${name}' of '${field}' needs a value`);
  }
  const open = name === "gt" || name === "lt";
  if (low) {
    const is = range.low;
    if (is !== undefined && (is > key || is === key && range.lowOpen)) {
      return true;
    }
    range.low = key;
    range.lowOpen = open;
  } else {
    const is = range.high;
    if (is !== undefined && (is < key || is === key && range.highOpen)) {
      return true;
    }
    range.high = key;
    range.highOpen = open;
  }
  return true;
}

function toKey({ field, kind }: OfField, value: unknown): Key {
  if (value === undefined) return undefined;
  const key = isScalar(value) ? keyOf(kind, value) : null;
  if (key === null || key === undefined) {
    throw invalidQuery(
      `Cannot query: '${field}' (${kind}) is compared with values of its kind, ` +
        `or with undefined where it is absent, not with ${show(value)}`,
    );
  }
  return key;
}

function toKeys(of: OfField, value: unknown): Key[] {
  if (!Array.isArray(value)) {
    throw invalidQuery(`Cannot query: 'in' of '${of.field}' takes a list`);
  }
  if (value.length > limits.elementsMax) {
    throw invalidQuery(
      `Cannot query: 'in' takes at most ${limits.elementsMax} values`,
    );
  }
  const keys = Array.from(value, (one: unknown) => toKey(of, one));
  return [...new Set(keys)];
}

function isScalar(
  value: unknown,
): value is string | number | boolean | Date | Uint8Array {
  return typeof value === "string" || typeof value === "number" ||
    typeof value === "boolean" || value instanceof Date ||
    value instanceof Uint8Array;
}

/** What `contains` looks for; dates and bytes are copied. */
function part({ field, kind }: OfField, value: unknown): Value {
  if (isText(kind) || kind === "map") {
    if (typeof value === "string") return value;
  } else if (kind === "set" || kind === "list") {
    if (value instanceof Date) return new Date(value);
    if (value instanceof Uint8Array) return value.slice();
    if (isScalar(value) && !Number.isNaN(value)) return value;
  }
  throw invalidQuery(
    `Cannot query: 'contains' does not fit field '${field}' (${kind}) or its value`,
  );
}
