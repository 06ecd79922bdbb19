/**
 * The state a short while ago: that of now, with only those items folded anew
 * that were changed since. Where too much was, everything is folded from the
 * log instead (`time_travel.ts`), which is the judge of this.
 *
 * Architecture invariant: same commits, same past (law 4).
 *
 * @module
 */

import { type Cell, isBlank } from "../../src/schema/cell.ts";
import { decodePatch } from "../../src/schema/patch_codec.ts";
import { payloadOf } from "../commit/batch.ts";
import type { CommitReader } from "./commit_reader.ts";
import type { ItemTouches } from "./item_touches.ts";
import { State, type ViewOf } from "../state/state.ts";
import type { Table } from "../state/table.ts";
import type { ItemName } from "../state/state.ts";
import type { Includes } from "./time_travel.ts";
import { getOrMake } from "../../src/base/collections.ts";

/** So much of the log's end is looked through at first. */
const TAIL_BYTES = 256 * 1024;
/** Where more than this part of all that is known was changed, folding everything takes no longer. */
const CHANGED_FRACTION = 1 / 8;

/** The present, and which part of it is asked for. */
export interface RecentPast {
  readonly commits: CommitReader;
  /** The state now, in which nothing is that the log lacks. */
  readonly present: State;
  /** How many commits it is made of. */
  readonly known: number;
  readonly viewOf: ViewOf;
  readonly includes: Includes;
  /** Where the log ended when the picture was taken; nothing became void since. */
  readonly to: number;
  /** Where it ends now. */
  readonly end: number;
}

/** The state of the chosen commits; `undefined` where much was changed since. */
export function recentPast(
  touches: ItemTouches,
  past: RecentPast,
): State | undefined {
  const { present, viewOf, includes, to } = past;
  const changed = changedItems(touches, past);
  if (changed === undefined) return undefined;
  const state = new State(viewOf);
  for (const table of present.tables()) {
    const { name } = table;
    const ids = [...changed.get(name) ?? []];
    const items = ids.map((id) => ({ collection: name, id }));
    const cells = touches.cellsOf(items, viewOf, includes, to);
    const before = new Map(ids.map((id, i) => [id, cells[i]]));
    for (const cell of cellsOf(table)) {
      const { id } = cell;
      const then = before.has(id) ? before.get(id) : cell;
      if (then !== undefined && !isBlank(then)) state.put(name, then);
    }
  }
  return state;
}

/** The cells of a table, which keeps no more of them in memory for that. */
function* cellsOf(table: Table): Generator<Cell> {
  const cells = table.picture();
  const { base } = table;
  base?.loadAll(cells, true);
  for (let ordinal = 0; ordinal < cells.size; ordinal++) {
    yield cells.get(ordinal) ?? base!.cellAt(ordinal, cells);
  }
}

/** Ids by collection of what other commits than the chosen ones changed. */
function changedItems(
  touches: ItemTouches,
  past: RecentPast,
): Map<string, Set<string>> | undefined {
  const { known, includes, end } = past;
  const missing = known - (includes.count ?? 0);
  let room = known * CHANGED_FRACTION;
  if (missing > room) return undefined;
  for (let bytes = TAIL_BYTES;; bytes *= 4) {
    const from = bytes < end ? touches.recordBefore(end - bytes) : 0;
    const found = otherItems(past, from);
    if (found.commits < missing && from > 0) continue;
    for (const [collection, ids] of found.items) {
      for (const id of ids) room -= touches.countOf({ collection, id });
    }
    return room < 0 ? undefined : found.items;
  }
}

/** What stands in the log from an address on, and is none of the chosen commits. */
function otherItems({ commits, includes }: RecentPast, from: number) {
  const items = new Map<string, Set<string>>();
  const note = ({ collection, id }: ItemName) => {
    getOrMake(items, collection, () => new Set()).add(id);
  };
  let count = 0;
  commits.each(({ batch, from }) => {
    for (let i = from; i < batch.commits.length; i++) {
      const commit = batch.commits[i]!;
      if (includes(batch.chain, batch.first + i, commit.wall)) continue;
      count++;
      const { operations } = decodePatch(payloadOf(batch, commit));
      for (const { id, shape } of operations) {
        note({ collection: shape.collection, id });
      }
    }
  }, from);
  return { items, commits: count };
}
