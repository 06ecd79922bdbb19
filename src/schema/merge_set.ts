/**
 * Sets: an add wins over a remove that has not seen it.
 *
 * Each add carries its commit's stamp as a tag; a remove names the tags it has
 * seen. A commit that removes what it added itself takes its tag back, so that
 * it may add the value again.
 *
 * @module
 */

import { compareStamps, type Stamp } from "../base/hlc.ts";
import type { SetEntry, SetState } from "./merge_state.ts";
import type { TaggedValue, Value } from "./patch.ts";
import { sortedSet } from "./validate.ts";

const noEntry: SetEntry = { tags: [], gone: [] };

/** A set that nothing was added to. */
export const emptySet: SetState = { merge: "set", entries: new Map() };

/** The set after a commit added values. */
export function addToSet(
  state: SetState,
  values: readonly Value[],
  stamp: Stamp,
): SetState {
  const entries = new Map(state.entries);
  for (const value of values) {
    const { tags, gone } = entries.get(value) ?? noEntry;
    if (hasStamp(tags, stamp) || hasStamp(gone, stamp)) continue;
    entries.set(value, { tags: [...tags, stamp], gone });
  }
  return { merge: "set", entries };
}

/** The set after a commit removed the adds it had seen. */
export function removeFromSet(
  state: SetState,
  values: readonly TaggedValue[],
  stamp: Stamp,
): SetState {
  const entries = new Map(state.entries);
  for (const { value, tags } of values) {
    const entry = withoutTags(entries.get(value) ?? noEntry, tags, stamp);
    if (entry.tags.length + entry.gone.length === 0) entries.delete(value);
    else entries.set(value, entry);
  }
  return { merge: "set", entries };
}

function withoutTags(
  entry: SetEntry,
  seen: readonly Stamp[],
  own: Stamp,
): SetEntry {
  const gone = entry.gone.slice();
  for (const tag of seen) {
    if (compareStamps(tag, own) !== 0 && !hasStamp(gone, tag)) gone.push(tag);
  }
  return { tags: entry.tags.filter((tag) => !hasStamp(seen, tag)), gone };
}

function hasStamp(stamps: readonly Stamp[], stamp: Stamp): boolean {
  for (const other of stamps) {
    if (compareStamps(other, stamp) === 0) return true;
  }
  return false;
}

/** The values that are there, ascending. */
export function showSet(state: SetState): readonly Value[] {
  const values: Value[] = [];
  for (const [value, { tags }] of state.entries) {
    if (tags.length > 0) values.push(value);
  }
  return sortedSet(values);
}
