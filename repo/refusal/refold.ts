/**
 * Items folded anew from the commits that are not void, and what became of them.
 *
 * Architecture invariant: what stays is the same as where the void commits
 * never were (law 4).
 */

import { getOrMake } from "../../src/base/collections.ts";
import { blankCell, type Cell } from "../../src/schema/cell.ts";
import { equalValues } from "../../src/schema/json.ts";
import type { Item, Operation } from "../../src/schema/patch.ts";
import type { ItemChange } from "../../src/schema/source.ts";
import type { CommitReader } from "../history/commit_reader.ts";
import { cellsOf } from "../history/time_travel.ts";
import type { Items } from "../state/items.ts";
import { type Changes, publish } from "../state/state.ts";
import type { Table } from "../state/table.ts";

export class Touched {
  readonly ids: Map<string, Set<string>> = new Map();

  add(operations: readonly Operation[]): void {
    for (const { id, shape } of operations) this.take(shape.collection, id);
  }

  take(collection: string, id: string): void {
    getOrMake(this.ids, collection, () => new Set()).add(id);
  }
}

/**
 * Puts items back to what stays of them, where any were folded; the result tells
 * listeners.
 *
 * @param also folds what no log holds
 */
export function foldAnew(
  { ids }: Touched,
  { items, commits }: { readonly items: Items; readonly commits: CommitReader },
  also: () => void = () => {},
): () => void {
  const state = items.folded;
  if (state === undefined) return () => {};
  const names = [...ids].flatMap(([collection, some]) =>
    [...some].map((id) => ({ collection, id }))
  ).filter(({ collection, id }) =>
    (state.find(collection)?.ordinalOf(id) ?? -1) >= 0
  );
  const viewOf = (collection: string) => state.viewOf(collection);
  const cells = names.length === 0
    ? []
    : cellsOf(commits, viewOf, () => true, names);
  const before = names.map(({ collection, id }, i) => {
    const table = state.table(collection);
    const ordinal = table.ordinalOf(id);
    const item = table.itemAt(ordinal);
    table.put(cells[i] ?? blankCell(id, collection), ordinal);
    return { table, ordinal, item };
  });
  also();
  const changes: Changes = new Map<Table, ItemChange[]>();
  for (const { table, ordinal, item } of before) {
    const after = keepSame(table, ordinal, item);
    if (after === item) continue;
    const change = { ordinal, before: item, after };
    getOrMake(changes, table, () => []).push(change);
  }
  return () => publish(changes);
}

/** An item that is what it was stays the same object: nobody needs to look at it again. */
function keepSame(
  table: Table,
  ordinal: number,
  before: Item | undefined,
): Item | undefined {
  const after = table.itemAt(ordinal);
  if (before === undefined || after === undefined) return after;
  const isSame = equalValues(before, after) &&
    JSON.stringify(before) === JSON.stringify(after);
  if (!isSame) return after;
  const cell: Cell = { ...table.cellAt(ordinal), item: before };
  table.put(cell, ordinal);
  return before;
}
