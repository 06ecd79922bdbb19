/**
 * Schemas: field types, validation, patches and how they merge. Pure: no
 * storage, no network, no signatures.
 *
 * Read `patch.ts` and `cell.ts` first (the data), then `merge.ts` (what happens
 * to it), `prepare.ts` (where it comes from) and `patch_codec.ts` (its bytes).
 *
 * @module
 */

export {
  type AnyCheck,
  type AnyField,
  type Check,
  type CounterChange,
  type DeepReadonly,
  field,
  type FieldDefinition,
  type FieldMode,
  type FieldTypes,
  type FrozenJson,
  type JsonValue,
  type ListChange,
  type ListOf,
  type MapChange,
  type MapOf,
  type NumberField,
  type ReadonlyRecord,
  type RichField,
  type ScalarField,
  type SetChange,
  type SetOf,
  type SizedField,
  type TypesOfField,
} from "./field.ts";
export {
  type CreateInput,
  defineSchema,
  type DraftItem,
  type FieldMap,
  type Infer,
  type Schema,
  type SchemaOptions,
  type UpdateInput,
} from "./schema.ts";
export type { SchemaField } from "./validate.ts";
export type {
  Change,
  Element,
  FieldKind,
  Item,
  Placement,
  Shape,
  ShapeField,
  TaggedValue,
  Value,
} from "./patch.ts";
export {
  describeOperation,
  diffItems,
  type FieldDescription,
  type FieldDifference,
  type OperationDescription,
} from "./describe.ts";
