/**
 * The state of fields whose concurrent changes are all kept.
 *
 * States are immutable values. A field written by nothing but its item's create
 * has no state of its own: it follows from the value and the create's stamp
 * (see {@linkcode stateOfCreate} in `merge_rich.ts`), so that a plain item costs
 * no maps.
 *
 * @module
 */

import type { Stamp } from "../base/hlc.ts";
import type { Value } from "./patch.ts";
import type { TextState } from "./text_state.ts";

/** A counter: the exact sum of all increments. */
export interface CounterState {
  readonly merge: "counter";
  /** Exact at any size, so that order cannot matter. */
  readonly total: bigint;
}

/** One value of a set. */
export interface SetEntry {
  /** Adds that no remove has seen: the value is there while one is left. */
  readonly tags: readonly Stamp[];
  /** Adds that a remove has seen, in case they arrive after it. */
  readonly gone: readonly Stamp[];
}

/** A set: an add wins over a remove that has not seen it. */
export interface SetState {
  readonly merge: "set";
  readonly entries: ReadonlyMap<Value, SetEntry>;
}

/** One key of a map; its value is `undefined` when it was dropped. */
export interface MapEntry {
  readonly value: Value;
  readonly stamp: Stamp;
}

/** A map: the last writer wins for each key. */
export interface MapState {
  readonly merge: "map";
  readonly entries: ReadonlyMap<string, MapEntry>;
}

/** One element of a list; parts that have not arrived have no stamp. */
export interface ListElement {
  readonly isInserted: boolean;
  readonly isDeleted: boolean;
  readonly value: Value;
  readonly valueStamp: Stamp | undefined;
  readonly position: string;
  readonly positionStamp: Stamp | undefined;
}

/** A list: elements by id, in the order of (position, id). */
export interface ListState {
  readonly merge: "list";
  readonly elements: ReadonlyMap<string, ListElement>;
}

/** The state of one counter, set, map, list or text. */
export type RichState =
  | CounterState
  | SetState
  | MapState
  | ListState
  | TextState;

/** A value, or the text that it will be read from. */
export type Shown = Value | TextState;
