/**
 * Maps: the last writer wins for each key; a dropped key keeps its stamp.
 *
 * @module
 */

import { compareStamps, type Stamp } from "../base/hlc.ts";
import type { MapState } from "./merge_state.ts";
import type { Value } from "./patch.ts";
import { recordOf } from "./validate.ts";

/** A map that nothing was put into. */
export const emptyMap: MapState = { merge: "map", entries: new Map() };

/** The map after a commit put these entries; an `undefined` value drops its key. */
export function putIntoMap(
  state: MapState,
  changes: Iterable<readonly [string, Value]>,
  stamp: Stamp,
): MapState {
  const entries = new Map(state.entries);
  for (const [key, value] of changes) {
    const entry = entries.get(key);
    if (entry !== undefined && compareStamps(entry.stamp, stamp) > 0) continue;
    entries.set(key, { value, stamp });
  }
  return { merge: "map", entries };
}

/** The entries that are there, by key. */
export function showMap(state: MapState): Value {
  const entries: [string, Value][] = [];
  for (const [key, { value }] of state.entries) {
    if (value !== undefined) entries.push([key, value]);
  }
  return recordOf(entries);
}
