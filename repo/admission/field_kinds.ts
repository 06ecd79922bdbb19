/**
 * What the fields of a collection are: what each was written as first, by what
 * changed anything. Known without a schema, for who holds writers to it.
 */

import { type Cell, isHistory } from "../../src/schema/cell.ts";
import type {
  FieldKind,
  Operation,
  Shape,
  ShapeField,
} from "../../src/schema/patch.ts";

export class FieldKinds {
  readonly #shapes: () => readonly Shape[];
  /** Made when somebody asks or writes. */
  #byName: Map<string, FieldKind> | undefined;
  /** The shape of the last create that was noted. */
  #noted: Shape | undefined;

  /** @param shapes what a checkpoint holds was written with, in order */
  constructor(shapes: () => readonly Shape[]) {
    this.#shapes = shapes;
  }

  get #kinds(): Map<string, FieldKind> {
    if (this.#byName === undefined) {
      this.#byName = new Map();
      for (const { fields } of this.#shapes()) noteFirst(this.#byName, fields);
    }
    return this.#byName;
  }

  get size(): number {
    return this.#kinds.size;
  }

  /** What a field was first written as. */
  get(name: string): FieldKind | undefined {
    return this.#kinds.get(name);
  }

  list(): ShapeField[] {
    return Array.from(this.#kinds, ([name, kind]) => ({ name, kind }));
  }

  /** Takes note of the fields that an operation writes to what was `before`. */
  note(operation: Operation, before: Cell | undefined): void {
    if (isHistory(operation, before)) return;
    if (operation.what === "create") {
      const { shape } = operation;
      if (shape === this.#noted) return;
      this.#noted = shape;
    }
    noteFirst(this.#kinds, writtenBy(operation));
  }
}

export function writtenBy(operation: Operation): readonly ShapeField[] {
  if (operation.what === "create") return operation.shape.fields;
  return operation.what === "update"
    ? operation.changes.map(({ field }) => field)
    : [];
}

function noteFirst(
  kinds: Map<string, FieldKind>,
  fields: readonly ShapeField[],
): void {
  for (const { name, kind } of fields) {
    if (!kinds.has(name)) kinds.set(name, kind);
  }
}
