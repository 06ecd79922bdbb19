/**
 * Constraints: what the schemas of a repository say of more than one value.
 * Which values no two items have in common, which items are there as long as
 * others name them, and within which bounds a counter's sum stays.
 *
 * An absent value (`undefined`, `null`) is compared with nothing, as in SQL.
 * Values are equal byte for byte: no case is folded, no text normalised.
 *
 * Architecture invariant: the same item gives the same keys on every replica,
 * whatever view it is read with, and whatever a writer put into it.
 */

import { toHex } from "../base/bytes.ts";
import { type Shown, writtenIn } from "./cell.ts";
import { isOfKind, isRich } from "./kinds.ts";
import type { Value } from "./patch.ts";
import type { Schema } from "./schema.ts";

/** Of a collection: no two items have the same values in these fields. */
export interface UniqueConstraint {
  /** As a person reads it: `user.unique(team, name)`. */
  readonly name: string;
  readonly fields: readonly string[];
}

/** Of a collection: what this field names is there. */
export interface ReferenceConstraint {
  /** As a person reads it: `post.author.exists()`. */
  readonly name: string;
  readonly collection: string;
  readonly field: string;
  /** The collection of the items that it names. */
  readonly target: string;
}

/** Of a collection: this counter's sum stays within bounds. */
export interface BoundConstraint {
  /** As a person reads it: `seat.free`. */
  readonly name: string;
  readonly field: string;
  readonly min: number;
  readonly max: number;
}

export interface CollectionConstraints {
  readonly schema: Schema;
  readonly uniques: readonly UniqueConstraint[];
  readonly references: readonly ReferenceConstraint[];
  readonly bounds: readonly BoundConstraint[];
}

export function constraintsOf(schema: Schema): CollectionConstraints {
  const { name: collection } = schema;
  const references: ReferenceConstraint[] = [];
  const bounds: BoundConstraint[] = [];
  for (const { name: field, kind, min, max, ...rest } of schema.plan) {
    const { mustExist, target } = rest.inner ?? rest;
    const name = `${collection}.${field}`;
    if (mustExist && target !== undefined) {
      const called = `${name}.exists()`;
      references.push({ name: called, collection, field, target });
    }
    const isBounded = min > -Infinity || max < Infinity;
    if (kind === "counter" && isBounded) bounds.push({ name, field, min, max });
  }
  const uniques = schema.unique.map((fields) => ({
    name: `${collection}.unique(${fields.join(", ")})`,
    fields,
  }));
  return { schema, uniques, references, bounds };
}

/** What they ask, each as a person reads it: `seat.free.min(0)`. */
export function statementsOf(
  { uniques, references, bounds }: CollectionConstraints,
): string[] {
  return [
    ...[...uniques, ...references].map(({ name }) => name),
    ...bounds.flatMap(({ name, min, max }) => [
      ...min > -Infinity ? [`${name}.min(${min})`] : [],
      ...max < Infinity ? [`${name}.max(${max})`] : [],
    ]),
  ];
}

/**
 * The field of a cell that is there as readers see it: what its writer did not
 * know, or is of no such kind, has the schema's default.
 */
export function valueIn(
  { plan, ordinals, template }: Schema,
  cell: Shown,
  field: string,
): Value {
  const { kind } = plan[ordinals.get(field)!]!;
  if (isRich(kind)) {
    const item = cell.item!;
    const isShown = Object.hasOwn(item, field) &&
      typeof item[field] === typeof template[field];
    return isShown ? item[field] : template[field];
  }
  const written = writtenIn(cell, field);
  return written !== undefined && isOfKind(kind, written.value)
    ? written.value
    : template[field];
}

/** Some values as one text, equal where they are; `undefined` where one is absent. */
export function tupleKey(
  values: readonly Value[],
): string | undefined {
  let key = "";
  if (values.some((value) => value === undefined || value === null)) {
    return undefined;
  }
  for (const value of values) {
    const part = keyOf(value);
    key += `${part.length}:${part}`;
  }
  return key;
}

/** Total: a writer may have put anything there. */
function keyOf(value: Value): string {
  switch (typeof value) {
    case "string":
      return `s${value}`;
    case "number":
      return `n${value}`; // 0 and -0 alike.
    case "boolean":
      return `b${value}`;
  }
  if (value instanceof Date) return `d${value.getTime()}`;
  if (value instanceof Uint8Array) return `x${toHex(value)}`;
  return `j${JSON.stringify(value)}`;
}

/** What a field names, once each: one id, or those in a set, list or map; anything where a writer put it. */
export function namedIn(value: Value): readonly Value[] {
  if (value === undefined || value === null) return none;
  if (Array.isArray(value)) return [...new Set(value)];
  const isMap = typeof value === "object" && !(value instanceof Date) &&
    !(value instanceof Uint8Array);
  return isMap ? [...new Set(Object.values(value))] : [value];
}

const none: readonly Value[] = Object.freeze([]);

/** How far a sum is out of bounds; 0 where it is within. */
export function excessOf({ min, max }: BoundConstraint, sum: Value): number {
  if (typeof sum !== "number" || Number.isNaN(sum)) return Infinity;
  return Math.max(0, min - sum, sum - max);
}
