/**
 * From an item inside to a row outside.
 *
 * @module
 */

import type { Item } from "../schema/patch.ts";
import { copyForReader, hasMutableValues } from "../schema/reader.ts";
import type { AnySchema, Infer } from "../schema/schema.ts";

/** Gives readers of one schema what they may have of an item. */
export type RowReader<S extends AnySchema> = (item: Item) => Infer<S>;

/**
 * Makes the reader of a schema. The one place where an item gets its schema's
 * type: every write was validated against it, and every foreign value was
 * fitted to it by the collection's view.
 */
export function rowReader<S extends AnySchema>(schema: S): RowReader<S> {
  if (!hasMutableValues(schema)) return (item) => item as unknown as Infer<S>;
  return (item) => copyForReader(item, schema) as unknown as Infer<S>;
}
