/**
 * The first order of an index: its keys, read from columns where there are any,
 * and its ordinals, sorted; in steps, so that somebody else may have a turn.
 */

import type { IdTable, KeyTable } from "./key_table.ts";
import { sortRuns } from "./sort_texts.ts";
import type { Source } from "../schema/source.ts";
import { inSteps } from "../base/steps.ts";

/** Items of one step, which may have to be read. */
const stepItems = 512;

/** Where more than this share ties, ids are taken in their own order: one by one they cost a page each. */
const tieShare = 256;

/** An order that lacks more than this share is found anew. */
const restShare = 8;

/** Ordinals by their keys and then by id, and those that are still to be put in. */
interface Order {
  readonly sorted: Uint32Array;
  readonly rest: Uint32Array;
}

/** Fills the tables and orders live ordinals below `size`; `undefined` when a key does not fit. */
export function* orderOf(
  source: Source,
  fields: readonly string[],
  tables: readonly KeyTable[],
  ids: IdTable,
  size: number,
): Generator<void, Order | undefined> {
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
  const stored = slow.length === 0
    ? yield* storedOrder(source, fields, tables, live)
    : undefined;
  if (stored !== undefined) return stored;
  yield* sortBy(live, tables, ids);
  return { sorted: live, rest: new Uint32Array(0) };
}

/** The order that the source kept, when most are in it and nothing speaks against it. */
function* storedOrder(
  source: Source,
  fields: readonly string[],
  tables: readonly KeyTable[],
  live: Uint32Array,
): Generator<void, Order | undefined> {
  const sorted = yield* source.storedOrder?.(fields) ?? nothing();
  if (sorted === undefined) return;
  const lacks = live.length - sorted.length;
  if (lacks < 0 || lacks * restShare > live.length) return;
  const left = new Uint8Array(source.size);
  yield* inSteps(live.length, (from, to) => {
    for (let i = from; i < to; i++) left[live[i]!] = 1;
  });
  let isSound = true;
  yield* inSteps(sorted.length, (from, to) => {
    for (let i = from; i < to && isSound; i++) {
      const ordinal = sorted[i]!;
      isSound = left[ordinal] === 1 &&
        (i === 0 || compareBy(tables, sorted[i - 1]!, ordinal) <= 0);
      left[ordinal] = 0;
    }
  });
  if (!isSound) return;
  const rest = new Uint32Array(lacks);
  let length = 0;
  yield* inSteps(live.length, (from, to) => {
    for (let i = from; i < to; i++) {
      if (left[live[i]!] === 1) rest[length++] = live[i]!;
    }
  });
  return { sorted, rest };
}

/** No order was kept. */
// deno-lint-ignore require-yield -- it stands in for steps that read
function* nothing(): Generator<void, undefined> {
  return undefined;
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
  let tied = 0;
  yield* inSteps(ordinals.length, (from, to) => {
    for (let i = Math.max(1, from); i < to; i++) if (ties(i)) tied++;
  });
  if (tied * tieShare > ordinals.length) yield* ids.fillSteps();
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
  if (!source.hasColumn(field)) return false;
  yield* source.columnSteps(field);
  let isFull = true;
  const take = (from: number, to: number) => {
    // Its owner may have replaced it since the last step.
    const column = source.column(field);
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
