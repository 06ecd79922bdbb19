/**
 * Lists: elements with ids, ordered by (position, id).
 *
 * An insert never clobbers, a move never duplicates: the last writer wins on an
 * element's position and on its value, each by itself; a delete wins over both.
 * Parts of an element may arrive in any order.
 *
 * @module
 */

import { compareStamps, type Stamp } from "../base/hlc.ts";
import { type ListElement, ListState } from "./merge_state.ts";
import { compareText, OrderedMap } from "./ordered_map.ts";
import type { Element, Placement, Value } from "./patch.ts";

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
