/**
 * The first order of an index: its keys, read from columns where there are any,
 * and its ordinals, sorted; in steps, so that somebody else may have a turn.
 *
 * @module
 */

import { type IdTable, liveBelow } from "./id_table.ts";
import type { KeyTable } from "./key_table.ts";
import { sortById } from "./sort_ids.ts";
import type { Source } from "./source.ts";

/** Items of one step, which may have to be read. */
const stepItems = 512;

/** More entries than one of so many that agree in all but the id: sorting all ids first is quicker. */
const tiesShare = 8;

/** What is put in order. */
export interface OrderParts {
  readonly source: Source;
  /** Of the index's fields: filled here. */
  readonly tables: readonly KeyTable[];
  /** The id of each ordinal. */
  readonly ids: IdTable;
  /** Must no step take long? All of them take longer then. */
  readonly isLater: boolean;
  /** All entries by the last so many tables and then by id, as another index has them. */
  readonly tail?: Tail;
}

/** What an index of the last fields has. */
export interface Tail {
  readonly entries: Uint32Array;
  /** 1 at the ordinals of entries. */
  readonly marks: Uint8Array;
  readonly tables: number;
}

/** Live ordinals below `size`, by the tables' keys and then by id; `undefined` when a key does not fit. */
export function* orderOf(
  parts: OrderParts,
  size: number,
): Generator<void, Uint32Array | undefined> {
  const { source, tables, ids, isLater, tail } = parts;
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
  if (!isLater) {
    if (tail !== undefined) {
      const split = tables.length - tail.tables;
      if (isOrder(tail, source, [...tables.slice(split), ids])) {
        return yield* sorted(tail.entries, tables.slice(0, split));
      }
    }
    const found = yield* sorted(
      new Uint32Array(liveBelow(source, size)),
      tables,
    );
    if (settleTies(found, tables, source, size / tiesShare)) return found;
  }
  const byId = new Uint32Array(yield* ids.order(size, isLater));
  yield;
  return yield* sorted(byId, tables);
}

/** Stable sorts from the last field to the first keep what came before. */
function* sorted(
  ordinals: Uint32Array,
  tables: readonly KeyTable[],
): Generator<void, Uint32Array> {
  for (const table of tables.toReversed()) yield* table.sortSteps(ordinals);
  return ordinals;
}

/** Are these all live ordinals, by these tables? An index that is not yet told of a change has others. */
function isOrder(
  { entries, marks }: Tail,
  source: Source,
  tables: readonly KeyTable[],
): boolean {
  for (let i = 0; i < source.size; i++) {
    if (source.isLive(i) !== (marks[i] === 1)) return false;
  }
  for (let i = 1; i < entries.length; i++) {
    if (compareBy(tables, entries[i - 1]!, entries[i]!) >= 0) return false;
  }
  return true;
}

/**
 * Sorts what agrees in all tables by id, where it stands side by side; `false`
 * when that is more than `most`, and not everything is in order.
 */
export function settleTies(
  sorted: Uint32Array,
  tables: readonly KeyTable[],
  source: Source,
  most: number,
): boolean {
  let ties = 0;
  for (let start = 0, end = 1; start < sorted.length; start = end++) {
    const first = sorted[start]!;
    while (end < sorted.length && agree(tables, first, sorted[end]!)) end++;
    if (end - start === 1) continue;
    ties += end - start;
    if (ties > most) return false;
    const run = Array.from(sorted.subarray(start, end));
    sorted.set(sortById(run, (ordinal) => source.idAt(ordinal)), start);
  }
  return true;
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
