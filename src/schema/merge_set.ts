/**
 * Sets: an add wins over a remove that has not seen it.
 *
 * Each add carries its commit's stamp as a tag; a remove names the tags it has
 * seen. A commit that removes what it added itself takes its tag back, so that
 * it may add the value again.
 *
 * @module
 */

import { compareStamps, hlcZero, type Stamp } from "../base/hlc.ts";
import { compareTags, SetState, type Tag } from "./merge_state.ts";
import { OrderedMap } from "./ordered_map.ts";
import type { TaggedValue, Value } from "./patch.ts";

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
