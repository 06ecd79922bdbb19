/**
 * Schemas: a collection's name, fields and indexes, judged once and frozen.
 */

import { DatabaseError } from "../base/errors.ts";
import { checkOptions } from "../base/known_options.ts";
import { limits } from "../base/limits.ts";
import type {
  AnyField,
  FieldDefinition,
  FieldMode,
  FieldTypes,
  RefField,
} from "./field.ts";
import { isCollectionName, isFieldName, show } from "./names.ts";
import { emptyOf, isRich } from "./kinds.ts";
import type { FieldKind, Shape, Value } from "./patch.ts";
import { isPlainObject, parseValue, type SchemaField } from "./validate.ts";

/** The fields of a schema by name. */
export interface FieldMap {
  readonly [name: string]: AnyField;
}

/** A collection's name, typed fields and indexes. */
export interface Schema<
  Name extends string = string,
  Fields extends FieldMap = FieldMap,
> {
  /** The collection's name. */
  readonly name: Name;
  /** Counts up when the application changes the schema. */
  readonly version: number;
  /** The builders that it was made of. */
  readonly fields: Fields;
  /** Fields that queries look up, in order of importance. */
  readonly indexes: readonly (readonly string[])[];
  /** Fields whose values no two items have in common. */
  readonly unique: readonly (readonly string[])[];
  /** Has it any constraint? They are kept by who writes and by the server. */
  readonly isConstrained: boolean;
  /** What creates of this schema carry. */
  readonly shape: Shape;
  /** Its fields as the writer of items uses them, in the order of the shape. */
  readonly plan: readonly SchemaField[];
  /** Where each field stands in the plan and the shape. */
  readonly ordinals: ReadonlyMap<string, number>;
  /** What every item begins as: a clone of this, so that all share a hidden class. */
  readonly template: DraftItem;
}

export interface DraftItem {
  id: string;
  [field: string]: Value;
}

/** Options of {@linkcode defineSchema}. */
export interface SchemaOptions<FieldName extends string = string> {
  /** Lists of scalar fields that queries look up by. */
  readonly indexes?: readonly (readonly FieldName[])[];
  /** Lists of scalar fields whose values no two items may have in common. */
  readonly unique?: readonly (readonly FieldName[])[];
  /** Counts up when the application changes the schema; 1 at first. */
  readonly version?: number;
}

const schemaOptions = { indexes: 0, unique: 0, version: 0 };

type Simplify<T> = { [Key in keyof T]: T[Key] };
type TypesOf<F extends AnyField> = F extends { readonly "~types"?: infer T }
  ? Extract<T, FieldTypes>
  : never;
type NamesOf<Fields extends FieldMap, Mode extends FieldMode> = {
  [Name in keyof Fields]: TypesOf<Fields[Name]>["mode"] extends Mode ? Name
    : never;
}[keyof Fields];

type ItemOf<Fields extends FieldMap> = Simplify<
  & { readonly id: string }
  & {
    readonly [Name in keyof Fields]: TypesOf<Fields[Name]>["read"];
  }
>;

type CreateOf<Fields extends FieldMap> = Simplify<
  & { readonly id?: string | undefined }
  & {
    readonly [Name in NamesOf<Fields, "required">]: TypesOf<
      Fields[Name]
    >["write"];
  }
  & {
    readonly [Name in NamesOf<Fields, "optional" | "default">]?:
      | TypesOf<Fields[Name]>["write"]
      | undefined;
  }
>;

type UpdateOf<Fields extends FieldMap> = {
  readonly [Name in keyof Fields]?:
    | TypesOf<Fields[Name]>["write"]
    | TypesOf<Fields[Name]>["change"];
};

/** The type of a schema's items, as readers see them. */
export type Infer<S> = S extends Schema<string, infer Fields> ? ItemOf<Fields>
  : never;

/** The names of a schema's fields that refer to items. */
export type RefsOf<S> = S extends Schema<string, infer Fields> ? {
    [Name in keyof Fields & string]: Fields[Name] extends RefField<FieldMode>
      ? Name
      : never;
  }[keyof Fields & string]
  : never;

/** What a create takes. */
export type CreateInput<S> = S extends Schema<string, infer Fields>
  ? CreateOf<Fields>
  : never;

/** What an update takes. */
export type UpdateInput<S> = S extends Schema<string, infer Fields>
  ? UpdateOf<Fields>
  : never;

/** Defines a collection: its name, its fields, and what queries look up by. */
export function defineSchema<
  const Name extends string,
  const Fields extends FieldMap,
>(
  name: Name,
  fields: Fields,
  options: SchemaOptions<Extract<keyof Fields, string>> = {},
): Schema<Name, Fields> {
  if (!isCollectionName(name)) {
    throw new DatabaseError(
      "invalid-name",
      `Cannot use collection name ${
        show(name)
      }: use a letter, then up to 63 letters, digits, _ or -.`,
    );
  }
  if (!isPlainObject(fields)) {
    invalid(
      name,
      "its fields are an object, such as { title: field.string() }",
    );
  }
  const entries = Object.entries(fields);
  if (entries.length > limits.fieldsMax) {
    invalid(name, `it has over ${limits.fieldsMax} fields`);
  }
  const plan = entries.map(([key, field]) => compile(name, key, field));
  const { version = 1, indexes = [], unique = [] } = checkOptions(
    options as SchemaOptions,
    schemaOptions,
  );
  checkVersion(name, version);
  const uniques = compileLists(name, plan, unique, "a unique constraint");
  return Object.freeze({
    name,
    version,
    fields: Object.freeze({ ...fields }),
    indexes: compileLists(name, plan, indexes, "an index"),
    unique: uniques,
    isConstrained: uniques.length > 0 || plan.some(isConstrained),
    shape: shapeOf(name, version, plan),
    plan: Object.freeze(plan),
    ordinals: new Map(plan.map((field, i) => [field.name, i])),
    template: templateOf(plan),
  });
}

function invalid(collection: string, why: string): never {
  throw new DatabaseError(
    "invalid-schema",
    `Cannot define schema ${show(collection)}: ${why}.`,
  );
}

function checkVersion(name: string, version: number): void {
  const isVersion = Number.isInteger(version) && version >= 0 &&
    version <= limits.schemaVersionMax;
  if (!isVersion) invalid(name, `version ${show(version)} is no whole number`);
}

function compile(
  collection: string,
  name: string,
  field: AnyField,
): SchemaField {
  if (!isFieldName(name)) {
    throw new DatabaseError(
      "invalid-name",
      `Cannot use field name ${
        show(name)
      } in ${collection}: use a letter, then up to 63 letters, digits or _, and no reserved word such as id.`,
    );
  }
  const definition = field?.definition;
  if (typeof definition !== "object") {
    invalid(
      collection,
      `${name} is not a field: call one, such as field.string()`,
    );
  }
  const compiled = compileDefinition(collection, name, definition);
  compiled.initial = initialOf(compiled, definition);
  return Object.freeze(compiled);
}

function compileDefinition(
  collection: string,
  name: string,
  definition: FieldDefinition,
): SchemaField {
  const { min = -Infinity, max = Infinity, checks, target, mustExist = false } =
    definition;
  if (!(min <= max)) invalid(collection, `${name} has min over max`);
  if (definition.kind === "ref" && !isCollectionName(target)) {
    invalid(
      collection,
      `${name} refers to ${
        show(target)
      }, and not to a collection by its name, such as field.ref("user")`,
    );
  }
  return {
    collection,
    name,
    kind: definition.kind,
    isOptional: definition.mode === "optional",
    initial: undefined,
    options: optionsOf(collection, name, definition),
    inner: innerOf(collection, name, definition),
    engine: definition.engine,
    target,
    mustExist,
    min,
    max,
    isInteger: definition.isInteger === true,
    isBounded: min > -Infinity || max < Infinity || checks.length > 0,
    checks,
  };
}

function optionsOf(
  collection: string,
  name: string,
  definition: FieldDefinition,
): ReadonlySet<string> | undefined {
  if (definition.kind !== "enum") return undefined;
  const options = new Set(definition.options);
  for (const option of options) {
    if (typeof option === "string" && option.isWellFormed()) continue;
    invalid(collection, `${name} has an option that is not text`);
  }
  if (options.size === 0) {
    invalid(collection, `${name} has no options: give field.enum() a list`);
  }
  return options;
}

const setKinds: readonly FieldKind[] = [
  "string",
  "number",
  "boolean",
  "enum",
  "ref",
];

function innerOf(
  collection: string,
  name: string,
  definition: FieldDefinition,
): SchemaField | undefined {
  const { kind, inner } = definition;
  if (inner === undefined) return undefined;
  const fits = setKinds.includes(inner.kind) ||
    (inner.kind === "json" && kind !== "set");
  if (!fits) {
    invalid(
      collection,
      `${name} is a ${kind} of ${inner.kind}, and elements are single values, such as field.string()`,
    );
  }
  if (inner.mode !== "required") {
    invalid(collection, `elements of ${name} cannot be optional or default`);
  }
  return Object.freeze(compileDefinition(collection, `${name}[]`, inner));
}

/** What a create fills in: rich fields are never absent. */
function initialOf(field: SchemaField, definition: FieldDefinition): Value {
  const { initial } = definition;
  if (isRich(field.kind) && initial === undefined) return emptyOf(field.kind);
  if (definition.mode !== "default") return undefined;
  if (initial === undefined) {
    invalid(field.collection, `${field.name} has the default undefined`);
  }
  return parseValue(field, initial);
}

/** Is it about more than the value that one commit writes? */
function isConstrained({ kind, min, max, mustExist, inner }: SchemaField) {
  return (inner?.mustExist ?? mustExist) ||
    kind === "counter" && (min > -Infinity || max < Infinity);
}

/** Lists of scalar fields: indexes, unique constraints. */
function compileLists(
  collection: string,
  plan: readonly SchemaField[],
  lists: readonly (readonly string[])[],
  what: string,
): readonly (readonly string[])[] {
  if (!Array.isArray(lists)) {
    invalid(collection, `${what} is not in an array of arrays`);
  }
  return Object.freeze(lists.map((names) => {
    if (!Array.isArray(names) || names.length === 0) {
      invalid(collection, `${what} is no list of fields, such as [["title"]]`);
    }
    for (const name of names) checkListed(collection, plan, name, what);
    if (new Set(names).size < names.length) {
      invalid(collection, `${what} names a field twice`);
    }
    return Object.freeze([...names]);
  }));
}

function checkListed(
  collection: string,
  plan: readonly SchemaField[],
  name: string,
  what: string,
): void {
  const field = plan.find((field) => field.name === name);
  if (field === undefined) {
    invalid(collection, `${what} names the unknown field ${show(name)}`);
  }
  const { kind } = field;
  // An index keeps no bytes, and a counter has no value that anybody set.
  const isUnfit = what === "an index"
    ? kind === "bytes" || isRich(kind) && kind !== "counter"
    : isRich(kind);
  if (isUnfit || kind === "json") {
    invalid(collection, `${what} cannot be over ${name}, a ${kind} field`);
  }
}

/** What readers see in fields that an item's writer did not know. */
function templateOf(plan: readonly SchemaField[]): DraftItem {
  const template: DraftItem = { id: "" };
  for (const { name, kind, initial } of plan) {
    // State that merges begins empty: a default is written by creates only.
    template[name] = isRich(kind) ? emptyOf(kind) : initial;
  }
  return Object.freeze(template);
}

function shapeOf(
  collection: string,
  version: number,
  plan: readonly SchemaField[],
): Shape {
  const fields = plan.map(({ name, kind }) => Object.freeze({ name, kind }));
  return Object.freeze({
    collection,
    version,
    fields: Object.freeze(fields),
  });
}
