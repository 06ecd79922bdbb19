/**
 * Items folded anew from the commits that are not void, and what became of them.
 *
 * Architecture invariant: what stays is the same as where the void commits
 * never were (law 4).
 */

import { decodeAscii } from "../../src/base/bytes.ts";
import { getOrMake } from "../../src/base/collections.ts";
import { blankCell, type Cell } from "../../src/schema/cell.ts";
import { equalValues } from "../../src/schema/json.ts";
import { fold } from "../../src/schema/merge.ts";
import type { Item, Operation } from "../../src/schema/patch.ts";
import type { ItemChange } from "../../src/schema/source.ts";
import { type Batch, type BatchCommit, decodeCommit } from "../commit/batch.ts";
import type { CommitReader } from "../history/commit_reader.ts";
import type { LoggedBatch } from "../history/logged_commits.ts";
import type { Items } from "../state/items.ts";
import { type Changes, publish, type State } from "../state/state.ts";
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
  const before: { table: Table; id: string; before: Item | undefined }[] = [];
  for (const [collection, cells] of cellsOf(ids, state, commits)) {
    const table = state.find(collection);
    if (table === undefined) continue;
    for (const [id, cell] of cells) {
      const ordinal = table.ordinalOf(id);
      if (ordinal < 0) continue;
      before.push({ table, id, before: table.itemAt(ordinal) });
      table.put(cell ?? blankCell(id, collection), ordinal);
    }
  }
  also();
  const changes: Changes = new Map<Table, ItemChange[]>();
  for (const { table, id, before: item } of before) {
    const ordinal = table.ordinalOf(id);
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

type Cells = ReadonlyMap<string, ReadonlyMap<string, Cell | undefined>>;

/** Each item from what touched it, where that is known, else all in one pass over the log. */
function cellsOf(
  ids: ReadonlyMap<string, ReadonlySet<string>>,
  state: State,
  commits: CommitReader,
): Cells {
  const { touches } = commits;
  const items = new Refold(ids, state);
  if (touches === undefined) {
    if (ids.size > 0) commits.each((logged) => items.take(logged));
    return items.cells;
  }
  for (const [collection, cells] of items.cells) {
    const { view } = state.find(collection)!;
    for (const id of cells.keys()) {
      cells.set(id, touches.cellOf({ collection, id }, view, () => true));
    }
  }
  return items.cells;
}

/** Searching a commit's text for more ids than this costs more than decoding it. */
const IDS_SEARCHED_MAX = 16;

class Refold {
  readonly cells = new Map<string, Map<string, Cell | undefined>>();
  readonly #ids: readonly string[];
  readonly #isSearched: boolean;
  readonly #state: State;

  /** @param touched ids by collection */
  constructor(
    touched: ReadonlyMap<string, ReadonlySet<string>>,
    state: State,
  ) {
    this.#state = state;
    for (const [collection, ids] of touched) {
      const cells = new Map<string, Cell | undefined>();
      for (const id of ids) cells.set(id, undefined);
      this.cells.set(collection, cells);
    }
    this.#ids = [...touched.values()].flatMap((ids) => [...ids]);
    this.#isSearched = this.#ids.length <= IDS_SEARCHED_MAX &&
      this.#ids.every((id) => /^[\x20-\x7e]*$/.test(id));
  }

  take({ batch, address, from }: LoggedBatch): void {
    for (let i = from; i < batch.commits.length; i++) {
      const isMeant = this.#mayConcern(batch, batch.commits[i]!);
      if (isMeant) this.#fold(batch, i, address);
    }
  }

  #mayConcern({ bytes }: Batch, { payloadAt, end }: BatchCommit): boolean {
    if (!this.#isSearched) return true;
    const text = decodeAscii(bytes, payloadAt, end);
    return this.#ids.some((id) => text.includes(id));
  }

  #fold(batch: Batch, index: number, address: number): void {
    const { patch, origin } = decodeCommit(batch, index, address);
    patch.operations.forEach((operation, i) => {
      const { id, shape: { collection } } = operation;
      const cells = this.cells.get(collection);
      if (cells === undefined || !cells.has(id)) return;
      const { view } = this.#state.find(collection)!;
      const createAt = patch.createOffsets[i]!;
      cells.set(id, fold(cells.get(id), operation, origin, createAt, view));
    });
  }
}
