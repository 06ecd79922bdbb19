/**
 * The state that an order of commits makes, folded plainly: a model of its own,
 * that shares nothing with the product's merge. It keeps all that ever was and
 * looks for what is shown when somebody asks.
 *
 * @module
 */

import type { Stamp } from "../src/base/hlc.ts";
import { isOfKind } from "../src/schema/kinds.ts";
import { nameOf } from "../src/schema/rich_list.ts";
import type {
  Change,
  FieldKind,
  Item,
  Operation,
  ShapeField,
  Value,
} from "../src/schema/patch.ts";
import { positionAt } from "../src/schema/position.ts";
import type { Schema } from "../src/schema/schema.ts";
import {
  clientOf,
  type TextClient,
  type TextId,
} from "../src/schema/text_state.ts";

const classes = ["register", "counter", "set", "map", "list", "text"];

export function classOf(kind: FieldKind): string {
  return classes.includes(kind) ? kind : "register";
}

export function isLater(one: Stamp, other: Stamp): boolean {
  if (one.wall !== other.wall) return one.wall > other.wall;
  if (one.count !== other.count) return one.count > other.count;
  return one.chain > other.chain;
}

function tagOf(value: Value, { wall, count, chain }: Stamp): string {
  return JSON.stringify([value, wall, count, chain]);
}

/** A list element; what has not been said of it is `undefined`. */
interface PlainElement {
  isInserted: boolean;
  value?: { value: Value; stamp: Stamp };
  position?: { value: string; stamp: Stamp };
}

/** A field, with everything that was ever done to it. */
export class PlainField {
  readonly merge: string;
  register: { value: Value; stamp: Stamp } | undefined;
  sum = 0;
  readonly tags = new Map<string, Value>();
  readonly gone = new Set<string>();
  readonly entries = new Map<string, { value: Value; stamp: Stamp }>();
  readonly elements = new Map<string, PlainElement>();
  /** By client: characters by number. */
  readonly units = new Map<number, Map<number, string>>();

  constructor(merge: string) {
    this.merge = merge;
  }

  /** What a create says of it. */
  begin(value: Value, stamp: Stamp): void {
    switch (this.merge) {
      case "register":
        return this.change({ what: "set", value }, stamp);
      case "counter":
        this.sum += typeof value === "number" ? value : 0;
        return;
      case "set":
        return this.change(
          { what: "add", values: value as readonly Value[] },
          stamp,
        );
      case "map":
        return this.change({
          what: "put",
          entries: Object.entries(value as Record<string, Value>),
        }, stamp);
      case "list": {
        const inners = value as readonly Value[];
        for (const [i, inner] of inners.entries()) {
          const element = `${nameOf(stamp)}.${i}`;
          this.#insert(element, positionAt(i), inner, stamp);
        }
        return;
      }
      default:
        this.#type(clientOf(value as string), 0, value as string);
    }
  }

  /** What one change of an update does to it. */
  change(change: Change, stamp: Stamp): void {
    switch (change.what) {
      case "set":
        if (this.register && isLater(this.register.stamp, stamp)) return;
        this.register = { value: change.value, stamp };
        return;
      case "increment":
        this.sum += change.amount;
        return;
      case "add":
        for (const value of change.values) {
          const tag = tagOf(value, stamp);
          if (!this.gone.has(tag)) this.tags.set(tag, value);
        }
        return;
      case "remove":
        for (const { value, tags } of change.values) {
          for (const seen of tags) {
            const tag = tagOf(value, seen);
            this.tags.delete(tag);
            if (tag !== tagOf(value, stamp)) this.gone.add(tag);
          }
        }
        return;
      case "put":
        for (const [key, value] of change.entries) this.#put(key, value, stamp);
        return;
      case "drop":
        for (const key of change.keys) this.#put(key, undefined, stamp);
        return;
      case "edit":
        for (const [client, { runs, gone }] of change.text.clients) {
          for (const { clock, text } of runs) this.#type(client, clock, text!);
          for (const { clock, length } of gone) {
            for (let at = clock; at < clock + length; at++) {
              this.gone.add(`${client} ${at}`);
            }
          }
        }
        return;
      default:
        this.#changeList(change, stamp);
    }
  }

  #put(key: string, value: Value, stamp: Stamp): void {
    const known = this.entries.get(key);
    if (known && isLater(known.stamp, stamp)) return;
    this.entries.set(key, { value, stamp });
  }

  #type(client: number, clock: number, text: string): void {
    const units = this.units.get(client) ?? new Map<number, string>();
    this.units.set(client, units);
    for (const [i, unit] of [...text].entries()) units.set(clock + i, unit);
  }

  #changeList(change: Change, stamp: Stamp): void {
    if (change.what === "delete") {
      for (const element of change.elements) this.gone.add(element);
    } else if (change.what === "insert") {
      for (const { element, position, value } of change.elements) {
        this.#insert(element, position, value, stamp);
      }
    } else if (change.what === "move") {
      for (const { element, position } of change.moves) {
        this.#place(this.#element(element), position, stamp);
      }
    } else if (change.what === "replace") {
      for (const [element, value] of change.values) {
        this.#fill(this.#element(element), value, stamp);
      }
    }
  }

  #insert(id: string, position: string, value: Value, stamp: Stamp): void {
    const element = this.#element(id);
    element.isInserted = true;
    this.#place(element, position, stamp);
    this.#fill(element, value, stamp);
  }

  #element(id: string): PlainElement {
    const element = this.elements.get(id) ?? { isInserted: false };
    this.elements.set(id, element);
    return element;
  }

  #place(element: PlainElement, value: string, stamp: Stamp): void {
    if (element.position && isLater(element.position.stamp, stamp)) return;
    element.position = { value, stamp };
  }

  #fill(element: PlainElement, value: Value, stamp: Stamp): void {
    if (element.value && isLater(element.value.stamp, stamp)) return;
    element.value = { value, stamp };
  }

  /** Does it know what a change names? */
  knows(change: Change, stamp: Stamp): boolean {
    const has = (element: string) =>
      this.elements.has(element) || this.gone.has(element);
    switch (change.what) {
      case "remove":
        return change.values.every(({ value, tags }) =>
          tags.map((seen) => tagOf(value, seen)).every((tag) =>
            this.tags.has(tag) || this.gone.has(tag) ||
            tag === tagOf(value, stamp)
          )
        );
      case "move":
        return change.moves.every(({ element }) => has(element));
      case "delete":
        return change.elements.every(has);
      case "replace":
        return change.values.every(([element]) => has(element));
      case "edit":
        return [...change.text.clients].every((one) =>
          this.#knowsUnits(...one)
        );
      default:
        return true;
    }
  }

  #knowsUnits(client: number, { runs, gone }: TextClient): boolean {
    let next = this.units.get(client)?.size ?? 0;
    if (gone.some(({ clock, length }) => clock + length > next)) return false;
    return runs.every(({ clock, length, left, right }) => {
      const has = (id: TextId | undefined) =>
        id === undefined || id.client === client && id.clock < clock ||
        this.units.get(id.client)?.has(id.clock) === true;
      if (clock !== next || !has(left) || !has(right)) return false;
      next += length;
      return true;
    });
  }

  /** What readers see; of a text the characters, in the order of the alphabet. */
  show(): Value {
    switch (this.merge) {
      case "register":
        return this.register?.value;
      case "counter":
        return this.sum;
      case "set":
        return [...new Set(this.tags.values())].sort();
      case "map":
        return Object.fromEntries(
          [...this.entries].filter(([, { value }]) => value !== undefined)
            .map(([key, { value }]) => [key, value]).sort(([a], [b]) =>
              a! < b! ? -1 : 1
            ),
        );
      case "list":
        return [...this.elements]
          .filter(([id, { isInserted }]) => isInserted && !this.gone.has(id))
          .map(([id, { value, position }]) =>
            [position!.value, id, value!.value] as const
          )
          .sort(([a, x], [b, y]) => a < b ? -1 : a > b ? 1 : x < y ? -1 : 1)
          .map(([, , value]) => value);
      default:
        return [...this.units].flatMap(([client, units]) =>
          [...units].filter(([clock]) => !this.gone.has(`${client} ${clock}`))
            .map(([, unit]) => unit)
        ).sort().join("");
    }
  }
}

/** An item, there or ended. */
export interface PlainItem {
  readonly generation: number;
  readonly isThere: boolean;
  readonly fields: Map<string, PlainField>;
}

export interface PlainCommit {
  readonly origin: Stamp;
  readonly operations: readonly Operation[];
}

export function keyOf({ shape: { collection }, id }: Operation): string {
  return `${collection} ${id}`;
}

export function fieldsOf(operation: Operation): readonly ShapeField[] {
  if (operation.what === "create") return operation.shape.fields;
  return operation.what === "update"
    ? operation.changes.map(({ field }) => field)
    : [];
}

/** The generation that an operation on an item may be of. */
export function dueOf(item: PlainItem | undefined): number {
  return item === undefined ? 0 : item.generation + Number(!item.isThere);
}

/** Everything that some commits did, in their order. */
export class PlainState {
  readonly items = new Map<string, PlainItem>();
  /** What each field was first written as, by collection and name. */
  readonly kinds = new Map<string, FieldKind>();

  constructor(commits: readonly PlainCommit[] = []) {
    for (const commit of commits) this.foldAll(commit);
  }

  foldAll({ operations, origin }: PlainCommit): void {
    for (const operation of operations) this.fold(operation, origin);
  }

  fold(operation: Operation, origin: Stamp): void {
    const { shape: { collection }, generation } = operation;
    const key = keyOf(operation);
    let item = this.items.get(key);
    if (generation < dueOf(item)) return; // History says nothing.
    for (const { name, kind } of fieldsOf(operation)) {
      const field = `${collection} ${name}`;
      if (!this.kinds.has(field)) this.kinds.set(field, kind);
    }
    if (item === undefined || generation > item.generation) {
      this.items.set(
        key,
        item = { generation, isThere: true, fields: new Map() },
      );
    }
    if (operation.what === "delete") {
      this.items.set(key, { generation, isThere: false, fields: new Map() });
    } else if (operation.what === "create") {
      for (const field of operation.shape.fields) {
        const value = operation.item[field.name];
        fieldOf(item, field)?.begin(value, origin);
      }
    } else {
      for (const { field, change } of operation.changes) {
        fieldOf(item, field)?.change(change, origin);
      }
    }
  }

  /** The items that are there, by id. */
  of(collection: string): Map<string, PlainItem> {
    const found = [...this.items].filter(([key, { isThere }]) =>
      isThere && key.startsWith(`${collection} `)
    );
    return new Map(
      found.map(([key, item]) => [key.slice(collection.length + 1), item]),
    );
  }

  /** An item as readers with a schema see it, or with none as it was written. */
  show(collection: string, id: string, schema?: Schema): Item | undefined {
    const item = this.items.get(`${collection} ${id}`);
    if (!item?.isThere) return undefined;
    const shown: Record<string, Value> = { ...schema?.template, id };
    for (const [name, field] of item.fields) {
      const declared = schema?.plan.find((one) => one.name === name)?.kind;
      const value = field.show();
      const isOdd = declared !== undefined &&
        (classOf(declared) !== field.merge ||
          field.merge === "register" && !isOfKind(declared, value));
      if (!isOdd) shown[name] = value;
    }
    return shown as Item;
  }
}

/** The field of an item that an operation writes; `undefined` where a greater class holds it. */
function fieldOf(
  { fields }: PlainItem,
  { name, kind }: ShapeField,
): PlainField | undefined {
  const merge = classOf(kind);
  const known = fields.get(name);
  if (known?.merge === merge) return known;
  if (known && classes.indexOf(merge) < classes.indexOf(known.merge)) return;
  const field = new PlainField(merge);
  fields.set(name, field);
  return field;
}
