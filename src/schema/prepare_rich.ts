/**
 * From whole values and explicit changes of counters, sets and maps to the least
 * changes that say the same.
 *
 * @module
 */

import type { Cell } from "./cell.ts";
import { type ElementIds, explicitParts } from "./explicit.ts";
import { equalValues } from "./json.ts";
import { stateIn } from "./merge.ts";
import { tagsOf } from "./merge_set.ts";
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
  const now = Number(cell.item?.[field.name] ?? 0);
  const parts = explicitParts(given, ["increment"]);
  const amount = parseCount(
    field,
    parts === undefined ? parseCount(field, given) - now : parts.increment,
  );
  parseValue(field, now + amount);
  return amount === 0 ? [] : [{ what: "increment", amount }];
}

const nothing: readonly Value[] = [];

function setChanges(
  field: SchemaField,
  cell: Cell,
  given: unknown,
): readonly Change[] {
  const shown = cell.item?.[field.name];
  const now = new Set<Value>(Array.isArray(shown) ? shown : nothing);
  const wanted = wantedSet(field, now, given);
  checkCount(field, wanted.size);
  if (field.isBounded) parseValue(field, wanted);
  const changes: Change[] = [];
  const removed = [...now].filter((value) => !wanted.has(value));
  if (removed.length > 0) changes.push(removal(field, cell, removed));
  const added = [...wanted].filter((value) => !now.has(value));
  if (added.length > 0) {
    changes.push({ what: "add", values: sortedSet(added) });
  }
  return changes;
}

function wantedSet(
  field: SchemaField,
  now: ReadonlySet<Value>,
  given: unknown,
): Set<Value> {
  const parts = explicitParts(given, ["add", "remove"]);
  if (parts === undefined) return new Set(parseIterable(field, given));
  const { add = nothing, remove = nothing } = parts;
  const wanted = new Set(now);
  for (const value of parseIterable(field, remove)) wanted.delete(value);
  for (const value of parseIterable(field, add)) wanted.add(value);
  return wanted;
}

/** A remove names the adds that it has seen; later ones win over it. */
function removal(
  field: SchemaField,
  cell: Cell,
  values: readonly Value[],
): Change {
  const state = stateIn(cell, field.name, "set");
  const seenOf = (value: Value) =>
    state.merge === "set" ? tagsOf(state, value) : [];
  return {
    what: "remove",
    values: values.map((value) => ({
      value,
      tags: seenOf(value).map(({ wall, count, chain }) => ({
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
  const now = new Map<string, Value>(
    Object.entries(cell.item?.[field.name] ?? {}),
  );
  const wanted = wantedMap(field, now, given);
  checkCount(field, wanted.size);
  if (field.isBounded) parseValue(field, recordOf([...wanted]));
  const changes: Change[] = [];
  const keys = [...now.keys()].filter((key) => !wanted.has(key));
  if (keys.length > 0) changes.push({ what: "drop", keys });
  const entries = [...wanted].filter(([key, value]) =>
    !equalValues(now.get(key), value)
  );
  if (entries.length > 0) changes.push({ what: "put", entries });
  return changes;
}

function wantedMap(
  field: SchemaField,
  now: ReadonlyMap<string, Value>,
  given: unknown,
): Map<string, Value> {
  const parts = explicitParts(given, ["put", "drop"]);
  if (parts === undefined) return new Map(parseEntries(field, given));
  const { put = {}, drop = nothing } = parts;
  const wanted = new Map(now);
  for (const key of keysOf(field, drop)) wanted.delete(key);
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
