/**
 * The first order of an index: its keys, read from columns where there are any,
 * and its ordinals, sorted; in steps, so that somebody else may have a turn.
 *
 * @module
 */

import { type IdTable, liveBelow } from "./id_table.ts";
import type { KeyTable } from "./key_table.ts";
import type { Source } from "./source.ts";

/** Items of one step, which may have to be read. */
const stepItems = 512;

/** What is put in order. */
export interface OrderParts {
  readonly source: Source;
  /** Of the index's fields: filled here. */
  readonly tables: readonly KeyTable[];
  /** The id of each ordinal. */
  readonly ids: IdTable;
  /** Must no step take long? All of them take longer then. */
  readonly isLater: boolean;
}

/** Live ordinals below `size`, by the tables' keys and then by id; `undefined` when a key does not fit. */
export function* orderOf(
  parts: OrderParts,
  size: number,
): Generator<void, number[] | undefined> {
  const { source, tables, ids, isLater } = parts;
  const slow: KeyTable[] = [];
  for (const table of tables) {
    if (!fillFast(source, table, size)) slow.push(table);
    yield;
  }
  const live = slow.length === 0 ? [] : liveBelow(source, size);
  yield;
  for (let i = 0; i < live.length; i += stepItems) {
    if (!fillSlow(source, slow, live.slice(i, i + stepItems))) return undefined;
    yield;
  }
  const sorted = yield* ids.order(size, isLater);
  // Stable sorts from the last field to the first keep what came before.
  for (const table of tables.toReversed()) yield* table.sortSteps(sorted);
  return sorted;
}

function fillFast(source: Source, table: KeyTable, size: number): boolean {
  const { field } = table;
  if (!source.hasColumn(field)) return false;
  const column = source.column(field);
  return column !== undefined && table.fill(column, size);
}

/** False when a key does not fit. */
function fillSlow(
  source: Source,
  tables: readonly KeyTable[],
  ordinals: readonly number[],
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
