/** Following references: rows with the related items in place of their ids. */

import type { Item, Value } from "../schema/patch.ts";
import type { Infer, Schema } from "../schema/schema.ts";
import type { QueryEngine } from "./engine.ts";
import { invalidQuery } from "./parse_where.ts";

/** Fields to follow: `true`, or the schema that they refer to. */
export type IncludeSpec = { readonly [field: string]: true | Schema };

/** Nothing but references. */
export type OnlyRefs<Spec, Ref extends string> = {
  readonly [F in Exclude<keyof Spec, Ref>]:
    // A text would make `never` of `true &`, and say nothing.
    { readonly "It is not a reference: use field.ref()": true };
};

/** What stands in place of an id: the item, or `undefined` when it is not there. */
type Related<S> = S extends Schema ? Infer<S> | undefined : Item | undefined;

/** A row with some references followed. */
export type Included<Row, Spec> = {
  readonly [F in keyof Row]: F extends keyof Spec ? Related<Spec[F]> : Row[F];
};

/** One reference field that is followed. */
export interface IncludeTerm {
  readonly field: string;
  readonly collection: string;
}

/** The items that rows with references were made from. */
const origins = new WeakMap<object, Item>();

export function originOf(row: Item): Item {
  return origins.get(row) ?? row;
}

export function parseInclude(engine: QueryEngine, spec: object): IncludeTerm[] {
  const terms: IncludeTerm[] = [];
  for (const [field, wanted] of Object.entries(spec)) {
    const collection = engine.options.refs?.get(field);
    if (collection === undefined) {
      const refs = [...engine.options.refs?.keys() ?? []].join(", ");
      throw invalidQuery(
        `Cannot include '${field}': it is not a reference, as in { author: true }. The references are ${
          refs || "none"
        }`,
      );
    }
    const named: unknown = wanted === true ? collection : Object(wanted).name;
    if (named !== collection) {
      throw invalidQuery(
        `Cannot include '${field}': it refers to '${collection}'`,
      );
    }
    terms.push({ field, collection });
  }
  return terms;
}

/** The related items of one item, in the order of the terms. */
export type Relations = readonly (Item | undefined)[];

export class Include {
  readonly terms: readonly IncludeTerm[];
  readonly #engine: QueryEngine;

  constructor(engine: QueryEngine, terms: readonly IncludeTerm[]) {
    this.#engine = engine;
    this.terms = terms;
  }

  engineOf(term: IncludeTerm): QueryEngine | undefined {
    return this.#engine.options.related?.(term.collection);
  }

  resolve(item: Item): Relations {
    return this.terms.map((term) => {
      const id = item[term.field];
      const engine = this.engineOf(term);
      if (typeof id !== "string" || engine === undefined) return undefined;
      const ordinal = engine.source.ordinalOf(id);
      return ordinal < 0 ? undefined : engine.source.itemAt(ordinal);
    });
  }

  /** The row of an item and its related items. */
  make(item: Item, relations: Relations): Item {
    const row: Record<string, Value> = { ...this.#engine.read(item) };
    this.terms.forEach((term, at) => {
      const found = relations[at];
      row[term.field] = found === undefined
        ? undefined
        : this.engineOf(term)?.read(found) ?? found;
    });
    const frozen = Object.freeze({ ...row, id: item.id });
    origins.set(frozen, item);
    return frozen;
  }
}
