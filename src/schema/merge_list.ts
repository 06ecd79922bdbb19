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
import type { ListElement, ListState } from "./merge_state.ts";
import type { Element, Placement, Value } from "./patch.ts";

const unknown: ListElement = {
  isInserted: false,
  isDeleted: false,
  value: undefined,
  valueStamp: undefined,
  position: "",
  positionStamp: undefined,
};
const deleted: ListElement = { ...unknown, isDeleted: true };

/** A list that nothing was inserted into. */
export const emptyListState: ListState = { merge: "list", elements: new Map() };

function change(
  state: ListState,
  edit: (elements: Map<string, ListElement>) => void,
): ListState {
  const elements = new Map(state.elements);
  edit(elements);
  return { merge: "list", elements };
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

/** The list after a commit inserted elements. */
export function insertIntoList(
  state: ListState,
  inserts: Iterable<Element>,
  stamp: Stamp,
): ListState {
  return change(state, (elements) => {
    for (const { element, position, value } of inserts) {
      const old = elements.get(element) ?? unknown;
      if (old.isDeleted) continue;
      const next = valued(placed(old, position, stamp), value, stamp);
      elements.set(element, { ...next, isInserted: true });
    }
  });
}

/** The list after a commit moved elements. */
export function moveInList(
  state: ListState,
  moves: readonly Placement[],
  stamp: Stamp,
): ListState {
  return change(state, (elements) => {
    for (const { element, position } of moves) {
      const old = elements.get(element) ?? unknown;
      if (!old.isDeleted) elements.set(element, placed(old, position, stamp));
    }
  });
}

/** The list after a commit gave elements new values. */
export function replaceInList(
  state: ListState,
  values: readonly (readonly [string, Value])[],
  stamp: Stamp,
): ListState {
  return change(state, (elements) => {
    for (const [element, value] of values) {
      const old = elements.get(element) ?? unknown;
      if (!old.isDeleted) elements.set(element, valued(old, value, stamp));
    }
  });
}

/** The list after a commit deleted elements. */
export function deleteFromList(
  state: ListState,
  removed: readonly string[],
): ListState {
  return change(state, (elements) => {
    for (const element of removed) elements.set(element, deleted);
  });
}

/** The elements that are there, in order. */
export function visibleElements(state: ListState): Element[] {
  const visible: Element[] = [];
  for (const [element, { isInserted, value, position }] of state.elements) {
    if (isInserted) visible.push({ element, position, value });
  }
  return visible.sort(compareElements);
}

function compareElements(a: Element, b: Element): number {
  if (a.position !== b.position) return a.position < b.position ? -1 : 1;
  return a.element < b.element ? -1 : 1;
}

/** The values that are there, in order. */
export function showList(state: ListState): readonly Value[] {
  return Object.freeze(visibleElements(state).map((element) => element.value));
}
