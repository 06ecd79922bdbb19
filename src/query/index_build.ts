/**
 * The first order of an index: its keys, read from columns where there are any,
 * and its ordinals, sorted; in steps, so that somebody else may have a turn.
 *
 * @module
 */

import type { IdTable } from "./id_table.ts";
import type { KeyTable } from "./key_table.ts";
import { sortRuns } from "./sort_texts.ts";
import type { Source } from "./source.ts";
import { inSteps } from "./steps.ts";

/** Items of one step, which may have to be read. */
const stepItems = 512;

/** Fills the tables and gives live ordinals below `size` by their keys and then by id; `undefined` when a key does not fit. */
export function* orderOf(
  source: Source,
  tables: readonly KeyTable[],
  ids: IdTable,
  size: number,
): Generator<void, Uint32Array | undefined> {
  const slow: KeyTable[] = [];
  for (const table of tables) {
    yield* table.reserveSteps(size);
    if (!(yield* fillFast(source, table, size))) slow.push(table);
  }
  const live = yield* liveBelow(source, size);
  if (slow.length > 0 && !(yield* fillSlow(source, slow, live))) {
    return undefined;
  }
  yield* ids.reserveSteps(size);
  yield* sortBy(live, tables, ids);
  return live;
}

/** Sorts by tables, in place, and then by id. */
export function* sortBy(
  ordinals: Uint32Array,
  tables: readonly KeyTable[],
  ids: IdTable,
): Generator<void> {
  // Stable sorts from the last field to the first keep what came before.
  for (const table of tables.toReversed()) yield* table.sort(ordinals);
  const ties = (place: number) =>
    agree(tables, ordinals[place - 1]!, ordinals[place]!);
  yield* sortRuns(ordinals, ties, (ordinal) => ids.idOf(ordinal));
}

function* liveBelow(
  source: Source,
  size: number,
): Generator<void, Uint32Array> {
  const live = new Uint32Array(size);
  let length = 0;
  yield* inSteps(size, (from, to) => {
    for (let i = from; i < to; i++) if (source.isLive(i)) live[length++] = i;
  });
  return live.subarray(0, length);
}

/** Are two ordinals' keys the same? The last ones differ most often. */
export function agree(
  tables: readonly KeyTable[],
  a: number,
  b: number,
): boolean {
  for (let f = tables.length - 1; f >= 0; f--) {
    if (tables[f]!.compare(a, b) !== 0) return false;
  }
  return true;
}

/** Negative, zero or positive as one ordinal's keys to another's. */
export function compareBy(
  tables: readonly KeyTable[],
  a: number,
  b: number,
): number {
  for (let f = 0; f < tables.length; f++) {
    const found = tables[f]!.compare(a, b);
    if (found !== 0) return found;
  }
  return 0;
}

/** False when there is no column, no more, or one that does not fit. */
function* fillFast(
  source: Source,
  table: KeyTable,
  size: number,
): Generator<void, boolean> {
  const { field } = table;
  let isFull = true;
  const take = (from: number, to: number) => {
    // Its owner may have replaced it since the last step.
    const column = source.hasColumn(field) ? source.column(field) : undefined;
    isFull &&= column !== undefined && table.fill(column, from, to);
  };
  for (const _ of inSteps(size, take)) {
    if (!isFull) return false;
    yield;
  }
  return true;
}

/** False when a key does not fit. */
function* fillSlow(
  source: Source,
  tables: readonly KeyTable[],
  ordinals: Uint32Array,
): Generator<void, boolean> {
  for (let i = 0; i < ordinals.length; i += stepItems) {
    if (!readKeys(source, tables, ordinals.subarray(i, i + stepItems))) {
      return false;
    }
    yield;
  }
  return true;
}

function readKeys(
  source: Source,
  tables: readonly KeyTable[],
  ordinals: Uint32Array,
): boolean {
  source.load?.(ordinals);
  for (const ordinal of ordinals) {
    const item = source.itemAt(ordinal);
    if (item === undefined) continue;
    for (const table of tables) {
      const key = table.keyOf(item);
      if (key === null) return false;
      table.set(ordinal, key);
    }
  }
  return true;
}
