/**
 * From an item inside to a row outside.
 *
 * @module
 */

import type { Item } from "../schema/patch.ts";
import { copyForReader } from "../schema/reader.ts";
import type { Infer, Schema } from "../schema/schema.ts";
import type { View } from "../schema/view.ts";

/** Gives readers of one schema what they may have of an item. */
export type RowReader<S extends Schema> = (item: Item) => Infer<S>;

/**
 * Makes the reader of a collection. The one place where an item gets its
 * schema's type: every write here was validated against the schema, and what
 * others wrote is fitted to it by the collection's view.
 */
export function rowReader<S extends Schema>(view: View): RowReader<S> {
  return (item) => copyForReader(item, view) as unknown as Infer<S>;
}
