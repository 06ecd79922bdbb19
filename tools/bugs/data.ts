/**
 * Bugs of what is seen: merges, queries, keys and values, undo, the past.
 *
 * @module
 */

import type { Bug } from "./bug.ts";

export const dataBugs: readonly Bug[] = [
  {
    name: "tie-break-forgotten",
    breaks:
      "Of two writes of one moment each device shows the one that came last",
    file: "src/schema/merge.ts",
    before:
      `  if (stamp !== undefined && compareStamps(origin, stamp) < 0) return;
  edit.registers`,
    after: `  const isBefore = stamp !== undefined &&
    (origin.wall - stamp.wall || origin.count - stamp.count) < 0;
  if (isBefore) return;
  edit.registers`,
    foundBy: ["src/schema/merge_test.ts"],
  },
  {
    name: "tie-break-reversed",
    breaks: "Of two writes of one moment an updated device shows the other one",
    file: "src/base/hlc.ts",
    before: `(a.chain < b.chain ? -1 : a.chain > b.chain ? 1 : 0);`,
    after: `(a.chain < b.chain ? 1 : a.chain > b.chain ? -1 : 0);`,
    foundBy: ["src/base/hlc_test.ts"],
  },
  {
    name: "clock-goes-back",
    breaks: "After the clock was set back, new writes lose against older ones",
    file: "src/base/hlc.ts",
    before: `  if (nowMs > last.wall) return { wall: nowMs, count: 0 };`,
    after: `  if (nowMs !== last.wall) return { wall: nowMs, count: 0 };`,
    foundBy: ["src/base/hlc_test.ts"],
  },
  {
    name: "clock-not-told-of-others",
    breaks: "An answer to somebody's write loses against what it answers",
    file: "repo/graph/graph.ts",
    before: `    this.#clock = laterHlc(chain.last, this.#clock);`,
    after: `    this.#clock = laterHlc(this.#clock, this.#clock);`,
    foundBy: ["repo/graph/graph_test.ts"],
  },
  {
    name: "set-remove-takes-concurrent-add",
    breaks:
      "A tag that somebody adds is gone because somebody else removed it without having seen that",
    file: "src/schema/rich_set.ts",
    before: `    tags.withAll(seen.map((tag) => [tag, undefined])),`,
    after: `    tags.withAll(
      [...tags.keys()]
        .filter(({ value }) => seen.some((tag) => tag.value === value))
        .map((tag) => [tag, undefined]),
    ),`,
    foundBy: ["src/schema/merge_test.ts"],
  },
  {
    name: "generation-ignored",
    breaks:
      "A late edit of a deleted item changes the one that was made in its place",
    file: "src/schema/merge.ts",
    before: `  if (op.generation < cell.generation) return cell;
`,
    after: "",
    foundBy: ["src/schema/merge_test.ts"],
  },
  {
    name: "counter-twice-after-reopening",
    breaks: "A counter shows more after a restart than before",
    file: "repo/replay.ts",
    before: `    const from = this.#graph.lengthOf(chain) - first;`,
    after: `    const from = 0;`,
    foundBy: ["repo/replica_port_test.ts"],
  },
  {
    name: "counter-rounds",
    breaks: "Large counters differ by the order in which increments came",
    file: "src/schema/rich_counter.ts",
    before: `  return new CounterState(total + added);`,
    after: `  return new CounterState(BigInt(Number(total) + Number(added)));`,
    foundBy: ["src/schema/merge_test.ts"],
  },
  {
    name: "map-key-last-come-wins",
    breaks: "A key of a map shows on each device what came there last",
    file: "src/schema/rich_map.ts",
    before:
      `    if (before !== undefined && compareStamps(before, stamp) > 0) continue;
`,
    after: "",
    foundBy: ["src/schema/merge_test.ts"],
  },
  {
    name: "deleted-element-comes-back",
    breaks:
      "A row of a list that was deleted is there again when its insert comes late",
    file: "src/schema/rich_list.ts",
    before: `    if (deleted.has(id)) continue;
`,
    after: "",
    foundBy: ["src/schema/merge_test.ts"],
  },
  {
    name: "whole-map-shown-at-each-write",
    breaks: "Writing one key of a large map holds the server for a while",
    file: "src/schema/rich_kind.ts",
    before: `    return this.size > limits.shownAtOnceMax;`,
    after: `    return this.size < 0;`,
    foundBy: ["src/schema/merge_work_test.ts"],
  },
  {
    name: "hidden-value-forgotten",
    breaks: "What an app cannot read is lost for those who can",
    file: "src/schema/cell.ts",
    before: `  if (hidden?.has(name)) return hidden.get(name);`,
    after: `  void hidden;`,
    foundBy: ["src/schema/merge_test.ts"],
  },
  {
    name: "deleted-text-comes-back",
    breaks:
      "Characters that were deleted stand in the text again after a merge",
    file: "src/schema/text_state.ts",
    before: `deleted: deleted.withAll(gone) };`,
    after: `deleted };`,
    foundBy: [
      "src/schema/text_codec_test.ts",
      "src/schema/merge_test.ts",
    ],
  },
  {
    name: "subscriber-not-told-of-a-delete",
    breaks: "A deleted item stays on the screen",
    file: "src/query/live_window.ts",
    before: `      if (entry !== undefined && entry.item === item) continue;`,
    after: `      if (item === undefined || entry?.item === item) continue;`,
    foundBy: ["src/query/live_test.ts"],
  },
  {
    name: "screen-not-told-of-sync",
    breaks: "What others write shows only when something is written here",
    file: "repo/admission/intake.ts",
    before:
      `      this.#changes.publish(); // What was taken is told, whatever failed then.`,
    after: `      void this.#changes;`,
    foundBy: ["tests/live_test.ts"],
  },
  {
    name: "index-not-updated",
    breaks:
      "A query by an index finds an item under the value that it had before",
    file: "src/query/ordered_index.ts",
    before: `    if (this.broken || (present && same)) return;`,
    after: `    if (this.broken || (present && same !== undefined)) return;`,
    foundBy: ["src/query/ordered_index_test.ts"],
  },
  {
    name: "order-wrong-on-ties",
    breaks: "Rows that are equal stand in another order on each device",
    file: "src/query/order.ts",
    before: `  return (a, b) =>
    sign * compareValues(a[field], b[field]) || compareText(a.id, b.id);`,
    after: `  return (a, b) => sign * compareValues(a[field], b[field]);`,
    foundBy: ["src/query/property_test.ts"],
  },
  {
    name: "page-repeats-a-row",
    breaks: "The next page begins with the row that the last one ended with",
    file: "src/query/order.ts",
    before: `  return compareByTerms(order, item, place) > 0;`,
    after: `  return compareByTerms(order, item, place) >= 0;`,
    foundBy: ["src/query/property_test.ts"],
  },
  {
    name: "compare-and-set-takes-both",
    breaks: "Two devices both get the last seat",
    file: "src/kv/judge.ts",
    before: `    const conflict = conflictOf(expected, before, atMs);
    if`,
    after: `    const conflict = undefined;
    if`,
    foundBy: ["src/kv/judge_test.ts"],
  },
  {
    name: "compare-and-set-overtaken",
    breaks: "A compare-and-set is said to have won, and shows nothing of it",
    file: "src/kv/judge.ts",
    before:
      `    if (conflict !== undefined || isWrittenBy(after(), origin)) return conflict;`,
    after:
      `    if (conflict !== undefined || after !== undefined) return conflict;`,
    foundBy: ["src/kv/judge_test.ts"],
  },
  {
    name: "expiry-ignored",
    breaks: "A login code that has expired is still valid",
    file: "src/kv/entry.ts",
    before:
      `  return typeof expiresAt !== "number" || expiresAt > Math.max(nowMs, 0);`,
    after:
      `  return typeof expiresAt !== "number" || expiresAt > Math.min(nowMs, 0);`,
    foundBy: ["src/kv/kv_test.ts"],
  },
  {
    name: "undo-undoes-anothers",
    breaks: "My undo takes back what somebody else has written since",
    file: "src/db/undo_apply.ts",
    before:
      `        if (!this.#is(stampIn(cell, field), mark.stamp)) return undefined;
`,
    after: "",
    foundBy: ["tests/undo_test.ts"],
  },
  {
    name: "undo-deletes-anothers",
    breaks: "Undoing a create deletes what others have added to the item",
    file: "src/db/undo_apply.ts",
    before: `    if (cell.generation !== generation || !isMine) return false;`,
    after:
      `    if (cell.generation !== generation || keys === undefined) return false;`,
    foundBy: ["tests/undo_test.ts"],
  },
  {
    name: "past-shows-the-future",
    breaks: "What an item was at a commit contains what others wrote beside it",
    file: "repo/history/time_travel.ts",
    before: `    number < (vector.get(chain) ?? 0);`,
    after: `    number < (vector.get(chain) ?? Infinity);`,
    foundBy: ["repo/history/time_travel_test.ts"],
  },
  {
    name: "past-lacks-its-parents",
    breaks: "What an item was at a commit lacks what its author had seen",
    file: "repo/history/time_travel.ts",
    before: `Math.max(known, parent.number + 1));`,
    after: `Math.max(known, parent.number));`,
    foundBy: ["repo/history/time_travel_test.ts"],
  },
  {
    name: "history-names-the-wrong-writer",
    breaks:
      "The history shows somebody as the author of what another one wrote",
    file: "repo/commit/session.ts",
    before:
      `  if (user !== undefined || certificates.of(key).length > 0) return user;`,
    after: `  if (user !== undefined) return own.user;`,
    foundBy: ["repo/commit/session_test.ts"],
  },
];
