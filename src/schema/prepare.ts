/**
 * From what an application asks to operations: validated, copied and frozen.
 *
 * Each property of an input is read once, and only own ones count. The item of
 * a create is the very object that readers will see.
 */

import { assert, DatabaseError } from "../base/errors.ts";
import type { Stamp } from "../base/hlc.ts";
import type { Cell } from "./cell.ts";
import { equalValues } from "./json.ts";
import { isRich, isRichClass, mergeClassOf } from "./kinds.ts";
import { lateRich } from "./late_rich.ts";
import { mergeClassIn, stateIn } from "./merge.ts";
import { parseItemId, show } from "./names.ts";
import { inOrder } from "./patch_codec.ts";
import type {
  Change,
  CreateOperation,
  DeleteOperation,
  FieldChange,
  UpdateOperation,
  Value,
} from "./patch.ts";
import type { ElementIds } from "./rich_kind.ts";
import type { DraftItem, Schema } from "./schema.ts";
import { parseValue, type SchemaField } from "./validate.ts";

export interface PrepareContext extends ElementIds {
  newId(): string;
  readonly origin: Stamp;
  /** The generation that a create begins: 0, or one after the deleted one. */
  readonly generation: number;
}

export function prepareCreate(
  schema: Schema,
  input: unknown,
  context: PrepareContext,
): CreateOperation {
  const given = ownProperties(schema, input);
  const draft: DraftItem = { ...schema.template };
  const { plan } = schema;
  let used = 0;
  for (let i = 0; i < plan.length; i++) {
    const field = plan[i]!;
    const value = given[field.name];
    if (value === undefined) draft[field.name] = fillIn(schema, field, given);
    else {
      draft[field.name] = parseValue(field, value);
      used++;
    }
  }
  const { id } = given;
  if (id === undefined) draft.id = context.newId();
  else {
    draft.id = parseItemId(id);
    used++;
  }
  if (Object.keys(given).length !== used) refuseUnknown(schema, given);
  return {
    what: "create",
    shape: schema.shape,
    id: draft.id,
    generation: context.generation,
    item: Object.freeze(draft),
  };
}

type Properties = Readonly<Record<string, unknown>>;

/** The input itself when it is a plain object, otherwise a copy of what it owns. */
function ownProperties(schema: Schema, input: unknown): Properties {
  if (!isObject(input) || Array.isArray(input)) {
    throw new DatabaseError(
      "invalid-value",
      `Cannot write ${schema.name}: expected an object of fields, got ${
        show(input)
      }.`,
    );
  }
  const prototype = Object.getPrototypeOf(input);
  if (prototype === Object.prototype || prototype === null) return input;
  return Object.assign(Object.create(null), input);
}

function isObject(value: unknown): value is Properties {
  return typeof value === "object" && value !== null;
}

function fillIn(schema: Schema, field: SchemaField, given: Properties): Value {
  const { initial } = field;
  if (initial !== undefined) {
    // An empty set may be too small for its field.
    return field.isBounded && isRich(field.kind)
      ? parseValue(field, initial)
      : initial;
  }
  // Who misspelled its name hears that, and not that it is missing.
  if (!field.isOptional) refuseUnknown(schema, given);
  return parseValue(field, undefined);
}

function refuseUnknown(schema: Schema, given: Properties): void {
  for (const name of Object.keys(given)) {
    if (name === "id" || schema.ordinals.has(name)) continue;
    throw new DatabaseError(
      "unknown-field",
      `Cannot write ${schema.name}.${name}: the schema has no such field. It has ${
        [...schema.ordinals.keys()].join(", ")
      }.`,
    );
  }
}

/** The update that an application asks for; `undefined` when it changes nothing. */
export function prepareUpdate(
  schema: Schema,
  cell: Cell,
  input: unknown,
  context: PrepareContext,
): UpdateOperation | undefined {
  assert(cell.item !== undefined, "only an item that is there is updated");
  const given = ownProperties(schema, input);
  refuseUnknown(schema, given);
  const changes: FieldChange[] = [];
  for (const name of Object.keys(given)) {
    const value = given[name];
    if (name === "id") checkId(schema, cell, value);
    else prepareField(schema, cell, name, value, context, changes);
  }
  if (changes.length === 0) return undefined;
  const { id, generation } = cell;
  const [first, second] = changes;
  const shape = first?.change.what === "edit" && second === undefined
    ? lateRich.code.shapeOfEdit(schema.shape, first.field)
    : schema.shape;
  return {
    what: "update",
    shape,
    id,
    generation,
    changes: inOrder(shape, changes),
  };
}

function checkId(schema: Schema, cell: Cell, value: unknown): void {
  if (value === undefined || value === cell.id) return;
  throw new DatabaseError(
    "invalid-id",
    `Cannot change the id of ${schema.name} ${cell.id}: create another item instead.`,
  );
}

function prepareField(
  schema: Schema,
  cell: Cell,
  name: string,
  value: unknown,
  context: PrepareContext,
  changes: FieldChange[],
): void {
  const ordinal = schema.ordinals.get(name)!;
  const field = schema.plan[ordinal]!;
  checkClass(field, cell);
  const made = isRich(field.kind)
    ? richChanges(field, cell, value, context)
    : registerChanges(field, cell, value);
  for (const change of made) {
    changes.push({ field: schema.shape.fields[ordinal]!, change });
  }
}

/** The changes of a field of a rich kind that an update asks for. */
export function richChanges(
  field: SchemaField,
  cell: Cell,
  given: unknown,
  ids: ElementIds,
): readonly Change[] {
  const merge = mergeClassOf(field.kind);
  assert(isRichClass(merge), "only rich kinds have changes of their own");
  return lateRich.code.kinds[merge]
    .prepare(field, stateIn(cell, field.name, merge), given, ids);
}

/** Another writer may have given the field a greater merge class: our change would be lost. */
function checkClass(field: SchemaField, cell: Cell): void {
  const known = mergeClassIn(cell, field.name);
  const merge = mergeClassOf(field.kind);
  if (known === undefined || known === merge || known === "register") return;
  throw new DatabaseError(
    "invalid-schema",
    `Cannot write ${field.collection}.${field.name}: another writer made it a ${known} field. Use another field name.`,
  );
}

function registerChanges(
  field: SchemaField,
  cell: Cell,
  given: unknown,
): readonly Change[] {
  const value = parseValue(field, given);
  if (equalValues(value, cell.item?.[field.name])) return [];
  return [{ what: "set", value }];
}

export function prepareDelete(schema: Schema, cell: Cell): DeleteOperation {
  const { id, generation } = cell;
  return { what: "delete", shape: schema.shape, id, generation };
}
