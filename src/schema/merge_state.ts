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
 * - **Sets.** An add wins over a remove that has not seen it: each add carries its
 *   commit's stamp as a tag, and a remove names the tags that it has seen. A
 *   commit that removes what it added itself takes its tag back, so that it may
 *   add the value again.
 * - **Maps.** The last writer wins for each key; a dropped key keeps its stamp.
 * - **Lists.** Elements with ids, ordered by (position, id). An insert never
 *   clobbers, a move never duplicates: the last writer wins on an element's
 *   position and on its value, each by itself; a delete wins over both. Parts of
 *   an element may arrive in any order.
 *
 * @module
 */

import { compareStamps, hlcZero, type Stamp } from "../base/hlc.ts";
import { compareText, OrderedMap } from "./ordered_map.ts";
import type { Element, Placement, TaggedValue, Value } from "./patch.ts";
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

const noTags = /* @__PURE__ */ OrderedMap.of<Tag, true>(compareTags);

/** A set that nothing was added to. */
export const emptySet: SetState = /* @__PURE__ */ new SetState(noTags, noTags);

/** The set of values that one commit added to nothing. */
export function setOf(values: readonly Value[], stamp: Stamp): SetState {
  const tags = values.map((value) => [{ value, stamp }, true] as const);
  return new SetState(OrderedMap.of(compareTags, tags), noTags);
}

/** The set after a commit added values. */
export function addToSet(
  { tags, gone }: SetState,
  values: readonly Value[],
  stamp: Stamp,
): SetState {
  for (const value of values) {
    const tag = { value, stamp };
    if (!gone.has(tag) && !tags.has(tag)) tags = tags.with(tag, true);
  }
  return new SetState(tags, gone);
}

/** The set after a commit removed the adds it had seen. */
export function removeFromSet(
  { tags, gone }: SetState,
  values: readonly TaggedValue[],
  own: Stamp,
): SetState {
  for (const { value, tags: seen } of values) {
    for (const stamp of seen) {
      const tag = { value, stamp };
      tags = tags.without(tag);
      const isOwn = compareStamps(stamp, own) === 0;
      if (!isOwn && !gone.has(tag)) gone = gone.with(tag, true);
    }
  }
  return new SetState(tags, gone);
}

/** The adds of a value that no remove has seen. */
export function tagsOf({ tags }: SetState, value: Value): Stamp[] {
  const stamps: Stamp[] = [];
  const first = { value, stamp: { ...hlcZero, chain: "" } };
  for (const [tag] of tags.entries(first)) {
    if (tag.value !== value) break;
    stamps.push(tag.stamp);
  }
  return stamps;
}

const noKeys = /* @__PURE__ */ OrderedMap.of<string, Stamp>(compareText);

/** A map that nothing was put into. */
export const emptyMap: MapState = /* @__PURE__ */ new MapState(
  /* @__PURE__ */ OrderedMap.of<string, MapEntry>(compareText),
  noKeys,
);

/** The map of entries that one commit put into nothing. */
export function mapOf(
  entries: readonly (readonly [string, Value])[],
  stamp: Stamp,
): MapState {
  const all = entries.map(([key, value]) => [key, { value, stamp }] as const);
  return new MapState(OrderedMap.of(compareText, all), noKeys);
}

/** The map after a commit put these entries; an `undefined` value drops its key. */
export function putIntoMap(
  { entries, dropped }: MapState,
  changes: Iterable<readonly [string, Value]>,
  stamp: Stamp,
): MapState {
  for (const [key, value] of changes) {
    const before = entries.get(key)?.stamp ?? dropped.get(key);
    if (before !== undefined && compareStamps(before, stamp) > 0) continue;
    if (value === undefined) {
      entries = entries.without(key);
      dropped = dropped.with(key, stamp);
    } else {
      entries = entries.with(key, { value, stamp });
      dropped = dropped.without(key);
    }
  }
  return new MapState(entries, dropped);
}

const unknown: ListElement = {
  isInserted: false,
  value: undefined,
  valueStamp: undefined,
  position: "",
  positionStamp: undefined,
};
const noneDeleted = /* @__PURE__ */ OrderedMap.of<string, true>(compareText);

/** A list that nothing was inserted into. */
export const emptyListState: ListState = /* @__PURE__ */ new ListState(
  /* @__PURE__ */ OrderedMap.of<string, ListElement>(compareText),
  noneDeleted,
);

/** The list of elements that one commit inserted into nothing. */
export function listOf(inserts: readonly Element[], stamp: Stamp): ListState {
  const elements = inserts.map((one) =>
    [one.element, inserted(unknown, one, stamp)] as const
  );
  return new ListState(OrderedMap.of(compareText, elements), noneDeleted);
}

function wins(stamp: Stamp, other: Stamp | undefined): boolean {
  return other === undefined || compareStamps(stamp, other) >= 0;
}

function placed(old: ListElement, position: string, stamp: Stamp): ListElement {
  if (!wins(stamp, old.positionStamp)) return old;
  return { ...old, position, positionStamp: stamp };
}

function valued(old: ListElement, value: Value, stamp: Stamp): ListElement {
  if (!wins(stamp, old.valueStamp)) return old;
  return { ...old, value, valueStamp: stamp };
}

function inserted(
  old: ListElement,
  { position, value }: Element,
  stamp: Stamp,
): ListElement {
  const next = valued(placed(old, position, stamp), value, stamp);
  return { ...next, isInserted: true };
}

/** The list with what a commit did to these elements, as far as they are not deleted. */
function changed<T>(
  { elements, deleted }: ListState,
  parts: Iterable<T>,
  idOf: (part: T) => string,
  change: (old: ListElement, part: T) => ListElement,
): ListState {
  for (const part of parts) {
    const id = idOf(part);
    if (deleted.has(id)) continue;
    elements = elements.with(id, change(elements.get(id) ?? unknown, part));
  }
  return new ListState(elements, deleted);
}

const elementOf = ({ element }: { readonly element: string }) => element;

/** The list after a commit inserted elements. */
export function insertIntoList(
  state: ListState,
  inserts: Iterable<Element>,
  stamp: Stamp,
): ListState {
  return changed(
    state,
    inserts,
    elementOf,
    (old, one) => inserted(old, one, stamp),
  );
}

/** The list after a commit moved elements. */
export function moveInList(
  state: ListState,
  moves: readonly Placement[],
  stamp: Stamp,
): ListState {
  return changed(
    state,
    moves,
    elementOf,
    (old, { position }) => placed(old, position, stamp),
  );
}

/** The list after a commit gave elements new values. */
export function replaceInList(
  state: ListState,
  values: readonly (readonly [string, Value])[],
  stamp: Stamp,
): ListState {
  return changed(
    state,
    values,
    ([element]) => element,
    (old, [, value]) => valued(old, value, stamp),
  );
}

/** The list after a commit deleted elements. */
export function deleteFromList(
  { elements, deleted }: ListState,
  removed: readonly string[],
): ListState {
  for (const element of removed) {
    elements = elements.without(element);
    deleted = deleted.with(element, true);
  }
  return new ListState(elements, deleted);
}
