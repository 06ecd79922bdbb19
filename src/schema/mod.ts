/**
 * Schemas: field types, validation, patches and how they merge. Pure: no
 * storage, no network, no signatures.
 *
 * Read `patch.ts` and `cell.ts` first (the data), then `merge.ts` (what happens
 * to it), `prepare.ts` (where it comes from) and `patch_codec.ts` (its bytes).
 *
 * @module
 */

export { field, type JsonValue } from "./field.ts";
export {
  type CreateInput,
  defineSchema,
  type Infer,
  type RefsOf,
  type Schema,
  type UpdateInput,
} from "./schema.ts";
export type { FieldDescription, FieldDifference } from "./describe.ts";
