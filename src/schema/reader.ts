/**
 * What readers are handed: dates and bytes cannot be frozen, so they get copies.
 *
 * Items without such fields are shared as they are: frozen, all the way down.
 *
 * Architecture invariant: nothing that a caller holds lets it change an item.
 */

import { copyValue } from "./json.ts";
import type { Item, Value } from "./patch.ts";
import type { Infer, Schema } from "./schema.ts";
import type { View } from "./view.ts";

/** The item itself, or a copy with its own dates and bytes when items of this view may hold any. */
export function copyForReader(item: Item, view: View): Item {
  return view.hasMutableValues ? copyItem(item) : item;
}

function copyItem(item: Item): Item {
  let copy: Record<string, Value> & { id: string } | undefined;
  for (const name in item) {
    const value = item[name];
    if (typeof value !== "object" || value === null) continue;
    const own = copyValue(value);
    if (own === value) continue;
    copy ??= { ...item };
    copy[name] = own;
  }
  return copy === undefined ? item : Object.freeze(copy);
}

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
