/**
 * A patch: the operations of one transaction, as plain data.
 *
 * Each operation names its kind, so that a replica without the schema (the
 * server above all) merges it correctly. Bytes are in `patch_codec.ts`; what
 * they do to an item is in `merge.ts`.
 */

import type { Stamp } from "../base/hlc.ts";
import type { TextState } from "./text_state.ts";

/** Field kinds, with the numbers that stand on disk. */
export const fieldKinds = {
  string: 1,
  number: 2,
  boolean: 3,
  date: 4,
  bytes: 5,
  enum: 6,
  json: 7,
  ref: 8,
  counter: 16,
  set: 17,
  map: 18,
  list: 19,
  text: 24,
} as const;

export type FieldKind = keyof typeof fieldKinds;

/** How concurrent changes of a field merge; kinds below 16 are all `register`. */
export type MergeClass =
  | "register"
  | "counter"
  | "set"
  | "map"
  | "list"
  | "text";

/** One value as a reader sees it: frozen, except that dates and bytes are copies. */
export type Value =
  | undefined
  | null
  | boolean
  | number
  | string
  | Date
  | Uint8Array
  | readonly Value[]
  | { readonly [key: string]: Value };

/** An item as a reader sees it: its id and its fields, frozen. */
export type Item = { readonly id: string } & {
  readonly [field: string]: Value;
};

export interface ShapeField {
  readonly name: string;
  readonly kind: FieldKind;
}

/** The writer's view of a collection: which fields a create carries, in order. */
export interface Shape {
  readonly collection: string;
  readonly version: number;
  readonly fields: readonly ShapeField[];
}

/** What one update does to one field. */
export type Change =
  | { readonly what: "set"; readonly value: Value }
  | { readonly what: "increment"; readonly amount: number }
  | { readonly what: "add"; readonly values: readonly Value[] }
  | { readonly what: "remove"; readonly values: readonly TaggedValue[] }
  | {
    readonly what: "put";
    readonly entries: readonly (readonly [string, Value])[];
  }
  | { readonly what: "drop"; readonly keys: readonly string[] }
  | { readonly what: "insert"; readonly elements: readonly Element[] }
  | { readonly what: "move"; readonly moves: readonly Placement[] }
  | { readonly what: "delete"; readonly elements: readonly string[] }
  | {
    readonly what: "replace";
    readonly values: readonly (readonly [string, Value])[];
  }
  | { readonly what: "edit"; readonly text: TextState };

export type RichChange = Exclude<Change, { readonly what: "set" }>;

/** A set element with the adds of it that the remover had seen. */
export interface TaggedValue {
  readonly value: Value;
  readonly tags: readonly Stamp[];
}

export interface Placement {
  readonly element: string;
  readonly position: string;
}

export interface Element extends Placement {
  readonly value: Value;
}

export interface FieldChange {
  readonly field: ShapeField;
  readonly change: Change;
}

/** An item comes into being (or comes back, in its next generation). */
export interface CreateOperation {
  readonly what: "create";
  readonly shape: Shape;
  readonly id: string;
  readonly generation: number;
  /** The item as its writer sees it: values of the shape's fields by name. */
  readonly item: Item;
}

/** Some fields of an item change. */
export interface UpdateOperation {
  readonly what: "update";
  readonly shape: Shape;
  readonly id: string;
  readonly generation: number;
  readonly changes: readonly FieldChange[];
}

export interface DeleteOperation {
  readonly what: "delete";
  readonly shape: Shape;
  readonly id: string;
  readonly generation: number;
}

export type Operation = CreateOperation | UpdateOperation | DeleteOperation;
