/**
 * Items as rules see them: each field is shown when a rule reads it.
 *
 * An item may have a thousand fields, or megabytes of bytes, of which each reader
 * gets a copy of its own; a rule reads three. So asking costs in proportion to
 * what is read. Whatever else is asked of an item (its keys, a spread) shows all
 * of it.
 *
 * Architecture invariant: nothing but the cost tells it from the item that
 * {@linkcode showCell} shows, frozen; `structuredClone` alone does not take it.
 */

import { type Cell, valueIn } from "./cell.ts";
import { copyValue } from "./json.ts";
import type { Item, Value } from "./patch.ts";
import type { RichState } from "./rich_state.ts";
import type { DraftItem } from "./schema.ts";
import { isPartlyLater, type View } from "./view.ts";

/** Hears of a field of parts that is read, before it is put together. */
export type OnRead = (state: RichState) => void;

/** The item of a cell that is not deleted, as rules see it that read with `view`. */
export function ruleItem(
  cellOf: () => Cell,
  view: View,
  onRead: OnRead = () => {},
): Item {
  // Proof: it shows what the item of a cell has.
  return new Proxy<object>(new Fields(cellOf, view, onRead), traps) as Item;
}

/** Shows fields of a cell one by one, until somebody asks for more than one; has all of them from then on. */
class Fields {
  readonly #cellOf: () => Cell;
  #cell: Cell | undefined;
  readonly #view: View;
  readonly #onRead: OnRead;
  /** The reader's own dates and bytes, by field. */
  #copies: Map<string, Value> | undefined;
  #isWhole = false;

  constructor(cellOf: () => Cell, view: View, onRead: OnRead) {
    this.#cellOf = cellOf;
    this.#view = view;
    this.#onRead = onRead;
  }

  static get(fields: Fields, name: string | symbol): unknown {
    if (fields.#isWhole) return Reflect.get(fields, name);
    if (typeof name === "symbol") return Reflect.get(Object.prototype, name);
    const cell = fields.#known;
    const state = cell.rich?.get(name);
    if (state !== undefined) fields.#onRead(state);
    return fields.#own(name, fieldOf(cell, name, fields.#view));
  }

  static all(fields: Fields): object {
    if (fields.#isWhole) return fields;
    fields.#isWhole = true;
    for (const [, state] of fields.#known.rich ?? []) fields.#onRead(state);
    const item = showCell(fields.#known, fields.#view);
    const isLater = isPartlyLater(item);
    const all: DraftItem = Object.setPrototypeOf(fields, Object.prototype);
    for (const name of Object.keys(item)) {
      const one = isLater && Object.getOwnPropertyDescriptor(item, name);
      if (one && one.get) Object.defineProperty(all, name, one);
      else all[name] = fields.#own(name, item[name]);
    }
    return Object.freeze(all);
  }

  get #known(): Cell {
    return this.#cell ??= this.#cellOf();
  }

  #own(name: string, value: Value): Value {
    if (!(value instanceof Date || value instanceof Uint8Array)) return value;
    let copy = this.#copies?.get(name);
    if (copy === undefined) {
      copy = copyValue(value);
      (this.#copies ??= new Map()).set(name, copy);
    }
    return copy;
  }
}

/** What asks for more than one field. */
const whole = [
  "defineProperty",
  "deleteProperty",
  "getOwnPropertyDescriptor",
  "has",
  "isExtensible",
  "ownKeys",
  "preventExtensions",
  "setPrototypeOf",
] as const;

const traps: ProxyHandler<Fields> = /* @__PURE__ */ trapsOf();

function trapsOf(): ProxyHandler<Fields> {
  // Consoles look behind a proxy, where nothing stands yet.
  Object.assign(Fields.prototype, {
    [Symbol.for("nodejs.util.inspect.custom")](this: Item) {
      return { ...this };
    },
  });
  const traps: Record<string, unknown> = {
    get: Fields.get,
    getPrototypeOf: () => Object.prototype,
  };
  for (const trap of whole) {
    const reflect: (...args: unknown[]) => unknown = Reflect[trap] as never;
    traps[trap] = (fields: Fields, a: unknown, b: unknown) =>
      reflect(Fields.all(fields), a, b);
  }
  return traps;
}

/** What readers with this view see in one field of a cell that another one made. */
function fieldOf(cell: Cell, name: string, view: View): Value {
  if (name === "id") return cell.id;
  const { template, merges } = view.planFor(cell.shape);
  const state = cell.rich?.get(name);
  if (state !== undefined) {
    return view.fits(name, state.merge)
      ? state.show(view.engineOf(name))
      : template[name];
  }
  const merge = merges.get(name);
  if (merge === undefined && !cell.stamps?.has(name)) return template[name];
  const value = valueIn(cell, name);
  return view.fits(name, merge ?? "register", value) ? value : template[name];
}

/** The item of a cell that is not deleted as readers with this view see it. */
export function showCell(cell: Cell, view: View): Item {
  const { id, shape, stamps, rich } = cell;
  const values = new Map<string, Value>();
  const written = [
    ...shape.fields.map(({ name }) => name),
    ...stamps?.keys() ?? [],
  ];
  for (const name of written) {
    if (!rich?.has(name)) values.set(name, valueIn(cell, name));
  }
  return view.build(id, shape, values, rich);
}
