/**
 * What a change does to the state of a counter, set, map, list or text.
 *
 * @module
 */

import { toHex } from "../base/bytes.ts";
import { compareStamps, type Stamp } from "../base/hlc.ts";
import { limits } from "../base/limits.ts";
import {
  addToSet,
  type CounterState,
  deleteFromList,
  emptyListState,
  emptyMap,
  emptySet,
  insertIntoList,
  listOf,
  type ListState,
  mapOf,
  type MapState,
  moveInList,
  putIntoMap,
  removeFromSet,
  replaceInList,
  type RichState,
  setOf,
  type SetState,
} from "./merge_state.ts";
import type { RichClass } from "./kinds.ts";
import type { Change, Element, Value } from "./patch.ts";
import { positionAt } from "./position.ts";
import {
  emptyText,
  joinTexts,
  type TextEngine,
  textOfCreate,
} from "./text_state.ts";

const emptyCounter: CounterState = { merge: "counter", total: 0n };

/** The state before anything was written. */
export function emptyState(merge: RichClass): RichState {
  switch (merge) {
    case "counter":
      return emptyCounter;
    case "set":
      return emptySet;
    case "map":
      return emptyMap;
    case "list":
      return emptyListState;
    case "text":
      return emptyText;
  }
}

/** The state after a create wrote `value`. */
export function stateOfCreate(
  state: RichState,
  value: Value,
  stamp: Stamp,
): RichState {
  switch (state.merge) {
    case "counter":
      return increment(state, typeof value === "number" ? value : 0);
    case "set":
      return addToSet(state, Array.isArray(value) ? value : [], stamp);
    case "map":
      return putIntoMap(state, entriesOf(value), stamp);
    case "list":
      return insertIntoList(state, elementsOfCreate(value, stamp), stamp);
    case "text":
      return joinTexts(
        state,
        textOfCreate(typeof value === "string" ? value : ""),
      );
  }
}

/** States of values that a create wrote, by value: whoever asks first makes it, for all. */
const begun = /* @__PURE__ */ new WeakMap<
  object,
  { readonly state: RichState; readonly stamp: Stamp }
>();

/** The state of a field that nothing but a create has written. */
export function beginState(
  merge: RichClass,
  value: Value,
  stamp: Stamp,
): RichState {
  if (typeof value !== "object" || value === null) {
    return stateOfCreate(emptyState(merge), value, stamp);
  }
  const known = begun.get(value);
  const isMeant = known?.state.merge === merge &&
    compareStamps(known.stamp, stamp) === 0;
  if (isMeant) return known.state;
  const state = stateOf(merge, value, stamp);
  begun.set(value, { state, stamp });
  return state;
}

function stateOf(merge: RichClass, value: Value, stamp: Stamp): RichState {
  switch (merge) {
    case "set":
      return setOf(Array.isArray(value) ? value : [], stamp);
    case "map":
      return mapOf(entriesOf(value), stamp);
    case "list":
      return listOf(elementsOfCreate(value, stamp), stamp);
    default:
      return emptyState(merge);
  }
}

function entriesOf(value: Value): [string, Value][] {
  return typeof value === "object" ? Object.entries(value ?? {}) : [];
}

/**
 * The elements of a list that a create wrote whole. Their ids and positions
 * follow from the create's stamp, so that the log need not hold them.
 */
function elementsOfCreate(value: Value, stamp: Stamp): Element[] {
  if (!Array.isArray(value)) return [];
  const commit = nameOf(stamp);
  return value.map((inner: Value, i) => ({
    element: `${commit}.${i}`,
    position: positionAt(i),
    value: inner,
  }));
}

/** A commit's name: enough of its chain (64 bits of the key, and the incarnation) to tell it apart. */
export function nameOf({ wall, count, chain }: Stamp): string {
  const part = chain.slice(0, 8) + chain.slice(32);
  const bytes = Uint8Array.from(part, (character) => character.charCodeAt(0));
  return `${wall}.${count}.${toHex(bytes)}`;
}

/** The state after one change; a change of another class leaves it as it is. */
export function changeState(
  state: RichState,
  change: Change,
  stamp: Stamp,
): RichState {
  switch (state.merge) {
    case "counter":
      return change.what === "increment"
        ? increment(state, change.amount)
        : state;
    case "set":
      return changeSet(state, change, stamp);
    case "map":
      return changeMap(state, change, stamp);
    case "list":
      return changeList(state, change, stamp);
    case "text":
      return change.what === "edit" ? joinTexts(state, change.text) : state;
  }
}

function increment(state: CounterState, amount: number): CounterState {
  return { merge: "counter", total: state.total + BigInt(amount) };
}

function changeSet(state: SetState, change: Change, stamp: Stamp): SetState {
  if (change.what === "add") return addToSet(state, change.values, stamp);
  if (change.what !== "remove") return state;
  return removeFromSet(state, change.values, stamp);
}

function changeMap(state: MapState, change: Change, stamp: Stamp): MapState {
  if (change.what === "put") return putIntoMap(state, change.entries, stamp);
  if (change.what !== "drop") return state;
  const drops = change.keys.map((key) => [key, undefined] as const);
  return putIntoMap(state, drops, stamp);
}

function changeList(state: ListState, change: Change, stamp: Stamp): ListState {
  switch (change.what) {
    case "insert":
      return insertIntoList(state, change.elements, stamp);
    case "move":
      return moveInList(state, change.moves, stamp);
    case "replace":
      return replaceInList(state, change.values, stamp);
    case "delete":
      return deleteFromList(state, change.elements);
    default:
      return state;
  }
}

/** Is it put together when somebody reads it? A text always is, and what has many parts. */
export function isShownLater(
  state: RichState,
): state is Exclude<RichState, CounterState> {
  switch (state.merge) {
    case "counter":
      return false;
    case "text":
      return true;
    default:
      return state.size > limits.shownAtOnceMax;
  }
}

/** What readers see of a state. */
export function showState(state: RichState, engine?: TextEngine): Value {
  switch (state.merge) {
    case "counter":
      return Number(state.total);
    case "text":
      return state.show(engine);
    default:
      return state.show();
  }
}
