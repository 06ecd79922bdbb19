/**
 * Takes marks back in a transaction, one field or element at a time, as far as
 * they still stand; what somebody else changed since is left alone.
 *
 * What other marks speak of is renamed meanwhile: after an undo the state before
 * a mark is known by the undo's own commit, a list's element that came back by
 * another id, and an item that came back by its next generation.
 *
 * Architecture invariant: a mark stands exactly while the field or element that
 * it speaks of is known by the mark's stamp.
 */

import { compareStamps, type Stamp } from "../base/hlc.ts";
import type { World } from "../base/world.ts";
import type { Cell } from "../schema/cell.ts";
import { mayCount } from "../schema/count.ts";
import { mergeClassOf } from "../schema/kinds.ts";
import { mergeClassIn, stampIn, stateIn } from "../schema/merge.ts";
import type { IdSource } from "../schema/names.ts";
import type { Change, FieldChange, Value } from "../schema/patch.ts";
import { inOrder } from "../schema/patch_codec.ts";
import { richChanges } from "../schema/prepare.ts";
import { tagsOf } from "../schema/rich_set.ts";
import type { DraftItem, Schema } from "../schema/schema.ts";
import type { Replica, Table, Transaction } from "../../repo/mod.ts";
import type { LocalFile } from "./local_file.ts";
import type { Schemas } from "./schemas.ts";
import {
  authorsOf,
  type Created,
  type Deleted,
  type Dropped,
  type FieldMark,
  itemKey,
  type Mark,
  type Owner,
  plainStamp,
  slotOf,
} from "./undo_marks.ts";
import type { Arrivals } from "./write.ts";

/** Something that was left as it is: somebody else changed it since, or it is not there any more. */
export interface LeftAlone {
  readonly collection: string;
  readonly id: string;
  /** `undefined` for the whole item. */
  readonly field: string | undefined;
}

/** What an undo or a redo did. */
export interface UndoResult {
  /** Fields, elements and items that were taken back. */
  readonly changed: number;
  /** What others have changed meanwhile, and so stays. */
  readonly leftAlone: readonly LeftAlone[];
}

export interface UndoParts {
  readonly replica: Replica;
  readonly schemas: Schemas;
  readonly ids: IdSource;
  readonly arrivals: Arrivals;
  readonly world: World;
  /** Keeps the steps over a reload. */
  readonly file: LocalFile | undefined;
  readonly report?: ((error: unknown) => void) | undefined;
}

interface InversionParts extends Pick<UndoParts, "schemas" | "ids"> {
  readonly tableOf: (collection: string) => Table;
  /** By which stamp a commit is known now. */
  readonly stampOf: (stamp: Stamp) => Stamp;
  readonly names: MarkNames;
}

/** Changes of one item, on their way into one operation. */
interface Gathering {
  readonly table: Table;
  readonly schema: Schema;
  readonly cell: Cell;
  readonly slots: Set<string>;
  readonly changes: FieldChange[];
}

/** Characters of a chain's name that are its session's key. */
const KEY_CHARS = 32;

export class Inversion {
  readonly #tx: Transaction;
  readonly #parts: InversionParts;
  readonly #leftAlone: LeftAlone[] = [];
  readonly #origin: Stamp;
  #changed = 0;
  #gathering: Gathering | undefined;

  constructor(tx: Transaction, parts: InversionParts) {
    this.#tx = tx;
    this.#parts = parts;
    this.#origin = plainStamp(tx.origin)!;
  }

  /** Takes them back, the last one first. */
  run(marks: readonly Mark[]): UndoResult {
    for (const mark of marks.toReversed()) {
      const isBack = mark.what === "create"
        ? this.#deleteAgain(mark)
        : mark.what === "delete"
        ? this.#createAgain(mark)
        : this.#changeBack(mark);
      if (isBack) this.#changed++;
      else {
        const { collection, id } = mark;
        const field = "field" in mark ? mark.field : undefined;
        this.#leftAlone.push(Object.freeze({ collection, id, field }));
      }
    }
    this.#flush();
    return { changed: this.#changed, leftAlone: this.#leftAlone };
  }

  #is(current: Stamp | undefined, marked: Stamp): boolean {
    return current !== undefined &&
      compareStamps(current, this.#parts.stampOf(marked)) === 0;
  }

  #flush(): void {
    const gathering = this.#gathering;
    this.#gathering = undefined;
    if (gathering === undefined || gathering.changes.length === 0) return;
    const { table, schema: { shape }, cell, changes } = gathering;
    const { id, generation } = cell;
    const before = this.#tx.cellOf(table, id);
    this.#tx.put(
      table,
      {
        what: "update",
        shape,
        id,
        generation,
        changes: inOrder(shape, changes),
      },
      before,
    );
  }

  /** Nobody else may have touched it: what they wrote would be gone. */
  #deleteAgain({ collection, id, generation, stamp }: Created): boolean {
    this.#flush();
    const schema = this.#parts.schemas.find(collection);
    const table = this.#parts.tableOf(collection);
    const cell = this.#tx.cellOf(table, id);
    if (schema === undefined || cell?.item === undefined) return false;
    const keys = [stamp, this.#origin].map(({ chain }) =>
      chain.slice(0, KEY_CHARS)
    );
    const isMine = authorsOf(cell).every(({ chain }) =>
      keys.includes(chain.slice(0, KEY_CHARS))
    );
    if (cell.generation !== generation || !isMine) return false;
    const { shape } = schema;
    this.#tx.put(table, { what: "delete", shape, id, generation }, cell);
    return true;
  }

  #createAgain(mark: Deleted): boolean {
    this.#flush();
    const { collection, id } = mark;
    const schema = this.#parts.schemas.find(collection);
    const table = this.#parts.tableOf(collection);
    const cell = this.#tx.cellOf(table, id);
    if (schema === undefined || cell === undefined) return false;
    if (cell.item !== undefined || cell.generation !== mark.generation) {
      return false;
    }
    if (!this.#is(cell.origin, mark.stamp)) return false;
    const draft: DraftItem = { ...schema.template, id };
    const changes: FieldChange[] = [];
    for (const field of schema.shape.fields) {
      // A list's elements come back to their places, and under their names.
      const change = field.kind === "list"
        ? elementsOf(mark, field.name)
        : undefined;
      if (change === undefined) draft[field.name] = mark.item[field.name];
      else changes.push({ field, change });
    }
    const generation = cell.generation + 1;
    const item = Object.freeze(draft);
    const { shape } = schema;
    const made = this.#tx.put(table, {
      what: "create",
      shape,
      id,
      generation,
      item,
    }, cell);
    this.#gathering = { table, schema, cell: made, slots: new Set(), changes };
    this.#flush();
    this.#parts.names.created(mark, this.#origin);
    return true;
  }

  #changeBack(mark: FieldMark): boolean {
    const gathering = this.#gather(mark);
    if (gathering === undefined) return false;
    const { schema, cell, changes } = gathering;
    const ordinal = schema.ordinals.get(mark.field)!;
    const made = this.#inverse(mark, cell, schema);
    if (made === undefined) return false;
    const field = schema.shape.fields[ordinal]!;
    for (const change of made) changes.push({ field, change });
    if (mark.what === "drop") this.#flush(); // Earlier marks speak of the new element.
    return true;
  }

  /** The changes of the mark's item, where the mark's field is there as it was. */
  #gather(mark: FieldMark): Gathering | undefined {
    const { collection, id, field } = mark;
    let gathering = this.#gathering;
    const slot = "value" in mark && "tags" in mark
      ? `${field} = ${mark.value}`
      : slotOf(mark);
    const isOther = gathering?.schema.name !== collection ||
      gathering.cell.id !== id || gathering.slots.has(slot);
    if (isOther) {
      this.#flush();
      gathering = this.#begin(collection, id);
    }
    const schema = gathering?.schema;
    const kind = schema?.plan[schema.ordinals.get(field) ?? -1]?.kind;
    if (gathering === undefined || kind === undefined) return undefined;
    const { cell } = gathering;
    const isThere = cell.item !== undefined &&
      cell.generation === mark.generation &&
      (mergeClassIn(cell, field) ?? "register") === mergeClassOf(kind);
    if (!isThere) return undefined;
    gathering.slots.add(slot);
    return gathering;
  }

  #begin(collection: string, id: string): Gathering | undefined {
    const schema = this.#parts.schemas.find(collection);
    const table = this.#parts.tableOf(collection);
    const cell = this.#tx.cellOf(table, id);
    if (schema === undefined || cell === undefined) return undefined;
    return this.#gathering = {
      table,
      schema,
      cell,
      slots: new Set(),
      changes: [],
    };
  }

  /** What takes a mark back; `undefined` where it does not stand any more. */
  #inverse(
    mark: FieldMark,
    cell: Cell,
    schema: Schema,
  ): readonly Change[] | undefined {
    const { names, ids } = this.#parts;
    const { field } = mark;
    const to = this.#origin;
    switch (mark.what) {
      case "set":
        if (!this.#is(stampIn(cell, field), mark.stamp)) return undefined;
        names.moved(mark, mark.was, to);
        return [{ what: "set", value: mark.value }];
      case "increment": {
        const { total } = stateIn(cell, field, "counter");
        if (!mayCount(total, total - BigInt(mark.amount))) return undefined;
        return [{ what: "increment", amount: -mark.amount }];
      }
      case "edit": {
        const now = cell.item?.[field];
        const text = typeof now === "string"
          ? withoutEdit(mark.before, mark.after, now)
          : undefined;
        if (text === undefined) return undefined;
        const plan = schema.plan[schema.ordinals.get(field)!]!;
        return richChanges(plan, cell, text, { elementId: () => ids.next() });
      }
      case "remove":
        names.added(mark, mark.tags, to);
        return [{ what: "add", values: [mark.value] }];
      default:
        return this.#inverseOfPart(mark, cell);
    }
  }

  #inverseOfPart(mark: Part, cell: Cell): readonly Change[] | undefined {
    const { field } = mark;
    const { names, ids, stampOf } = this.#parts;
    const to = this.#origin;
    if (mark.what === "add") {
      const alive = tagsOf(stateIn(cell, field, "set"), mark.value);
      const tags = mark.tags.map(stampOf)
        .filter((tag) =>
          alive.some((other) => compareStamps(tag, other) === 0)
        );
      return tags.length === 0
        ? undefined
        : [{ what: "remove", values: [{ value: mark.value, tags }] }];
    }
    if (mark.what === "entry") {
      const { entries, dropped } = stateIn(cell, field, "map");
      const stamp = entries.get(mark.key)?.stamp ?? dropped.get(mark.key);
      // A key that was dropped before its item came back has no stamp but the item's.
      if (!this.#is(stamp ?? cell.origin, mark.stamp)) return undefined;
      names.moved(mark, mark.was, to);
      return mark.value === undefined
        ? [{ what: "drop", keys: [mark.key] }]
        : [{ what: "put", entries: [[mark.key, mark.value]] }];
    }
    if (mark.what === "drop") {
      const { value, position } = mark;
      const element = ids.next();
      names.inserted(mark, element, to);
      return [{ what: "insert", elements: [{ element, position, value }] }];
    }
    return this.#inverseInList(mark, cell);
  }

  #inverseInList(
    mark: FieldMark & { readonly what: "insert" | "move" | "replace" },
    cell: Cell,
  ): readonly Change[] | undefined {
    const now = stateIn(cell, mark.field, "list").elements.get(mark.key);
    if (now?.isInserted !== true) return undefined;
    const { what, key } = mark;
    const stamp = what === "move" ? now.positionStamp : now.valueStamp;
    if (!this.#is(stamp, mark.stamp)) return undefined;
    if (what === "insert") return [{ what: "delete", elements: [key] }];
    this.#parts.names.moved(mark, mark.was, this.#origin);
    return what === "move"
      ? [{ what, moves: [{ element: key, position: textOf(mark.value) }] }]
      : [{ what, values: [[key, mark.value]] }];
  }
}

function elementsOf(
  { item, owners }: Deleted,
  field: string,
): Change | undefined {
  const places = owners.find((owner) => owner.field === field)?.elements;
  const values = item[field];
  if (!places?.length || !Array.isArray(values)) return undefined;
  const elements = places.map(({ element, position }, at) => ({
    element,
    position,
    value: values[at],
  }));
  return { what: "insert", elements };
}

/** Marks of what a set, map or list is made of. */
type Part = Exclude<
  FieldMark,
  { readonly what: "set" | "increment" | "edit" | "remove" }
>;

function textOf(value: Value): string {
  return typeof value === "string" ? value : "";
}

/** A piece of a text, replaced. */
interface Replaced {
  readonly from: number;
  readonly to: number;
  readonly by: string;
}

/**
 * The text `now` without the edit that made `after` of `before`; `undefined`
 * where somebody else edited the same piece.
 */
function withoutEdit(
  before: string,
  after: string,
  now: string,
): string | undefined {
  const mine = replacing(after, before);
  const theirs = replacing(after, now);
  let shift: number;
  if (mine.to <= theirs.from) shift = 0;
  else if (theirs.to <= mine.from) shift = now.length - after.length;
  else return undefined;
  return now.slice(0, mine.from + shift) + mine.by + now.slice(mine.to + shift);
}

/** What has to be replaced in `old`, in one piece, to give `text`. */
function replacing(old: string, text: string): Replaced {
  const most = Math.min(old.length, text.length);
  let from = 0;
  while (from < most && old[from] === text[from]) from++;
  let back = 0;
  while (
    back < most - from &&
    old[old.length - 1 - back] === text[text.length - 1 - back]
  ) back++;
  const by = text.slice(from, text.length - back);
  return { from, to: old.length - back, by };
}

/** The marks of all steps by their items, while one step is undone. */
export class MarkNames {
  readonly #items = new Map<string, Mark[]>();
  /** What marks were before they were renamed, to go back. */
  readonly #saved = new Map<Mark, Mark>();

  constructor(marks: Iterable<Mark>) {
    for (const mark of marks) {
      const key = itemKey(mark);
      const known = this.#items.get(key);
      if (known === undefined) this.#items.set(key, [mark]);
      else known.push(mark);
    }
  }

  /** Nothing came of it: marks are as they were. */
  restore(): void {
    for (const [mark, saved] of this.#saved) Object.assign(mark, saved);
  }

  *#of(mark: Mark): Generator<Mark> {
    for (const other of this.#items.get(itemKey(mark)) ?? []) {
      if (other.generation !== mark.generation) continue;
      if (!this.#saved.has(other)) this.#saved.set(other, { ...other });
      yield other;
    }
  }

  *#fieldsOf(mark: FieldMark): Generator<FieldMark> {
    for (const other of this.#of(mark)) {
      if ("field" in other && other.field === mark.field) yield other;
    }
  }

  /** What was known by `from` is known by `to`. */
  moved(mark: FieldMark, from: Stamp | undefined, to: Stamp): void {
    if (from === undefined) return;
    const slot = slotOf(mark);
    for (const other of this.#fieldsOf(mark)) {
      if (slotOf(other) === slot) rename(other, [from], to);
    }
  }

  /** A set's value that came by `tags` is there again, by `to`. */
  added(
    mark: FieldMark & { readonly value: Value },
    tags: readonly Stamp[],
    to: Stamp,
  ): void {
    for (const other of this.#fieldsOf(mark)) {
      if ("tags" in other && other.value === mark.value) {
        rename(other, tags, to);
      }
    }
  }

  /** An element is there again, under another id. */
  inserted(mark: Dropped, element: string, to: Stamp): void {
    const old = mark.key;
    for (const other of this.#fieldsOf(mark)) {
      if (!("key" in other) || other.key !== old) continue;
      other.key = element;
      rename(other, mark.stamps, to);
    }
  }

  /** An item is there again, in its next generation. */
  created(mark: Deleted, to: Stamp): void {
    const owners = new Map<string, Owner[]>();
    for (const owner of mark.owners) {
      const known = owners.get(owner.field);
      if (known === undefined) owners.set(owner.field, [owner]);
      else known.push(owner);
    }
    for (const other of [...this.#of(mark)]) {
      if ("field" in other) {
        for (const owner of owners.get(other.field) ?? []) {
          inherit(other, owner, to);
        }
      }
      other.generation++;
    }
  }
}

/** The part of an item that a mark speaks of belongs to the create now. */
function inherit(mark: FieldMark, { key, stamps }: Owner, to: Stamp): void {
  if (key !== undefined && (!("key" in mark) || mark.key !== key)) return;
  rename(mark, stamps, to);
}

function rename(mark: FieldMark, from: readonly Stamp[], to: Stamp): void {
  const renamed = (stamp: Stamp) => isAmong(stamp, from) ? to : stamp;
  mark.stamp = renamed(mark.stamp);
  if ("was" in mark && mark.was !== undefined) mark.was = renamed(mark.was);
  if ("tags" in mark) mark.tags = mark.tags.map(renamed);
  if ("stamps" in mark) mark.stamps = mark.stamps.map(renamed);
}

/** Is it one of these? */
function isAmong(stamp: Stamp, stamps: readonly Stamp[]): boolean {
  return stamps.some((other) => compareStamps(stamp, other) === 0);
}
