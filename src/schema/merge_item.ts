/**
 * The item of a cell after some of its fields changed.
 *
 * @module
 */

import { type Cell, noStates, WideCell, type Written } from "./cell.ts";
import { lateRich } from "./late_rich.ts";
import type { RichState } from "./merge_state.ts";
import { compareText, OrderedMap } from "./ordered_map.ts";
import type { Item, Shape, Value } from "./patch.ts";
import type { DraftItem } from "./schema.ts";
import { isPartlyLater, type View } from "./view.ts";

/** Fields that an operation changed. */
export interface Changed {
  readonly registers: ReadonlyMap<string, Value>;
  readonly states: ReadonlyMap<string, RichState>;
}

/**
 * The item with other values; a field that is new to it may take its place among others.
 *
 * @param shape of the create that it begins with now
 * @param rich all states of the cell, the changed ones too
 */
export function withChanged(
  cell: Cell,
  changed: Changed,
  shape: Shape,
  rich: OrderedMap<string, RichState>,
  view: View,
): Item {
  const item = cell.item!;
  const copy = cell.shape === shape ? copyWith(item, changed, view) : undefined;
  return copy ?? rebuild(shape, item, changed.registers, rich, view);
}

const nothing = /* @__PURE__ */ OrderedMap.of<string, Written>(compareText);

/** The cell after a change, whose item is put together when somebody reads it. */
export function widened(
  cell: Cell,
  { registers }: Changed,
  after: Omit<Cell, "item" | "createAt">,
  view: View,
): Cell {
  const isWide = cell instanceof WideCell;
  let since = isWide && cell.since || nothing;
  for (const [name, value] of registers) since = since.with(name, { value });
  const show = ({ shape, base, since, rich }: WideCell) => {
    const written = new Map<string, Value>();
    for (const [name, { value }] of since ?? []) {
      if (!rich?.has(name)) written.set(name, value);
    }
    return rebuild(shape, base, written, rich ?? noStates, view);
  };
  return new WideCell(after, isWide ? cell.base : cell.item!, since, show);
}

/** A copy, where it reads nothing that is shown later, and nothing is new or hidden. */
function copyWith(
  item: Item,
  { registers, states }: Changed,
  view: View,
): Item | undefined {
  if (isPartlyLater(item)) return undefined;
  const draft: DraftItem = { ...item };
  for (const [name, value] of registers) {
    const isPlain = Object.hasOwn(draft, name) &&
      view.fits(name, "register", value);
    if (!isPlain) return undefined;
    draft[name] = value;
  }
  for (const [name, state] of states) {
    const { isShownLater, showState } = lateRich.code;
    const isPlain = Object.hasOwn(draft, name) && !isShownLater(state) &&
      view.fits(name, state.merge);
    if (!isPlain) return undefined;
    draft[name] = showState(state);
  }
  return Object.freeze(draft);
}

function rebuild(
  shape: Shape,
  item: Item,
  registers: ReadonlyMap<string, Value>,
  rich: OrderedMap<string, RichState>,
  view: View,
): Item {
  const values = new Map<string, Value>();
  for (const name of Object.keys(item)) {
    if (name !== "id" && !rich.has(name)) values.set(name, item[name]);
  }
  for (const [name, value] of registers) values.set(name, value);
  return view.build(item.id, shape, values, rich);
}

/** What readers do not see after the change. */
export function hiddenAfter(
  { hidden }: Cell,
  { registers, states }: Changed,
  view: View,
): ReadonlyMap<string, Value> | undefined {
  let after: Map<string, Value> | undefined;
  for (const [name, value] of registers) {
    const fits = view.fitsAsWritten(name, "register", value);
    if (fits && !hidden?.has(name)) continue;
    after ??= new Map(hidden);
    if (fits) after.delete(name);
    else after.set(name, value);
  }
  for (const name of states.keys()) {
    if (hidden?.has(name)) (after ??= new Map(hidden)).delete(name);
  }
  return after === undefined ? hidden : after.size > 0 ? after : undefined;
}
