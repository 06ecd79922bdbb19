/**
 * From items to rows: the one place where an item is declared to be of the
 * type that its collection's schema promises.
 */

import type { Item } from "../schema/patch.ts";

/** An item as a row: whoever made the engine chose `Row` by the schema. */
export function asRow<Row>(item: Item): Row {
  return item as unknown as Row;
}

export function asRows<Row>(items: readonly Item[]): Row[] {
  return items as unknown as Row[];
}
