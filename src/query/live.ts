/**
 * A live query: rows that stay true, and what changed in them.
 *
 * Fits external stores as they are: `getSnapshot` gives the same frozen array
 * until something visible changes, `subscribe` calls back when it does.
 */

import type { Item } from "../schema/patch.ts";
import type { QueryEngine } from "./engine.ts";
import { Following, guarded, type Subscription } from "./following.ts";
import type { Include, Relations } from "./include.ts";
import { applyEdits, type RowAt, type RowChanges } from "./live_change.ts";
import { interestOf } from "./interest.ts";
import { type Edits, type Entry, LiveWindow } from "./live_window.ts";
import type { Request } from "./plan.ts";
import { asRows } from "./rows.ts";

/** What one transaction did to the rows of a live query. */
export interface LiveChange<Row> extends RowChanges<Row> {
  /** The rows now: frozen, and rows that did not change are the same objects. */
  readonly rows: readonly Row[];
}

/** More changes than this are not played one by one. */
const fewChanges = 16;

/** A live query's result, until it is disposed. */
export type Live<Row> = Subscription<readonly Row[], LiveChange<Row>>;

export class LiveRows<Row> extends Following<readonly Row[], LiveChange<Row>> {
  readonly #engine: QueryEngine;
  readonly #include: Include | undefined;
  readonly #window: LiveWindow;
  readonly #make = (entry: Entry): Item => this.#makeRow(entry);
  /** Rows in a plain array: copying a frozen one is ten times slower. */
  #list: Item[] = [];
  #snapshot: readonly Row[] | undefined;

  constructor(
    engine: QueryEngine,
    request: Request,
    include: Include | undefined,
  ) {
    super(engine, request);
    this.#engine = engine;
    this.#include = include;
    this.#window = new LiveWindow(engine, guarded(engine, request));
    this.#showAll();
    // What is included may change with any item.
    const interest = include === undefined
      ? interestOf(
        engine.source,
        request,
        this.#window.byOrdinal,
        this.#window,
      )
      : undefined;
    this.follow(engine, (ordinals) => this.#absorb(ordinals), interest);
    if (include !== undefined) this.#followRelated(include);
  }

  /** The rows now: the same frozen array until something visible changes. */
  override readonly getSnapshot = (): readonly Row[] => {
    this.#snapshot ??= Object.freeze(asRows<Row>(this.#list.slice()));
    return this.#snapshot;
  };

  #followRelated(include: Include): void {
    const engines = new Set(
      include.terms.map((term) => include.engineOf(term)),
    );
    // Its own collection is heard of already.
    engines.delete(this.#engine);
    for (const engine of engines) {
      if (engine === undefined) continue;
      this.follow(engine, () => this.#refresh(include, undefined));
    }
  }

  #showAll(): void {
    const { start, end, entries } = this.#window;
    for (let i = start; i < end; i++) {
      const entry = entries[i]!;
      entry.visible = true;
      this.#list.push(this.#makeRow(entry));
    }
  }

  #makeRow(entry: Entry): Item {
    const include = this.#include;
    if (include === undefined) {
      entry.row = this.#engine.read(entry.item);
    } else {
      entry.relations = include.resolve(entry.item);
      entry.row = include.make(entry.item, entry.relations);
    }
    return entry.row;
  }

  #absorb(ordinals: readonly number[]): void {
    const edits = this.#window.judge(ordinals);
    const include = this.#include;
    if (include !== undefined) this.#refresh(include, edits);
    else if (edits !== undefined) this.#apply(edits);
  }

  /** Rows whose related items are others now are made anew. */
  #refresh(include: Include, edits: Edits | undefined): void {
    const { start, end, entries } = this.#window;
    for (let i = start; i < end; i++) {
      const entry = entries[i]!;
      const { row, relations } = entry;
      if (row === undefined || relations === undefined) continue;
      if (sameRelations(relations, include.resolve(entry.item))) continue;
      entry.row = undefined;
      edits ??= { taken: [], placed: [], replaced: [] };
      if (!edits.taken.includes(entry)) edits.replaced.push(entry);
    }
    if (edits !== undefined) this.#apply(edits);
  }

  #apply(edits: Edits): void {
    const window = this.#window;
    const changes = applyEdits(window, edits, this.#list, this.#make);
    if (changes === undefined) return;
    const { added, removed, moved } = changes;
    if (added.length + removed.length + moved.length <= fewChanges) {
      replay(this.#list, changes);
    } else {
      this.#list = window.entries.slice(window.start, window.end)
        .map((entry) => entry.row ?? this.#makeRow(entry));
    }
    this.#snapshot = undefined;
    this.publish(frozen<Row>(changes, this.getSnapshot()));
  }
}

/** A change as all who ask the same are told of it: none can alter it for the next. */
export function frozen<Row>(
  changes: RowChanges<Item>,
  rows: readonly Row[],
): LiveChange<Row> {
  const { added, removed, moved, changed } = changes as unknown as RowChanges<
    Row
  >; // proof: they are of its rows
  for (const list of [added, removed, moved, changed]) {
    for (const one of list) Object.freeze(one);
    Object.freeze(list);
  }
  return Object.freeze({ added, removed, moved, changed, rows });
}

function sameRelations(a: Relations, b: Relations): boolean {
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false;
  return true;
}

/** Closes the gap at `from` and opens one at `to`: splicing allocates anew. */
function shift(list: Item[], from: number, to: number): void {
  for (let i = from; i < to; i++) list[i] = list[i + 1]!;
  for (let i = from; i > to; i--) list[i] = list[i - 1]!;
}

/** Plays changes on the old rows, as their reader may do too. */
function replay(list: Item[], changes: RowChanges<Item>): void {
  const { added, removed, moved, changed } = changes;
  const gone = removed.map((row) => row.index);
  for (const row of moved) gone.push(row.from);
  gone.sort((a, b) => b - a);
  const come: RowAt<Item>[] = added.slice();
  for (const { row, to } of moved) come.push({ row, index: to });
  come.sort((a, b) => a.index - b.index);
  if (gone.length === 1 && come.length === 1) {
    shift(list, gone[0]!, come[0]!.index);
    list[come[0]!.index] = come[0]!.row;
  } else {
    for (const index of gone) list.splice(index, 1);
    for (const { row, index } of come) list.splice(index, 0, row);
  }
  for (const { row, index } of changed) list[index] = row;
}
