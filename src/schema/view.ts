/**
 * Views: what readers of a collection see, whoever wrote its items.
 *
 * A reader with a schema sees the schema's fields in their order, with defaults
 * for those that an older writer did not know, then the fields that only a newer
 * writer knew. A reader without a schema (the server) sees whatever is there.
 *
 * Items of one shape are clones of one template object, so that they share one
 * hidden class and stay small and fast to read.
 */

import { limits } from "../base/limits.ts";
import { noStates } from "./cell.ts";
import { emptyOf, isOfKind, mergeClassOf } from "./kinds.ts";
import type { OrderedMap } from "./ordered_map.ts";
import type { FieldKind, Item, MergeClass, Shape, Value } from "./patch.ts";
import type { RichState } from "./rich_state.ts";
import type { DraftItem, Schema } from "./schema.ts";
import type { TextEngine } from "./text_state.ts";
import type { SchemaField } from "./validate.ts";

/** Items with fields that are shown when somebody reads them. */
const later = /* @__PURE__ */ new WeakSet<Item>();

/** Would a copy of the item show what nobody has asked for? */
export function isPartlyLater(item: Item): boolean {
  return later.has(item);
}

/**
 * Hears of a field that holds what is none of its kind, or elements that are none
 * of their kind, or of an item whose counter went past what numbers hold.
 */
export type OnUnfit = (
  field: SchemaField,
  element?: FieldKind,
  uncounted?: string,
) => void;

export interface RowPlan {
  /** What every item of the shape begins as: a clone of this. */
  readonly template: DraftItem;
  /** The shape's fields in order. */
  readonly names: readonly string[];
  readonly kinds: readonly FieldKind[];
  /** How they merge. */
  readonly merges: ReadonlyMap<string, MergeClass>;
  /** Are all of them of the kinds that the schema has, if it has them? */
  readonly isFitting: boolean;
  /** Does an item as its writer sees it look the same to readers here? */
  readonly isIdentical: boolean;
}

export class View {
  /** `undefined` where the application's schema is not known. */
  readonly schema: Schema | undefined;
  readonly #defaults: DraftItem;
  readonly #plans = new Map<Shape, RowPlan>();
  #lastShape: Shape | undefined;
  #lastPlan: RowPlan | undefined;
  #hasMutableValues = false;
  /** Of texts that no schema tells of. */
  readonly #engine: TextEngine | undefined;
  readonly #unfit: OnUnfit | undefined;
  /** Fields whose elements are looked at, until one was told of. */
  #elements: readonly SchemaField[] = [];
  /** Values of many elements that were looked through: other items show them too, and readers ask again. */
  readonly #seen = new WeakSet<object>();

  /**
   * @param schema the readers' own; none on a server
   * @param engine shows texts that the schema does not tell of
   * @param unfit hears of fields that hold what is none of their kind
   */
  constructor(
    schema: Schema | undefined,
    engine?: TextEngine,
    unfit?: OnUnfit,
  ) {
    this.schema = schema;
    this.#engine = engine;
    this.#unfit = unfit;
    this.#defaults = schema?.template ?? { id: "" };
    for (const { kind } of schema?.plan ?? []) this.meet(kind);
    if (schema !== undefined && unfit !== undefined) {
      this.#elements = schema.plan.filter(({ inner }) => inner !== undefined);
    }
  }

  /** An item that was put together, where readers get it: its elements are looked at. */
  checked(item: Item): Item {
    for (const field of this.#elements) this.#check(field, item[field.name]);
    return item;
  }

  #checked(name: string, value: Value): Value {
    const field = this.#elements.find((one) => one.name === name);
    if (field !== undefined) this.#check(field, value);
    return value;
  }

  #check(field: SchemaField, value: Value): void {
    const { kind } = field.inner!;
    if (typeof value !== "object" || value === null) return;
    if (this.#seen.has(value)) return;
    const elements = Array.isArray(value) ? value : Object.values(value);
    if (elements.length > limits.shownAtOnceMax) this.#seen.add(value);
    if (elements.every((element) => isOfKind(kind, element))) return;
    this.#elements = this.#elements.filter((one) => one !== field);
    this.#unfit?.(field, kind);
  }

  #fieldOf(name: string): SchemaField | undefined {
    const at = this.schema?.ordinals.get(name);
    return at === undefined ? undefined : this.schema?.plan[at];
  }

  /** May an item hold dates or bytes, which cannot be frozen? */
  get hasMutableValues(): boolean {
    return this.#hasMutableValues;
  }

  /** Takes note that items may hold values of this kind. */
  meet(kind: FieldKind): void {
    if (kind === "date" || kind === "bytes") this.#hasMutableValues = true;
  }

  planFor(shape: Shape): RowPlan {
    if (shape === this.#lastShape && this.#lastPlan !== undefined) {
      return this.#lastPlan;
    }
    const plan = this.#plans.get(shape) ?? this.#addPlan(shape);
    this.#lastShape = shape;
    this.#lastPlan = plan;
    return plan;
  }

  #addPlan(shape: Shape): RowPlan {
    if (this.#plans.size >= limits.shapesCachedMax) this.#plans.clear();
    for (const field of shape.fields) this.meet(field.kind);
    const isFitting = shape.fields.every(({ name, kind }) =>
      (this.#fieldOf(name)?.kind ?? kind) === kind
    );
    const plan = planOf(shape, this.#defaults, isFitting);
    this.#plans.set(shape, plan);
    return plan;
  }

  /** Is this a value of the field's kind, if the schema has the field? */
  fits(name: string, merge: MergeClass, value?: Value): boolean {
    const field = this.#fieldOf(name);
    if (field === undefined) return true;
    return merge === mergeClassOf(field.kind) &&
      (merge !== "register" || isOfKind(field.kind, value));
  }

  /** As `fits`, of what somebody wrote: it is told where it does not. */
  fitsAsWritten(name: string, merge: MergeClass, value?: Value): boolean {
    const fits = this.fits(name, merge, value);
    const isThere = merge !== "register" || value !== undefined;
    if (!fits && isThere) this.#unfit?.(this.#fieldOf(name)!);
    return fits;
  }

  /** What readers see of an item that its writer saw as `item`. */
  show(shape: Shape, item: Item): Item {
    const { isIdentical, names } = this.planFor(shape);
    return isIdentical ? this.checked(item) : this.#take(shape, item, names);
  }

  /** What readers see of an item without states that a view without a schema shows as `item`. */
  recast(shape: Shape, item: Item): Item {
    return this.#take(shape, item, Object.keys(item));
  }

  #take(shape: Shape, item: Item, names: readonly string[]): Item {
    const { template, merges } = this.planFor(shape);
    const draft = { ...template };
    for (const name of names) {
      const value = item[name];
      if (this.fitsAsWritten(name, merges.get(name) ?? "register", value)) {
        draft[name] = value;
      }
    }
    draft.id = item.id;
    return this.checked(Object.freeze(draft));
  }

  /** Values of a shape's fields, and of registers beside it, that readers do not see. */
  hidden(
    shape: Shape,
    values: Iterable<readonly [string, Value]>,
  ): ReadonlyMap<string, Value> | undefined {
    const { merges } = this.planFor(shape);
    let hidden: Map<string, Value> | undefined;
    for (const [name, value] of values) {
      if (this.fitsAsWritten(name, merges.get(name) ?? "register", value)) {
        continue;
      }
      (hidden ??= new Map()).set(name, value);
    }
    return hidden;
  }

  /**
   * An item of these values and states. Fields that neither the schema nor the
   * shape of the create knows come last, by name, so that all replicas agree.
   */
  build(
    id: string,
    shape: Shape,
    values: ReadonlyMap<string, Value>,
    rich: OrderedMap<string, RichState> = noStates,
  ): Item {
    const { template, merges } = this.planFor(shape);
    const draft = { ...template };
    draft.id = id;
    const put = (name: string) => {
      const state = rich.get(name);
      if (state !== undefined) this.#putState(draft, name, state);
      else {
        const value = values.get(name);
        if (this.fits(name, merges.get(name) ?? "register", value)) {
          draft[name] = this.#checked(name, value);
        }
      }
    };
    const others: string[] = [];
    for (const names of [values.keys(), rich.keys()]) {
      for (const name of names) {
        if (Object.hasOwn(draft, name)) put(name);
        else others.push(name);
      }
    }
    for (const name of others.sort()) put(name);
    return Object.freeze(draft);
  }

  /** What shows the text of a field, if it is one. */
  engineOf(name: string): TextEngine | undefined {
    return this.#fieldOf(name)?.engine ?? this.#engine;
  }

  #putState(draft: DraftItem, name: string, state: RichState): void {
    if (!this.fitsAsWritten(name, state.merge)) return;
    const field = this.#fieldOf(name);
    if (field && state.merge === "counter" && state.isOver) {
      this.#unfit?.(field, undefined, draft.id);
    }
    const engine = this.engineOf(name);
    const get = () => this.#checked(name, state.show(engine));
    if (!state.isShownLater) draft[name] = get();
    else {
      Object.defineProperty(draft, name, { enumerable: true, get });
      later.add(draft);
    }
  }
}

/** What readers of a collection see; without a schema, whatever is there. */
export function createView(
  schema: Schema | undefined,
  engine?: TextEngine,
  unfit?: OnUnfit,
): View {
  return new View(schema, engine, unfit);
}

function planOf(
  shape: Shape,
  defaults: DraftItem,
  isFitting: boolean,
): RowPlan {
  const names = shape.fields.map((field) => field.name);
  const template = { ...defaults };
  for (const field of shape.fields) {
    if (!Object.hasOwn(template, field.name)) {
      template[field.name] = emptyOf(field.kind);
    }
  }
  const shown = Object.keys(template);
  const isIdentical = isFitting && shown.length === names.length + 1 &&
    names.every((name, i) => shown[i + 1] === name);
  const kinds = shape.fields.map((field) => field.kind);
  return {
    template: isIdentical && names.length === Object.keys(defaults).length - 1
      ? defaults
      : template,
    names,
    kinds,
    merges: new Map(names.map((name, i) => [name, mergeClassOf(kinds[i]!)])),
    isFitting,
    isIdentical,
  };
}
