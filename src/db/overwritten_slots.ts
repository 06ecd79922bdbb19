/**
 * Slots: the parts of an item in which one write takes the place of another,
 * and which of them an operation takes from whom.
 *
 * Counters, sets and texts have none: what is written to them at the same time
 * is all kept.
 */

import { compareStamps, type Stamp } from "../base/hlc.ts";
import type { Cell, Origin } from "../schema/cell.ts";
import { mergeClassOf } from "../schema/kinds.ts";
import { mergeClassIn, stampIn, stateIn } from "../schema/merge.ts";
import type { ListState } from "../schema/rich_list.ts";
import type { Change, Item, Operation, Value } from "../schema/patch.ts";

/** A field that is a register, a map's key, or a list element's value or place. */
export interface Slot {
  readonly part: "field" | "entry" | "element" | "place";
  readonly field: string;
  /** The key, or the element; "" for a field. */
  readonly key: string;
}

export interface Standing {
  readonly stamp: Stamp;
  /** Of a place: the element's index. */
  readonly value: Value;
}

/** What stands in a slot of an item, deleted ones included; `undefined` where nobody wrote, or the element is deleted. */
export function standingIn(
  cell: Cell,
  { part, field, key }: Slot,
): Standing | undefined {
  const merge = mergeClassIn(cell, field);
  if (part === "field") {
    const stamp = merge === "register" ? stampIn(cell, field) : undefined;
    return stamp && { stamp, value: cell.item?.[field] };
  }
  if (part === "entry") {
    if (merge !== "map") return undefined;
    return stateIn(cell, field, "map").entries.get(key);
  }
  if (merge !== "list") return undefined;
  const list = stateIn(cell, field, "list");
  const element = list.elements.get(key);
  if (element?.isInserted !== true) return undefined;
  const { value, valueStamp, position, positionStamp } = element;
  const stamp = part === "element" ? valueStamp : positionStamp;
  return stamp &&
    { stamp, value: part === "element" ? value : indexIn(list, key, position) };
}

/** How many elements of a list stand before a position. */
function indexIn(list: ListState, key: string, position: string): number {
  let index = 0;
  for (const [other, { isInserted, position: at }] of list.elements.entries()) {
    if (!isInserted || other === key) continue;
    if (at < position || (at === position && other < key)) index++;
  }
  return index;
}

export interface SlotWrite {
  readonly slot: Slot;
  /** What it puts there; nothing where it only takes away what was there. */
  readonly put: { readonly value: Value } | undefined;
}

/** The slots that an operation writes; `after` is the item after it. */
export function writesOf(operation: Operation, after: Cell): SlotWrite[] {
  if (operation.what === "create") return createWrites(operation);
  if (operation.what === "delete") return [];
  return operation.changes.flatMap(({ field: { name }, change }) => [
    {
      slot: { part: "field" as const, field: name, key: "" },
      // A change of another merge class may take a register away.
      put: change.what === "set" ? { value: change.value } : undefined,
    },
    ...changeWrites(name, change, after),
  ]);
}

function createWrites(
  { shape, item }: { readonly shape: Operation["shape"]; readonly item: Item },
): SlotWrite[] {
  return shape.fields.flatMap(({ name, kind }): SlotWrite[] => {
    const value = item[name];
    if (mergeClassOf(kind) === "register") {
      const slot = { part: "field", field: name, key: "" } as const;
      return [{ slot, put: { value } }];
    }
    if (kind !== "map" || typeof value !== "object") return [];
    return Object.entries(value ?? {}).map(([key, value]) => ({
      slot: { part: "entry", field: name, key },
      put: { value },
    }));
  });
}

function changeWrites(
  field: string,
  change: Change,
  after: Cell,
): SlotWrite[] {
  const write = (part: Slot["part"], key: string, put?: SlotWrite["put"]) => ({
    slot: { part, field, key },
    put,
  });
  switch (change.what) {
    case "put":
      return change.entries.map(([key, value]) =>
        write("entry", key, { value })
      );
    case "drop":
      return change.keys.map((key) =>
        write("entry", key, { value: undefined })
      );
    case "replace":
      return change.values.map(([key, value]) =>
        write("element", key, { value })
      );
    case "move": {
      const list = stateIn(after, field, "list");
      return change.moves.map(({ element, position }) =>
        write("place", element, { value: indexIn(list, element, position) })
      );
    }
    case "delete":
      return change.elements.flatMap((key) => [
        write("element", key),
        write("place", key),
      ]);
    default:
      return [];
  }
}

export interface LostWrite {
  readonly slot: Slot;
  readonly own: Stamp;
  readonly value: Value;
  /** The commit that stands in its place; `undefined` where the state does not tell. */
  readonly by: Stamp | undefined;
}

/** What a foreign operation took from own commits, be it that its author had seen them. */
export function takenBy(
  operation: Operation,
  before: Cell,
  after: Cell,
  origin: Origin,
  isOwn: (stamp: Stamp) => boolean,
): LostWrite[] {
  return writesOf(operation, after).flatMap(({ slot }) => {
    const was = standingIn(before, slot);
    if (was === undefined || !isOwn(was.stamp)) return [];
    const is = standingIn(after, slot);
    if (is !== undefined && compareStamps(is.stamp, was.stamp) === 0) return [];
    return [{ slot, own: was.stamp, value: was.value, by: origin }];
  });
}

/** What an own operation wrote that others' writes, which were there before it, outlast. */
export function lostAtOnce(
  operation: Operation,
  after: Cell,
  origin: Origin,
  isOwn: (stamp: Stamp) => boolean,
): LostWrite[] {
  return writesOf(operation, after).flatMap(({ slot, put }): LostWrite[] => {
    if (put === undefined) return [];
    const { stamp } = standingIn(after, slot) ?? {};
    if (stamp !== undefined && isOwn(stamp)) return [];
    const own = { slot, own: origin, value: put.value };
    if (stamp !== undefined) return [{ ...own, by: stamp }];
    // Elsewhere nothing stands because of a class that is greater: it was never a place of its own.
    const isElement = slot.part === "element" || slot.part === "place";
    return isElement ? [{ ...own, by: undefined }] : [];
  });
}
