/**
 * The outline of a repository's items: which collections there are, and what
 * their fields are. It is all that a relay knows of what commits mean.
 *
 * Architecture invariant: bounded by `limits.collectionsMax` and
 * `limits.collectionFieldsMax`, however many items there are (law 10).
 *
 * @module
 */

import { getOrMake } from "../../src/base/collections.ts";
import type { Shape } from "../../src/schema/patch.ts";
import type { Operation } from "../../src/schema/patch.ts";
import { FieldKinds } from "../admission/field_kinds.ts";

/** Collections and fields, of which no item is known. */
export class Outline {
  readonly #collections = new Map<string, { readonly kinds: FieldKinds }>();

  /** @param shapes what a checkpoint says of collections and fields */
  constructor(shapes: readonly Shape[]) {
    const byName = new Map<string, Shape[]>();
    for (const shape of shapes) {
      getOrMake(byName, shape.collection, () => []).push(shape);
    }
    for (const [name, shapes] of byName) {
      this.#collections.set(name, { kinds: new FieldKinds(() => shapes) });
    }
  }

  /** How many collections there are. */
  get size(): number {
    return this.#collections.size;
  }

  /** The fields of a collection; `undefined` where nothing was ever written to it. */
  find(collection: string): { readonly kinds: FieldKinds } | undefined {
    return this.#collections.get(collection);
  }

  /** Takes note of what a commit writes. */
  fold({ operations }: { readonly operations: readonly Operation[] }): void {
    for (const operation of operations) {
      const { collection } = operation.shape;
      const begun = getOrMake(
        this.#collections,
        collection,
        () => ({ kinds: new FieldKinds(() => []) }),
      );
      begun.kinds.note(operation, undefined);
    }
  }

  /** It as shapes, of which each has no more fields than one may have. */
  shapes(fieldsMax: number): Shape[] {
    const shapes: Shape[] = [];
    for (const [collection, { kinds }] of this.#collections) {
      const fields = kinds.list();
      for (let i = 0; i === 0 || i < fields.length; i += fieldsMax) {
        const part = fields.slice(i, i + fieldsMax);
        shapes.push({ collection, version: 0, fields: part });
      }
    }
    return shapes;
  }
}
