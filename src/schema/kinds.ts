/**
 * Field kinds: their numbers on disk and how concurrent changes of them merge.
 */

import {
  type FieldKind,
  fieldKinds,
  type MergeClass,
  type Value,
} from "./patch.ts";

// Proof: its keys are all that there are.
const kinds = Object.keys(fieldKinds) as FieldKind[];

export function mergeClassOf(kind: FieldKind): MergeClass {
  switch (kind) {
    case "counter":
    case "set":
    case "map":
    case "list":
    case "text":
      return kind;
    default:
      return "register";
  }
}

export type RichClass = Exclude<MergeClass, "register">;

export function isRichClass(merge: MergeClass): merge is RichClass {
  return merge !== "register";
}

/** Does a field of this kind merge by more than its last writer? */
export function isRich(kind: FieldKind): boolean {
  return fieldKinds[kind] >= fieldKinds.counter;
}

export function kindOf(number: number): FieldKind {
  const kind = kinds.find((kind) => fieldKinds[kind] === number);
  if (kind === undefined) {
    throw new SyntaxError(`Cannot decode field kind: ${number} is unknown`);
  }
  return kind;
}

const emptyList: readonly Value[] = Object.freeze([]);
const emptyRecord: { readonly [key: string]: Value } = Object.freeze(
  Object.create(null),
);

/** What a field of this kind holds before anything was written. */
export function emptyOf(kind: FieldKind): Value {
  switch (kind) {
    case "counter":
      return 0;
    case "text":
      return "";
    case "set":
    case "list":
      return emptyList;
    case "map":
      return emptyRecord;
    default:
      return undefined;
  }
}

/** May a register of this kind hold the value? It may be absent. */
export function isOfKind(kind: FieldKind, value: Value): boolean {
  switch (kind) {
    case "number":
    case "boolean":
      return value === undefined || typeof value === kind;
    case "date":
      return value === undefined || value instanceof Date;
    case "bytes":
      return value === undefined || value instanceof Uint8Array;
    case "json":
      return !(value instanceof Date || value instanceof Uint8Array);
    default:
      return value === undefined || typeof value === "string";
  }
}
