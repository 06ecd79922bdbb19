/**
 * Fields, items and drafts, as the command line reads and prints them.
 *
 * Types only.
 *
 * @module
 */

import type { FieldKind, Item, Value } from "../schema/patch.ts";

export type { FieldKind, Item, Value };

/** A field as the command line knows it: enough to read and print its values. */
export interface Field {
  readonly name: string;
  readonly kind: FieldKind;
  /** May be missing; what is stored does not tell. */
  readonly optional?: boolean;
  /** Kind of the elements of a set, map or list, where it is known. */
  readonly element?: FieldKind;
  /** Words of an enum, where they are known. */
  readonly options?: readonly string[];
}

/** Field values of one item to write, with its id where it has one. */
export interface Draft {
  readonly id: string | undefined;
  readonly values: { readonly [field: string]: Value };
}
