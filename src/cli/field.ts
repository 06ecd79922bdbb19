/**
 * Fields, items, rows and drafts, as the command line reads and prints them.
 *
 * Types only.
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
  readonly options?: readonly string[];
}

/** Field values of one item to write, with its id where it has one. */
export interface Draft {
  readonly id: string | undefined;
  readonly values: { readonly [field: string]: Value };
}

export interface RawRow {
  /** The line its first character stands in; of MessagePack the item's number: from 1. */
  readonly line: number;
  /** Values by field name: an object without prototype. */
  readonly values: { readonly [field: string]: unknown };
}

/** Rows arrive in groups, so that a million rows are not a million awaits. */
export type RowGroups = AsyncGenerator<readonly RawRow[]>;
