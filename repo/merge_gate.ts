/**
 * What a gate asks of commits before they are folded, of everybody: that they
 * begin no more collections and fields than a repository holds, write a field as
 * what it is, and take a bounded amount of folding.
 *
 * A field that some call a list and others a string would be lost to one of them.
 * What it is follows from the schema of the rules, where they have one, and from
 * who wrote it first, in the order of acceptance, where they have none.
 *
 * @module
 */

import { type Refusal, refuse, refuseAt } from "../src/base/errors.ts";
import { limits } from "../src/base/limits.ts";
import { mergeClassOf } from "../src/schema/kinds.ts";
import { partsOf } from "../src/schema/parts.ts";
import type { FieldKind, Operation } from "../src/schema/patch.ts";
import type { DecodedPatch } from "../src/schema/patch_codec.ts";
import type { Schema } from "../src/schema/schema.ts";
import { writtenBy } from "./field_kinds.ts";
import type { State } from "./state.ts";

/** What the rules say of collections. */
export interface Ruled {
  /** The schema of a collection; `undefined` where they have none. */
  schemaOf(collection: string): Schema | undefined;
  /** All of them: there is room for each, whatever others begin. */
  schemas(): readonly Schema[];
}

/**
 * The first of some commits that may not be folded.
 *
 * @param first number of the first of them
 */
export function checkMerge(
  state: State,
  first: number,
  patches: readonly DecodedPatch[],
  ruled?: Ruled,
): Refusal | undefined {
  const begun = new Begun(state, ruled);
  for (const [i, { operations }] of patches.entries()) {
    let parts = 0;
    for (const operation of operations) {
      parts += partsOf(operation);
      const refusal = begun.take(operation);
      if (refusal !== undefined) return { ...refusal, number: first + i };
    }
    if (parts > limits.foldPartsMax) {
      const detail = `One commit changes at most ${limits.foldPartsMax} parts`;
      return refuseAt(first + i, "too-large", detail);
    }
  }
  return undefined;
}

/** Collections and fields that a batch begins. */
class Begun {
  readonly #state: State;
  readonly #ruled: Ruled | undefined;
  readonly #kinds = new Map<string, Map<string, FieldKind>>();
  #collections = 0;

  constructor(state: State, ruled: Ruled | undefined) {
    this.#state = state;
    this.#ruled = ruled;
  }

  /** How many collections of the rules have not begun yet. */
  get #reserved(): number {
    const schemas = this.#ruled?.schemas() ?? [];
    return schemas.filter(({ name }) =>
      this.#state.find(name) === undefined && !this.#kinds.has(name)
    ).length;
  }

  /** Why an operation may not be folded. */
  take(operation: Operation): Refusal | undefined {
    const { collection } = operation.shape;
    const known = this.#state.find(collection)?.kinds;
    let begun = this.#kinds.get(collection);
    if (begun === undefined) {
      this.#kinds.set(collection, begun = new Map());
      if (known === undefined) this.#collections++;
    }
    const { collectionsMax, collectionFieldsMax } = limits;
    const schema = this.#ruled?.schemaOf(collection);
    const reserved = known === undefined && schema === undefined
      ? this.#reserved
      : 0;
    if (this.#state.size + this.#collections + reserved > collectionsMax) {
      const detail = `A repository holds at most ${collectionsMax} collections`;
      return refuse("too-large", detail);
    }
    for (const { name, kind } of writtenBy(operation)) {
      const is = schema?.plan[schema.ordinals.get(name) ?? -1]?.kind ??
        known?.get(name) ?? begun.get(name);
      if (is === undefined) begun.set(name, kind);
      else if (mergeClassOf(is) !== mergeClassOf(kind)) {
        const detail = `${collection}.${name} is a ${is}, not a ${kind}`;
        return refuse("wrong-kind", detail);
      }
    }
    if ((known?.size ?? 0) + begun.size > collectionFieldsMax) {
      const detail = `A collection has at most ${collectionFieldsMax} fields`;
      return refuse("too-large", detail);
    }
    return undefined;
  }
}
