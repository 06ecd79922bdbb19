/**
 * The state of fields whose concurrent changes are all kept.
 *
 * States are immutable values; a changed one shares with the old one what stayed.
 * What has ended (removed adds, dropped keys, deleted elements) stands apart from
 * what is there, so that it costs those who read nothing. What readers see of many
 * parts is put together when somebody reads it.
 *
 * A field written by nothing but its item's create has no state of its own: it
 * follows from the value and the create's stamp (see {@linkcode stateOfCreate} in
 * `merge_rich.ts`), so that a plain item costs no maps.
 *
 * @module
 */

import { compareStamps, type Stamp } from "../base/hlc.ts";
import { compareText, type OrderedMap } from "./ordered_map.ts";
import type { Element, Value } from "./patch.ts";
import type { TextState } from "./text_state.ts";
import { recordOf, sortedSet } from "./validate.ts";
import { compareScalars } from "./value_codec.ts";

/** A counter: the exact sum of all increments. */
export interface CounterState {
  readonly merge: "counter";
  /** Exact at any size, so that order cannot matter. */
  readonly total: bigint;
}

/** What is put together of many parts, once, when somebody reads it. */
export abstract class PartsState {
  #shown: Value;

  /** How many parts readers see. */
  abstract readonly size: number;

  /** What readers see: frozen, and the same at each time. */
  show(): Value {
    return this.#shown ??= this.build();
  }

  protected abstract build(): Value;
}

/** One add of a value to a set: the stamp of its commit. */
export interface Tag {
  readonly value: Value;
  readonly stamp: Stamp;
}

/** Adds of a set, by value and stamp. */
export type Tags = OrderedMap<Tag, true>;

/** Tags by value, then by stamp. */
export function compareTags(a: Tag, b: Tag): number {
  return compareScalars(a.value, b.value) || compareStamps(a.stamp, b.stamp);
}

/** A set: an add wins over a remove that has not seen it. */
export class SetState extends PartsState {
  readonly merge = "set";
  /** Adds that no remove has seen: a value is there while one is left. */
  readonly tags: Tags;
  /** Adds that a remove has seen, in case they arrive after it. */
  readonly gone: Tags;

  constructor(tags: Tags, gone: Tags) {
    super();
    this.tags = tags;
    this.gone = gone;
  }

  get size(): number {
    return this.tags.size;
  }

  protected build(): Value {
    return sortedSet(Array.from(this.tags.keys(), ({ value }) => value));
  }
}

/** One key of a map. */
export interface MapEntry {
  readonly value: Value;
  readonly stamp: Stamp;
}

/** A map: the last writer wins for each key. */
export class MapState extends PartsState {
  readonly merge = "map";
  readonly entries: OrderedMap<string, MapEntry>;
  /** Keys that are not there any more, and since which commit. */
  readonly dropped: OrderedMap<string, Stamp>;

  constructor(
    entries: OrderedMap<string, MapEntry>,
    dropped: OrderedMap<string, Stamp>,
  ) {
    super();
    this.entries = entries;
    this.dropped = dropped;
  }

  get size(): number {
    return this.entries.size;
  }

  protected build(): Value {
    return recordOf(
      Array.from(this.entries.entries(), ([key, { value }]) => [key, value]),
    );
  }
}

/** One element of a list; parts that have not arrived have no stamp. */
export interface ListElement {
  readonly isInserted: boolean;
  readonly value: Value;
  readonly valueStamp: Stamp | undefined;
  readonly position: string;
  readonly positionStamp: Stamp | undefined;
}

/** A list: elements by id, in the order of (position, id). */
export class ListState extends PartsState {
  readonly merge = "list";
  readonly elements: OrderedMap<string, ListElement>;
  /** Elements that nothing brings back. */
  readonly deleted: OrderedMap<string, true>;
  #visible: readonly Element[] | undefined;

  constructor(
    elements: OrderedMap<string, ListElement>,
    deleted: OrderedMap<string, true>,
  ) {
    super();
    this.elements = elements;
    this.deleted = deleted;
  }

  get size(): number {
    return this.elements.size;
  }

  /** The elements that are there, in order. */
  get visible(): readonly Element[] {
    return this.#visible ??= this.#order();
  }

  #order(): Element[] {
    const visible: Element[] = [];
    for (const [element, one] of this.elements.entries()) {
      const { isInserted, value, position } = one;
      if (isInserted) visible.push({ element, position, value });
    }
    // By id already, and a sort keeps that where positions are the same.
    return visible.sort((a, b) => compareText(a.position, b.position));
  }

  protected build(): Value {
    return Object.freeze(this.visible.map(({ value }) => value));
  }
}

/** The state of one counter, set, map, list or text. */
export type RichState =
  | CounterState
  | SetState
  | MapState
  | ListState
  | TextState;
