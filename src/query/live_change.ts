/**
 * What changed in the visible rows of a live query, worked out from the edits
 * of its window.
 *
 * A few edits can only touch the edited entries and those at the window's two
 * edges, so only these are looked at. Many edits, or a window that ran dry,
 * are answered by comparing all visible rows before and after.
 */

import type { Item } from "../schema/patch.ts";
import type { Edits, Entry, LiveWindow } from "./live_window.ts";

/** A row that came, with its place in the new rows, or went, with its old one. */
export interface RowAt<Row> {
  readonly row: Row;
  readonly index: number;
}

export interface RowMoved<Row> {
  readonly row: Row;
  /** Its place in the old rows. */
  readonly from: number;
  /** Its place in the new rows. */
  readonly to: number;
}

/** A row with other contents. */
export interface RowChanged<Row> extends RowAt<Row> {
  readonly before: Row;
}

/**
 * To replay: from the old rows take those at `removed` and at `moved.from`; then,
 * in the order of their new places, put in `added` and `moved`; then put the
 * `changed` in their places.
 */
export interface RowChanges<Row> {
  readonly added: readonly RowAt<Row>[];
  readonly removed: readonly RowAt<Row>[];
  readonly moved: readonly RowMoved<Row>[];
  readonly changed: readonly RowChanged<Row>[];
}

export type RowMaker = (entry: Entry) => Item;

/** More edits than this are answered by a full comparison. */
const fewEdits = 8;

interface Before {
  readonly entry: Entry;
  readonly index: number;
  readonly row: Item;
}

class Gathered {
  readonly added: RowAt<Item>[] = [];
  readonly removed: RowAt<Item>[] = [];
  readonly moved: RowMoved<Item>[] = [];
  readonly changed: RowChanged<Item>[] = [];

  /** In the order of places; `undefined` when nothing visible changed. */
  finish(): RowChanges<Item> | undefined {
    const { added, removed, moved, changed } = this;
    if (added.length + removed.length + changed.length + moved.length === 0) {
      return undefined;
    }
    added.sort(byIndex);
    removed.sort(byIndex);
    changed.sort(byIndex);
    moved.sort((a, b) => a.to - b.to);
    return this;
  }
}

function byIndex(a: RowAt<Item>, b: RowAt<Item>): number {
  return a.index - b.index;
}

/** Carries edits out and says what became of the visible rows. */
export function applyEdits(
  window: LiveWindow,
  edits: Edits,
  rowsBefore: readonly Item[],
  make: RowMaker,
): RowChanges<Item> | undefined {
  const { taken, placed, replaced } = edits;
  const count = taken.length + placed.length + replaced.length;
  const dry = window.runsDry(taken.length);
  return count > fewEdits || dry
    ? applyMany(window, edits, rowsBefore, make, dry)
    : applyFew(window, edits, rowsBefore, make);
}

function applyMany(
  window: LiveWindow,
  { taken, placed }: Edits,
  rowsBefore: readonly Item[],
  make: RowMaker,
  dry: boolean,
): RowChanges<Item> | undefined {
  const { start, end } = window;
  const before = new Map<Entry, Before>();
  for (let i = start; i < end; i++) {
    const entry = window.entries[i]!;
    const index = i - start;
    before.set(entry, { entry, index, row: rowsBefore[index]! });
  }
  if (dry) window.load();
  else {
    window.exchange(taken, placed);
    window.trim();
  }
  const gathered = new Gathered();
  const out = new Set(taken);
  for (const old of before.values()) {
    if (!window.has(old.entry) || !isVisible(window, old.entry)) {
      old.entry.visible = false;
      gathered.removed.push({ row: old.row, index: old.index });
    }
  }
  const from = window.start;
  let furthest = -1;
  for (let i = from; i < window.end; i++) {
    const entry = window.entries[i]!;
    const old = before.get(entry);
    // A window that was loaded anew may hold moves that are not told yet.
    const moves = old !== undefined &&
      (out.has(entry) || old.index < furthest);
    if (old !== undefined && !moves) furthest = old.index;
    note(gathered, entry, i - from, old, make, moves);
  }
  return gathered.finish();
}

/** Notes a visible entry: added, or changed and perhaps moved. */
function note(
  gathered: Gathered,
  entry: Entry,
  index: number,
  old: Before | undefined,
  make: RowMaker,
  taken: boolean,
): void {
  const row = entry.row ?? make(entry);
  if (old === undefined) {
    entry.visible = true;
    gathered.added.push({ row, index });
    return;
  }
  if (taken) gathered.moved.push({ row, from: old.index, to: index });
  if (row !== old.row) gathered.changed.push({ row, index, before: old.row });
}

function isVisible(window: LiveWindow, entry: Entry): boolean {
  const index = window.indexOf(entry);
  return index >= window.start && index < window.end;
}

/** All are taken by their old items before any is placed by its new one. */
function perform(
  window: LiveWindow,
  taken: readonly Entry[],
  placed: readonly Entry[],
): void {
  for (const entry of taken) window.take(entry);
  for (const entry of placed) window.place(entry);
  window.trim();
}

function applyFew(
  window: LiveWindow,
  { taken, placed, replaced }: Edits,
  rowsBefore: readonly Item[],
  make: RowMaker,
): RowChanges<Item> | undefined {
  const before: Before[] = [];
  const { start } = window;
  const remember = (entry: Entry, index: number): void => {
    if (!entry.visible || before.some((old) => old.entry === entry)) return;
    before.push({ entry, index, row: rowsBefore[index]! });
  };
  for (const entry of taken) remember(entry, window.indexOf(entry) - start);
  for (const entry of replaced) remember(entry, window.indexOf(entry) - start);
  const reach = taken.length + placed.length;
  eachEdge(window, reach, (at) => remember(window.entries[at]!, at - start));
  perform(window, taken, placed);
  const gathered = new Gathered();
  for (const old of before) {
    const { entry } = old;
    const guess = old.index + start;
    const index = window.has(entry) ? window.indexOf(entry, guess) : -1;
    if (index < window.start || index >= window.end) {
      entry.visible = false;
      gathered.removed.push({ row: old.row, index: old.index });
      continue;
    }
    const at = index - window.start;
    const moves = taken.includes(entry) &&
      (at !== old.index || taken.length + placed.length > 2);
    note(gathered, entry, at, old, make, moves);
  }
  const show = (entry: Entry, index: number): void => {
    if (entry.visible || index < window.start || index >= window.end) return;
    note(gathered, entry, index - window.start, undefined, make, false);
  };
  for (const entry of placed) {
    if (entry.visible || !window.has(entry)) continue;
    show(entry, window.indexOf(entry));
  }
  eachEdge(window, reach, (at) => show(window.entries[at]!, at));
  return gathered.finish();
}

/** Visits up to `reach` visible places at each end that others may cross. */
function eachEdge(
  window: LiveWindow,
  reach: number,
  visit: (at: number) => void,
): void {
  const { start, end } = window;
  const head = window.isCutAbove ? Math.min(end, start + reach) : start;
  for (let at = start; at < head; at++) visit(at);
  if (!window.isCutBelow) return;
  for (let at = Math.max(head, end - reach); at < end; at++) visit(at);
}
