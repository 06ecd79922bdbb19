/**
 * From whole values and explicit changes of counters, sets and maps to the least
 * changes that say the same.
 *
 * @module
 */

import { limits } from "../base/limits.ts";
import type { Cell } from "./cell.ts";
import { mayCount, totalIn } from "./count.ts";
import { type ElementIds, explicitParts } from "./explicit.ts";
import { equalValues } from "./json.ts";
import { stateIn } from "./merge.ts";
import {
  emptyMap,
  emptySet,
  type MapState,
  type SetState,
  tagsOf,
} from "./merge_state.ts";
import type { Change, Value } from "./patch.ts";
import { listChanges } from "./prepare_list.ts";
import { textChanges } from "./prepare_text.ts";
import {
  checkCount,
  parseCount,
  parseEntries,
  parseIterable,
  parseKey,
  parseValue,
  recordOf,
  refuseValue,
  runChecks,
  type SchemaField,
  sortedSet,
} from "./validate.ts";

/** The changes of a counter, set, map, list or text that an update asks for. */
export function richChanges(
  field: SchemaField,
  cell: Cell,
  given: unknown,
  ids: ElementIds,
): readonly Change[] {
  switch (field.kind) {
    case "counter":
      return counterChanges(field, cell, given);
    case "set":
      return setChanges(field, cell, given);
    case "map":
      return mapChanges(field, cell, given);
    case "text":
      return textChanges(field, cell, given, ids);
    default:
      return listChanges(field, cell, given, ids);
  }
}

function counterChanges(
  field: SchemaField,
  cell: Cell,
  given: unknown,
): readonly Change[] {
  const total = totalIn(cell, field.name);
  const parts = explicitParts(given, ["increment"]);
  const amount = parseCount(
    field,
    parts === undefined
      ? Number(BigInt(parseCount(field, given)) - total)
      : parts.increment,
  );
  const sum = total + BigInt(amount);
  if (!mayCount(total, sum)) {
    const expected = `at most ${limits.countMax}`;
    refuseValue(field, expected, Number(sum), "value-too-large");
  }
  // Its bounds are a constraint: asked at the end of the transaction.
  runChecks(field, Number(sum));
  return amount === 0 ? [] : [{ what: "increment", amount }];
}

const nothing: readonly Value[] = [];

function setChanges(
  field: SchemaField,
  cell: Cell,
  given: unknown,
): readonly Change[] {
  const state = setIn(cell, field.name);
  const wanted = wantedValues(field, state, given);
  const isThere = (value: Value) => tagsOf(state, value).length > 0;
  const changed = [...wanted].filter(([value, is]) => is !== isThere(value));
  const added = changed.flatMap(([value, is]) => is ? [value] : []);
  const removed = changed.flatMap(([value, is]) => is ? [] : [value]);
  if (field.isBounded || state.size + added.length > limits.elementsMax) {
    const all = new Set<Value>(valuesOf(state));
    for (const value of removed) all.delete(value);
    for (const value of added) all.add(value);
    checkCount(field, all.size);
    parseValue(field, all);
  }
  const changes: Change[] = [];
  if (removed.length > 0) changes.push(removal(state, removed));
  if (added.length > 0) {
    changes.push({ what: "add", values: sortedSet(added) });
  }
  return changes;
}

function setIn(cell: Cell, name: string): SetState {
  const state = stateIn(cell, name, "set");
  return state.merge === "set" ? state : emptySet;
}

/** The values of a set that is there. */
function valuesOf(state: SetState): readonly Value[] {
  const shown = state.show();
  return Array.isArray(shown) ? shown : nothing;
}

/** Of each value that is spoken of: is it to be there? */
function wantedValues(
  field: SchemaField,
  state: SetState,
  given: unknown,
): ReadonlyMap<Value, boolean> {
  const parts = explicitParts(given, ["add", "remove"]);
  const { add, remove } = parts === undefined
    ? { add: parseIterable(field, given), remove: valuesOf(state) }
    : {
      add: parseIterable(field, parts.add ?? nothing),
      remove: parseIterable(field, parts.remove ?? nothing),
    };
  const wanted = new Map<Value, boolean>();
  for (const value of remove) wanted.set(value, false);
  for (const value of add) wanted.set(value, true);
  if (parts === undefined) checkCount(field, add.length);
  return wanted;
}

/** A remove names the adds that it has seen; later ones win over it. */
function removal(state: SetState, values: readonly Value[]): Change {
  return {
    what: "remove",
    values: values.map((value) => ({
      value,
      tags: tagsOf(state, value).map(({ wall, count, chain }) => ({
        wall,
        count,
        chain,
      })),
    })),
  };
}

function mapChanges(
  field: SchemaField,
  cell: Cell,
  given: unknown,
): readonly Change[] {
  const state = stateIn(cell, field.name, "map");
  const now = state.merge === "map" ? state.entries : emptyMap.entries;
  const keys: string[] = [];
  const entries: [string, Value][] = [];
  let size = now.size;
  for (const [key, value] of wantedEntries(field, now, given)) {
    const before = now.get(key);
    if (value === undefined) {
      if (before === undefined) continue;
      keys.push(key);
      size--;
    } else if (before === undefined || !equalValues(before.value, value)) {
      entries.push([key, value]);
      if (before === undefined) size++;
    }
  }
  checkCount(field, size);
  if (field.isBounded) {
    const all = new Map<string, Value>();
    for (const [key, { value }] of now.entries()) all.set(key, value);
    for (const key of keys) all.delete(key);
    for (const [key, value] of entries) all.set(key, value);
    parseValue(field, recordOf([...all]));
  }
  const changes: Change[] = [];
  if (keys.length > 0) changes.push({ what: "drop", keys });
  if (entries.length > 0) changes.push({ what: "put", entries });
  return changes;
}

/** The value of each key that is spoken of; `undefined` where it is to go. */
function wantedEntries(
  field: SchemaField,
  now: MapState["entries"],
  given: unknown,
): ReadonlyMap<string, Value> {
  const parts = explicitParts(given, ["put", "drop"]);
  const { put, drop } = parts === undefined
    ? { put: given, drop: now.keys() }
    : { put: parts.put ?? {}, drop: keysOf(field, parts.drop ?? nothing) };
  const wanted = new Map<string, Value>();
  for (const key of drop) wanted.set(key, undefined);
  for (const [key, value] of parseEntries(field, put)) wanted.set(key, value);
  return wanted;
}

function keysOf(field: SchemaField, given: unknown): readonly string[] {
  if (typeof given !== "object" || given === null) {
    refuseValue(field, "an iterable of keys to drop", given);
  }
  return Array.from(iterate(field, given), (key) => parseKey(field, key));
}

function iterate(field: SchemaField, given: object): Iterable<unknown> {
  if (
    Symbol.iterator in given && typeof given[Symbol.iterator] === "function"
  ) {
    return given as Iterable<unknown>; // Proven by the line above.
  }
  refuseValue(field, "an iterable of keys to drop", given);
}
