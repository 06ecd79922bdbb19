/**
 * The item of a cell after some of its fields changed.
 *
 * @module
 */

import type { Cell } from "./cell.ts";
import type { Shown } from "./merge_state.ts";
import type { Item } from "./patch.ts";
import type { DraftItem } from "./schema.ts";
import { TextState } from "./text_state.ts";
import type { View } from "./view.ts";

/** The item with other values; a field that is new to it may take its place among others. */
export function withValues(
  cell: Cell,
  item: Item,
  values: ReadonlyMap<string, Shown>,
  view: View,
): Item {
  // A copy would read its texts, and reading a text has a price.
  if (view.hasTexts && cell.rich) return rebuild(cell, item, values, view);
  const draft: DraftItem = { ...item };
  for (const name of values.keys()) {
    const value = values.get(name);
    const isNew = !Object.hasOwn(draft, name);
    if (isNew || value instanceof TextState) {
      return rebuild(cell, item, values, view);
    }
    draft[name] = value;
  }
  return Object.freeze(draft);
}

function rebuild(
  cell: Cell,
  item: Item,
  changed: ReadonlyMap<string, Shown>,
  view: View,
): Item {
  const values = new Map<string, Shown>();
  for (const name of Object.keys(item)) {
    if (name === "id") continue;
    const state = cell.rich?.get(name);
    if (changed.has(name)) continue;
    values.set(name, state instanceof TextState ? state : item[name]);
  }
  for (const [name, value] of changed) values.set(name, value);
  return view.build(item.id, cell.shape, values);
}
