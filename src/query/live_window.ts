/**
 * The sorted rows of a live query, kept up to date change by change.
 *
 * With a limit the window holds a few more entries than are visible, so that a
 * row which leaves is replaced from the window; only when it has run dry the
 * query is run again.
 *
 *     entries  [ a b | c d e f | g h i ]      | offset, | limit: visible between
 *
 * Entries carry the items they were placed by. A change says only which
 * ordinals to look at: the old place is found by the entry, the new one by the
 * item as it is now, so news may be told twice or late.
 *
 * Architecture invariant: equals what the query gives now, after every
 * transaction, at a cost in proportion to the change.
 */

import type { Item, Value } from "../schema/patch.ts";
import type { QueryEngine } from "./engine.ts";
import type { Relations } from "./include.ts";
import { Held, type NamedField } from "./interest.ts";
import type { ItemTest } from "./item_check.ts";
import { type Compare, compileItemOrder } from "./order.ts";
import { testOf } from "./execute.ts";
import type { Request } from "./plan.ts";
import type { Span } from "./spans.ts";
import { compareValues, keyOf } from "./value.ts";

export interface Entry {
  readonly ordinal: number;
  /** The item as it was when the entry was placed. */
  item: Item;
  /** The item's first ordered value: most comparisons need nothing else. */
  key: Value;
  /** The row, once it was visible; `undefined` when it must be made anew. */
  row: Item | undefined;
  /** Items that the row's references were resolved to. */
  relations: Relations | undefined;
  /** Was it visible after the last transaction? */
  visible: boolean;
}

/** What a transaction does to a window, before it is done. */
export interface Edits {
  /** Entries that leave their place. */
  readonly taken: Entry[];
  /** Entries that get a place; those that move are in both. */
  readonly placed: Entry[];
  /** Entries that keep their place with other contents. */
  readonly replaced: Entry[];
}

/** Entries beyond the limit that are kept at hand, as a share of it. */
const lookAheadShare = 4;
const lookAheadMin = 16;

export class LiveWindow {
  readonly #engine: QueryEngine;
  readonly #request: Request;
  readonly #test: ItemTest;
  readonly #compare: Compare<Item>;
  readonly #keyField: string;
  readonly by: NamedField;
  readonly #keySign: 1 | -1;
  readonly #need: number;
  readonly #fill: number;
  /** Those of {@linkcode entries}. */
  readonly byOrdinal: Held<Entry> = new Held();
  /** All entries in order. */
  entries: Entry[] = [];
  /** Are there no matching items beyond the window? */
  complete = true;

  constructor(engine: QueryEngine, request: Request) {
    this.#engine = engine;
    this.#request = request;
    const { parts, order, after, offset, limit } = request;
    this.#test = testOf(parts, order, after) ?? (() => true);
    this.#compare = compileItemOrder(order);
    this.#keyField = order[0]?.field ?? "id";
    this.by = [this.#keyField, engine.fields.get(this.#keyField)!];
    this.#keySign = order[0]?.descending === true ? -1 : 1;
    this.#need = offset + limit;
    const ahead = Math.max(lookAheadMin, Math.ceil(limit / lookAheadShare));
    this.#fill = this.#need + ahead;
    this.load();
  }

  get start(): number {
    return Math.min(this.#request.offset, this.entries.length);
  }

  /** Behind the last visible entry. */
  get end(): number {
    return Math.min(this.#need, this.entries.length);
  }

  get isCutAbove(): boolean {
    return this.#request.offset > 0;
  }

  get isCutBelow(): boolean {
    return this.#need < Infinity;
  }

  /**
   * Values that matter, of the field that it is ordered by: what comes before
   * `after`, or behind the last entry where others follow, has no place here.
   */
  reach(): Span {
    const { after } = this.#request;
    const [field, kind] = this.by;
    const last = this.complete ? undefined : this.entries.at(-1);
    const start = after === undefined ? null : keyOf(kind, after[field]);
    const end = last === undefined ? null : keyOf(kind, last.key);
    return this.#keySign > 0
      ? { low: start ?? undefined, high: end }
      : { low: end ?? undefined, high: start };
  }

  has(entry: Entry): boolean {
    return this.byOrdinal.get(entry.ordinal) === entry;
  }

  /** Runs the query; entries whose items are the same stay the same. */
  load(): void {
    const request: Request = { ...this.#request, offset: 0, limit: this.#fill };
    const items = this.#engine.run(request, this.#engine.plan(request));
    this.complete = items.length < this.#fill;
    const old = new Map(this.byOrdinal);
    this.byOrdinal.clear();
    this.entries = this.#asTheyAre(items).map((item) => {
      const ordinal = this.#engine.source.ordinalOf(item.id);
      const entry = old.get(ordinal) ?? this.#newEntry(ordinal, item);
      this.#renew(entry, item);
      this.byOrdinal.set(ordinal, entry);
      return entry;
    });
  }

  /** An index that has not heard of a write yet gives its items as they were. */
  #asTheyAre(items: readonly Item[]): readonly Item[] {
    const test = this.#test;
    const compare = this.#compare;
    const isSo = items.every((item, i) =>
      test(item) && (i === 0 || compare(items[i - 1]!, item) < 0)
    );
    return isSo ? items : items.filter(test).sort(compare);
  }

  /** Works out what changed ordinals mean here; `undefined` for nothing. */
  judge(ordinals: readonly number[]): Edits | undefined {
    let edits: Edits | undefined;
    for (let i = 0; i < ordinals.length; i++) {
      const ordinal = ordinals[i]!;
      const item = this.#engine.source.itemAt(ordinal);
      const entry = this.byOrdinal.get(ordinal);
      if (entry !== undefined && entry.item === item) continue;
      const matches = item !== undefined && this.#test(item);
      if (entry === undefined && !matches) continue;
      edits ??= { taken: [], placed: [], replaced: [] };
      this.#sortOut(edits, entry, ordinal, matches ? item : undefined);
    }
    return edits;
  }

  #sortOut(
    edits: Edits,
    entry: Entry | undefined,
    ordinal: number,
    item: Item | undefined,
  ): void {
    if (item === undefined) {
      if (entry !== undefined) edits.taken.push(entry);
    } else if (entry === undefined) {
      edits.placed.push(this.#newEntry(ordinal, item));
    } else if (this.#compare(entry.item, item) === 0) {
      this.#renew(entry, item);
      edits.replaced.push(entry);
    } else {
      edits.taken.push(entry);
      edits.placed.push(entry);
    }
  }

  /** Would taking this many entries let the window run dry? */
  runsDry(taken: number): boolean {
    return !this.complete && this.entries.length - taken < this.#need;
  }

  /** Where an entry stands; a good guess saves the search. */
  indexOf(entry: Entry, guess = -1): number {
    const { entries } = this;
    if (entries[guess] === entry) return guess;
    if (entries[guess - 1] === entry) return guess - 1;
    if (entries[guess + 1] === entry) return guess + 1;
    return this.#search(entry.item, entry.key);
  }

  #search(item: Item, key: Value): number {
    const { entries } = this;
    const sign = this.#keySign;
    let low = 0;
    let high = entries.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      const other = entries[middle]!;
      const found = compareValues(other.key, key) * sign;
      if (found < 0 || (found === 0 && this.#compare(other.item, item) < 0)) {
        low = middle + 1;
      } else high = middle;
    }
    return low;
  }

  /** Takes and places many at once: one pass and one sort. */
  exchange(taken: readonly Entry[], placed: readonly Entry[]): void {
    const out = new Set(taken);
    const last = this.entries.at(-1)?.item;
    this.entries = this.entries.filter((entry) => !out.has(entry));
    for (const entry of taken) this.byOrdinal.delete(entry.ordinal);
    for (const entry of placed) {
      this.#renew(entry, this.#engine.source.itemAt(entry.ordinal));
      if (!this.complete && this.#isBeyond(entry.item, last)) continue;
      this.entries.push(entry);
      this.byOrdinal.set(entry.ordinal, entry);
    }
    this.entries.sort((a, b) => this.#compare(a.item, b.item));
  }

  /** Behind the old last entry there are others that are not known here. */
  #isBeyond(item: Item, last: Item | undefined): boolean {
    return last === undefined || this.#compare(item, last) > 0;
  }

  #renew(entry: Entry, item: Item | undefined): void {
    if (item === undefined || entry.item === item) return;
    entry.item = item;
    entry.key = item[this.#keyField];
    entry.row = undefined;
  }

  #newEntry(ordinal: number, item: Item): Entry {
    return {
      ordinal,
      item,
      key: item[this.#keyField],
      row: undefined,
      relations: undefined,
      visible: false,
    };
  }

  take(entry: Entry): void {
    this.entries.splice(this.indexOf(entry), 1);
    this.byOrdinal.delete(entry.ordinal);
  }

  /** Puts an entry where its item belongs now, unless that is beyond the window. */
  place(entry: Entry): void {
    this.#renew(entry, this.#engine.source.itemAt(entry.ordinal));
    const at = this.#search(entry.item, entry.key);
    if (at === this.entries.length && !this.complete) return;
    this.entries.splice(at, 0, entry);
    this.byOrdinal.set(entry.ordinal, entry);
  }

  /** Drops entries far beyond the limit. */
  trim(): void {
    if (this.entries.length <= this.#fill * 2) return;
    for (const entry of this.entries.splice(this.#fill)) {
      this.byOrdinal.delete(entry.ordinal);
    }
    this.complete = false;
  }
}
