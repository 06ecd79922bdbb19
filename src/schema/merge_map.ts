/**
 * Maps: the last writer wins for each key; a dropped key keeps its stamp.
 *
 * @module
 */

import { compareStamps, type Stamp } from "../base/hlc.ts";
import { type MapEntry, MapState } from "./merge_state.ts";
import { compareText, OrderedMap } from "./ordered_map.ts";
import type { Value } from "./patch.ts";

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
