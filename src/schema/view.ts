/**
 * Views: what readers of a collection see, whoever wrote its items.
 *
 * A reader with a schema sees the schema's fields in their order, with defaults
 * for those that an older writer did not know, then the fields that only a newer
 * writer knew. A reader without a schema (the server) sees whatever is there.
 *
 * Items of one shape are clones of one template object, so that they share one
 * hidden class and stay small and fast to read.
 *
 * @module
 */

import { limits } from "../base/limits.ts";
import { emptyOf } from "./kinds.ts";
import type { FieldKind, Item, Shape } from "./patch.ts";
import type { Shown } from "./merge_state.ts";
import type { DraftItem, Schema } from "./schema.ts";
import { type TextEngine, TextState } from "./text_state.ts";

/** How items of one shape are built for readers. */
export interface RowPlan {
  /** What every item of the shape begins as: a clone of this. */
  readonly template: DraftItem;
  /** The shape's fields in order. */
  readonly names: readonly string[];
  /** Their kinds in the same order. */
  readonly kinds: readonly FieldKind[];
  /** Does an item as its writer sees it look the same to readers here? */
  readonly isIdentical: boolean;
}

/** What readers of one collection see. */
export class View {
  /** `undefined` where the application's schema is not known. */
  readonly schema: Schema | undefined;
  readonly #defaults: DraftItem;
  readonly #plans = new Map<Shape, RowPlan>();
  #lastShape: Shape | undefined;
  #lastPlan: RowPlan | undefined;
  #hasMutableValues = false;
  #hasTexts = false;
  readonly #engines = new Map<string, TextEngine>();
  /** Of texts that no schema tells of. */
  readonly #engine: TextEngine | undefined;

  /**
   * @param schema the readers' own; none on a server
   * @param engine shows texts that the schema does not tell of
   */
  constructor(schema: Schema | undefined, engine?: TextEngine) {
    this.schema = schema;
    this.#engine = engine;
    this.#defaults = schema?.template ?? { id: "" };
    for (const { kind, name, engine } of schema?.plan ?? []) {
      this.meet(kind);
      if (engine !== undefined) this.#engines.set(name, engine);
    }
  }

  /** May an item hold dates or bytes, which cannot be frozen? */
  get hasMutableValues(): boolean {
    return this.#hasMutableValues;
  }

  /** May an item hold texts, which are shown when they are read? */
  get hasTexts(): boolean {
    return this.#hasTexts;
  }

  /** Takes note that items may hold values of this kind. */
  meet(kind: FieldKind): void {
    if (kind === "text") this.#hasTexts = true;
    if (kind === "date" || kind === "bytes") this.#hasMutableValues = true;
  }

  /** How items of this shape are built. */
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
    const plan = planOf(shape, this.#defaults);
    this.#plans.set(shape, plan);
    return plan;
  }

  /** What readers see of an item that its writer saw as `item`. */
  show(shape: Shape, item: Item): Item {
    const plan = this.planFor(shape);
    if (plan.isIdentical) return item;
    const draft = { ...plan.template };
    draft.id = item.id;
    for (const name of plan.names) draft[name] = item[name];
    return Object.freeze(draft);
  }

  /** What readers see of an item that a view without a schema shows as `item`. */
  recast(shape: Shape, item: Item): Item {
    const { template } = this.planFor(shape);
    const draft: DraftItem = { ...template };
    for (const name in item) draft[name] = item[name];
    draft.id = item.id;
    return Object.freeze(draft);
  }

  /**
   * An item of these values. Fields that neither the schema nor the shape of
   * the create knows come last, by name, so that all replicas agree.
   */
  build(id: string, shape: Shape, values: ReadonlyMap<string, Shown>): Item {
    const draft = { ...this.planFor(shape).template };
    draft.id = id;
    const others: string[] = [];
    for (const [name, value] of values) {
      if (Object.hasOwn(draft, name)) this.#put(draft, name, value);
      else others.push(name);
    }
    for (const name of others.sort()) this.#put(draft, name, values.get(name));
    return Object.freeze(draft);
  }

  /** A text is put in order when somebody reads it. */
  #put(draft: DraftItem, name: string, value: Shown): void {
    if (!(value instanceof TextState)) draft[name] = value;
    else {
      const engine = this.#engines.get(name) ?? this.#engine;
      const get = () => value.show(engine);
      Object.defineProperty(draft, name, { enumerable: true, get });
    }
  }
}

/** What readers of a collection see; without a schema, whatever is there. */
export function createView(
  schema: Schema | undefined,
  engine?: TextEngine,
): View {
  return new View(schema, engine);
}

function planOf(shape: Shape, defaults: DraftItem): RowPlan {
  const names = shape.fields.map((field) => field.name);
  const template = { ...defaults };
  for (const field of shape.fields) {
    if (!Object.hasOwn(template, field.name)) {
      template[field.name] = emptyOf(field.kind);
    }
  }
  const shown = Object.keys(template);
  const isIdentical = shown.length === names.length + 1 &&
    names.every((name, i) => shown[i + 1] === name);
  const kinds = shape.fields.map((field) => field.kind);
  return {
    template: isIdentical && names.length === Object.keys(defaults).length - 1
      ? defaults
      : template,
    names,
    kinds,
    isIdentical,
  };
}
