/**
 * Marks: what an own write did, one field or element at a time, and what was
 * there before. Enough to take it back, and to see whether it still stands.
 *
 * Marks are plain data, so that they can be kept in a file. Who undoes may
 * rename what they speak of: stamps, elements and generations.
 */

import type { Stamp } from "../base/hlc.ts";
import type { Cell } from "../schema/cell.ts";
import { mergeClassOf } from "../schema/kinds.ts";
import { expand } from "../schema/cell_digest.ts";
import { mergeClassIn, stampIn, stateIn } from "../schema/merge.ts";
import type {
  Change,
  Item,
  Operation,
  Placement,
  Value,
} from "../schema/patch.ts";
import type { Noted } from "../../repo/mod.ts";

/** What every mark says: of which item it speaks, and the commit that did it. */
interface OfItem {
  readonly collection: string;
  readonly id: string;
  generation: number;
  stamp: Stamp;
}

/** The stamps and places by which the parts of a deleted item were known. */
export interface Owner {
  readonly field: string;
  /** A map's key. */
  readonly key?: string;
  readonly stamps: readonly Stamp[];
  /** A list's elements, in order. */
  readonly elements?: readonly Placement[];
}

export interface Created extends OfItem {
  readonly what: "create";
}

export interface Deleted extends OfItem {
  readonly what: "delete";
  readonly item: Item;
  readonly owners: readonly Owner[];
}

interface OfField extends OfItem {
  readonly field: string;
}

/** A register, a map's key, or an element's value or position had `value` before, from commit `was`. */
export interface Put<What extends string> extends OfField {
  readonly what: What;
  /** The key, or the element. */
  key: string;
  readonly value: Value;
  was: Stamp | undefined;
}

export interface Counted extends OfField {
  readonly what: "increment";
  amount: number;
}

/** A set's value was added by, or lost, these adds. */
export interface Tagged<What extends string> extends OfField {
  readonly what: What;
  readonly value: Value;
  tags: readonly Stamp[];
}

export interface Inserted extends OfField {
  readonly what: "insert";
  key: string;
}

export interface Dropped extends OfField {
  readonly what: "drop";
  key: string;
  readonly value: Value;
  readonly position: string;
  /** By which commits its value and its place were known. */
  stamps: readonly Stamp[];
}

export interface Edited extends OfField {
  readonly what: "edit";
  readonly before: string;
  after: string;
}

/** One field or element that an own write changed. */
export type FieldMark =
  | Put<"set">
  | Put<"entry">
  | Put<"replace">
  | Put<"move">
  | Counted
  | Tagged<"add">
  | Tagged<"remove">
  | Inserted
  | Dropped
  | Edited;

/** One thing that an own write did. */
export type Mark = Created | Deleted | FieldMark;

export function marksOf(
  { operation, before, after }: Noted,
  stamp: Stamp,
): Mark[] {
  const { id, generation, shape: { collection } } = operation;
  const of = { collection, id, generation, stamp };
  if (operation.what === "create") return [{ ...of, what: "create" }];
  if (before?.item === undefined) return [];
  if (operation.what === "delete") {
    const owners = ownersOf(before);
    return [{ ...of, what: "delete", item: before.item, owners }];
  }
  return fieldMarks(operation, before, after, of);
}

function fieldMarks(
  operation: Operation & { readonly what: "update" },
  before: Cell,
  after: Cell,
  of: OfItem,
): Mark[] {
  const marks: Mark[] = [];
  for (const { field: { name, kind }, change } of operation.changes) {
    // Another writer's kind may hold the field: then nothing was changed.
    if (mergeClassIn(after, name) !== mergeClassOf(kind)) continue;
    const here = { ...of, field: name };
    if (change.what === "set") {
      marks.push({
        ...here,
        what: "set",
        key: "",
        value: before.item?.[name],
        was: plainStamp(stampIn(before, name)),
      });
    } else if (kind === "text") {
      const [old, now] = [before.item?.[name], after.item?.[name]];
      marks.push({
        ...here,
        what: "edit",
        before: typeof old === "string" ? old : "",
        after: typeof now === "string" ? now : "",
      });
    } else marks.push(...richMarks(change, before, here));
  }
  return marks;
}

function richMarks(change: Change, before: Cell, of: OfField): Mark[] {
  switch (change.what) {
    case "increment":
      return [{ ...of, what: "increment", amount: change.amount }];
    case "add":
      return change.values.map((value) => ({
        ...of,
        what: "add",
        value,
        tags: [of.stamp],
      }));
    case "remove":
      return change.values.map(({ value, tags }) => ({
        ...of,
        what: "remove",
        value,
        tags,
      }));
    case "put":
      return change.entries.map(([key]) => entryMark(key, before, of));
    case "drop":
      return change.keys.map((key) => entryMark(key, before, of));
    default:
      return listMarks(change, before, of);
  }
}

function entryMark(key: string, before: Cell, of: OfField): Mark {
  const { entries, dropped } = stateIn(before, of.field, "map");
  const entry = entries.get(key);
  const was = plainStamp(entry?.stamp ?? dropped.get(key));
  return { ...of, what: "entry", key, value: entry?.value, was };
}

function listMarks(change: Change, before: Cell, of: OfField): Mark[] {
  const { elements } = stateIn(before, of.field, "list");
  const marks: Mark[] = [];
  if (change.what === "insert") {
    for (const { element } of change.elements) {
      marks.push({ ...of, what: "insert", key: element });
    }
  } else if (change.what === "delete") {
    for (const key of change.elements) {
      const old = elements.get(key);
      if (old?.isInserted !== true) continue;
      const { value, position } = old;
      const stamps = [old.valueStamp, old.positionStamp].flatMap(plainStamps);
      marks.push({ ...of, what: "drop", key, value, position, stamps });
    }
  } else if (change.what === "move" || change.what === "replace") {
    const isMove = change.what === "move";
    const keys = isMove
      ? change.moves.map(({ element }) => element)
      : change.values.map(([element]) => element);
    for (const key of keys) {
      const old = elements.get(key);
      if (old === undefined) continue;
      const value = isMove ? old.position : old.value;
      const was = plainStamp(isMove ? old.positionStamp : old.valueStamp);
      marks.push({ ...of, what: change.what, key, value, was });
    }
  }
  return marks;
}

function ownersOf(cell: Cell): Owner[] {
  const owners: Owner[] = [];
  const { registers, rich } = expand(cell);
  for (const [field, { stamp }] of registers) {
    owners.push({ field, stamps: plainStamps(stamp) });
  }
  for (const [field, state] of rich) {
    if (state.merge === "set") {
      const stamps = Array.from(
        state.tags.keys(),
        ({ stamp }) => plainStamp(stamp)!,
      );
      owners.push({ field, stamps });
    } else if (state.merge === "map") {
      for (const [key, { stamp }] of state.entries.entries()) {
        owners.push({ field, key, stamps: plainStamps(stamp) });
      }
      for (const [key, stamp] of state.dropped.entries()) {
        owners.push({ field, key, stamps: plainStamps(stamp) });
      }
    } else if (state.merge === "list") {
      const elements = state.visible.map(({ element, position }) => ({
        element,
        position,
      }));
      const stamps = elements.flatMap(({ element }) => {
        const { valueStamp, positionStamp } = state.elements.get(element)!;
        return [valueStamp, positionStamp].flatMap(plainStamps);
      });
      owners.push({ field, stamps, elements });
    }
  }
  return owners;
}

/** Every commit that has a say in what an item is now, as far as its state tells. */
export function authorsOf(cell: Cell): Stamp[] {
  return ownersOf(cell).flatMap(({ stamps }) => stamps);
}

function plainStamps(stamp: Stamp | undefined): Stamp[] {
  return stamp === undefined ? [] : [plainStamp(stamp)!];
}

/** A stamp and nothing else: the one of a commit may carry more. */
export function plainStamp(stamp: Stamp | undefined): Stamp | undefined {
  return stamp &&
    { wall: stamp.wall, count: stamp.count, chain: stamp.chain };
}

/** Tells items apart. */
export function itemKey({ collection, id }: Mark): string {
  return `${collection} ${id}`;
}

/** What of its item a mark speaks of. */
export function slotOf(mark: FieldMark): string {
  const { field, what } = mark;
  switch (what) {
    case "set":
    case "entry":
    case "move":
      return `${field} ${what} ${mark.key}`;
    case "replace":
    case "insert":
      return `${field} value ${mark.key}`;
    default:
      return `${field} ${what}`;
  }
}
