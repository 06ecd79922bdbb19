/** Collections as they are stored, for tools that have no schema at hand. */

import { type AnyField, field, type ScalarField } from "../schema/field.ts";
import type { FieldKind } from "../schema/patch.ts";
import { defineSchema, type Schema } from "../schema/schema.ts";
import type { Table } from "../../repo/mod.ts";

/** A field as writers stored it. */
export interface StoredField {
  readonly name: string;
  readonly kind: FieldKind;
}

/** A collection as writers stored it. */
export interface StoredCollection {
  readonly name: string;
  readonly fields: readonly StoredField[];
  /** Items that are there. */
  readonly count: number;
}

/** Describes a table by the shapes of its items; reads none of them. */
export function describeTable(table: Table): StoredCollection {
  const fields = new Map<string, FieldKind>();
  // By version, so that the newest writer's kinds stay.
  const shapes = table.shapes().sort((a, b) => a.version - b.version);
  for (const shape of shapes) {
    for (const { name, kind } of shape.fields) fields.set(name, kind);
  }
  return {
    name: table.name,
    fields: Array.from(fields, ([name, kind]) => ({ name, kind })),
    count: table.count,
  };
}

/** A schema that reads a stored collection; every field may be absent. */
export function schemaOfStored({ name, fields }: StoredCollection): Schema {
  const builders: Record<string, AnyField> = {};
  for (const field of fields) builders[field.name] = builderOf(field.kind);
  return defineSchema(name, builders);
}

type Scalar = ScalarField<string | number | boolean>;

/** Makes a field of one value; of a kind that it does not know, a string. */
export function scalarOf(kind: FieldKind): Scalar {
  const { number, boolean, date, bytes, json, string } = field;
  const kinds: Partial<Record<FieldKind, () => AnyField>> = {
    ...{ number, boolean, date, bytes, json },
  };
  // They differ in what they give; only their definitions matter here.
  return (kinds[kind] ?? string)() as Scalar;
}

/** Elements are read as they are; their kind matters to writers only. */
function builderOf(kind: FieldKind): AnyField {
  switch (kind) {
    case "counter":
      return field.counter();
    case "set":
      return field.set(field.string());
    case "map":
      return field.map(field.json<unknown>());
    case "list":
      return field.list(field.json<unknown>());
    default:
      return scalarOf(kind).optional();
  }
}
