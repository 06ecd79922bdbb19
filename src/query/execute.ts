/**
 * Carrying a plan out: from conditions to items in order.
 *
 * Columns and index entries are read first and items last, so that only items
 * which are needed get touched.
 */

import type { Item } from "../schema/patch.ts";
import { isColumnar } from "./column_check.ts";
import { type Columns, ColumnScan } from "./column_scan.ts";
import type { Condition, Fields } from "./condition.ts";
import { compileItemTests, type ItemTest } from "./item_check.ts";
import type { Walk } from "./index_walk.ts";
import { lateIndexes } from "./late_indexes.ts";
import {
  compileColumnOrder,
  compileItemOrder,
  isBehind,
  type OrderTerm,
  type Place,
  selectTop,
} from "./order.ts";
import type { IdPlan, IndexPlan, Plan, Request } from "./plan.ts";
import type { Column, Source } from "../schema/source.ts";
import { sortById } from "./sort_ids.ts";

/** From this many on, items are read from the medium together. */
const LOAD_MIN = 8;

/** What a run read, for `explain`. */
export interface Effort {
  /** Entries, column slots or items looked at. */
  rowsScanned: number;
  how: string;
}

export class Executor {
  readonly #source: Source;
  readonly #columns: Columns;
  readonly #fields: Fields;
  readonly #scan = new ColumnScan();
  /** What the last run read. */
  readonly effort: Effort = { rowsScanned: 0, how: "" };

  constructor(source: Source, columns: Columns, fields: Fields) {
    this.#source = source;
    this.#columns = columns;
    this.#fields = fields;
  }

  run(request: Request, plan: Plan): Item[] {
    this.effort.rowsScanned = 0;
    switch (plan.what) {
      case "ids":
        return this.#finish(this.#byIds(plan, request), request);
      case "index": {
        const items = this.#runIndex(plan, request);
        if (items !== undefined) return items;
      }
    }
    return this.#runScan(request);
  }

  count(request: Request, plan: Plan): number {
    this.effort.rowsScanned = 0;
    const all = this.#countAll(request, plan);
    return Math.max(0, Math.min(all - request.offset, request.limit));
  }

  /** All items that satisfy a request's conditions, in no order. */
  collect(request: Request, plan: Plan): Item[] {
    this.effort.rowsScanned = 0;
    switch (plan.what) {
      case "ids":
        return this.#byIds(plan, request);
      case "index":
        return this.#collect(plan, request);
      case "scan": {
        const { columnar, residual } = this.#divide(request.parts);
        return this.#scanItems(request, columnar, residual);
      }
    }
  }

  #countAll(request: Request, plan: Plan): number {
    if (request.after !== undefined || plan.what === "ids") {
      return this.collect(request, plan).length;
    }
    if (plan.what === "index") {
      if (plan.residual.length > 0) return this.#collect(plan, request).length;
      let count = 0;
      for (const range of plan.ranges) count += plan.index.countIn(range);
      this.effort.how = "index count";
      return count;
    }
    if (request.parts.length === 0) {
      this.effort.how = "count of the collection";
      return this.#source.count;
    }
    const { columnar, residual } = this.#divide(request.parts);
    if (columnar.length === 0 || residual.length > 0) {
      return this.#scanItems(request, columnar, residual).length;
    }
    this.#noteScan("columns");
    return this.#scan.run(this.#source, columnar, this.#columns.want).length;
  }

  #byIds(plan: IdPlan, request: Request): Item[] {
    const test = testOf(plan.residual, request.order, request.after);
    const items: Item[] = [];
    for (let i = 0; i < plan.ids.length; i++) {
      const ordinal = this.#source.ordinalOf(plan.ids[i]!);
      const item = ordinal < 0 ? undefined : this.#source.itemAt(ordinal);
      if (item !== undefined && (test === undefined || test(item))) {
        items.push(item);
      }
    }
    this.effort.rowsScanned = plan.ids.length;
    this.effort.how = "id lookup";
    return items;
  }

  #finish(items: Item[], request: Request): Item[] {
    if (request.isFree) return items;
    const { order, offset, limit } = request;
    if (items.length < 2 && offset === 0 && limit > 0) return items;
    if (order.length === 0 && limit === Infinity) {
      sortById(items, idOf);
      return offset === 0 ? items : items.slice(offset);
    }
    const compare = compileItemOrder(order);
    return selectTop(items, items.length, compare, offset, limit);
  }

  /** `undefined` when the budget was spent in vain. */
  #runIndex(plan: IndexPlan, request: Request): Item[] | undefined {
    if (plan.reading === "unordered") {
      return this.#finish(this.#collect(plan, request), request);
    }
    const walk: Walk = {
      source: this.#source,
      fields: this.#fields,
      test: compileItemTests(plan.residual),
      scanned: 0,
    };
    const items = lateIndexes.code.indexOrderedWalk(plan, request, walk);
    this.effort.rowsScanned = walk.scanned;
    this.effort.how = "index in order";
    return items;
  }

  #collect(plan: IndexPlan, request: Request): Item[] {
    const test = testOf(plan.residual, request.order, request.after);
    const ordinals: number[] = [];
    for (const range of plan.ranges) plan.index.collect(range, ordinals);
    this.effort.rowsScanned = ordinals.length;
    this.effort.how = "index";
    return this.#itemsOf(ordinals, ordinals.length, test);
  }

  #itemsOf(
    ordinals: ArrayLike<number>,
    length: number,
    test: ItemTest | undefined,
  ): Item[] {
    const source = this.#source;
    const items: Item[] = [];
    if (length >= LOAD_MIN) source.load?.(firstOf(ordinals, length));
    for (let i = 0; i < length; i++) {
      const item = source.itemAt(ordinals[i]!);
      if (item === undefined) continue;
      if (test === undefined || test(item)) items.push(item);
    }
    return items;
  }

  #runScan(request: Request): Item[] {
    const { columnar, residual } = this.#divide(request.parts);
    if (residual.length === 0 && request.after === undefined) {
      const items = this.#runColumns(request, columnar);
      if (items !== undefined) return items;
    }
    return this.#finish(this.#scanItems(request, columnar, residual), request);
  }

  #divide(
    parts: readonly Condition[],
  ): { columnar: Condition[]; residual: Condition[] } {
    const columnar: Condition[] = [];
    const residual: Condition[] = [];
    for (const part of parts) {
      if (isColumnar(part, this.#columns.want)) columnar.push(part);
      else residual.push(part);
    }
    return { columnar, residual };
  }

  /** Filters and sorts by columns alone, when they are all there. */
  #runColumns(
    request: Request,
    columnar: readonly Condition[],
  ): Item[] | undefined {
    const { order, offset, limit } = request;
    // Without a limit every item is read anyway, and knows its id.
    if (order.length === 0 && limit === Infinity) return undefined;
    const columns: (Column | undefined)[] = [];
    for (const { field } of order) columns.push(this.#columns.want(field));
    const compare = compileColumnOrder(order, columns, this.#source);
    if (compare === undefined) return undefined;
    this.#noteScan("columns");
    const found = this.#scan.run(this.#source, columnar, this.#columns.want);
    const { ordinals, length } = found;
    const top = selectTop(ordinals, length, compare, offset, limit);
    return this.#itemsOf(top, top.length, undefined);
  }

  #scanItems(
    request: Request,
    columnar: readonly Condition[],
    residual: readonly Condition[],
  ): Item[] {
    const test = testOf(residual, request.order, request.after);
    if (columnar.length === 0) {
      this.#noteScan("items");
      return filterItems(this.#source.items(), test);
    }
    this.#noteScan(test === undefined ? "columns" : "columns, then items");
    const found = this.#scan.run(this.#source, columnar, this.#columns.want);
    // A user's function may run a scan of its own, so the buffer is left first.
    const items = this.#itemsOf(found.ordinals, found.length, undefined);
    return test === undefined ? items : filterItems(items, test);
  }

  #noteScan(what: string): void {
    this.effort.rowsScanned += this.#source.count;
    this.effort.how = `scan of ${what}`;
  }
}

function firstOf(
  ordinals: ArrayLike<number>,
  length: number,
): ArrayLike<number> {
  if (length === ordinals.length) return ordinals;
  if (ordinals instanceof Uint32Array) return ordinals.subarray(0, length);
  return Array.from({ length }, (_, i) => ordinals[i]!);
}

function idOf(item: Item): string {
  return item.id;
}

function filterItems(
  items: readonly Item[],
  test: ItemTest | undefined,
): Item[] {
  if (test === undefined) return items.slice();
  const kept: Item[] = [];
  for (let i = 0; i < items.length; i++) {
    const item = items[i]!;
    if (test(item)) kept.push(item);
  }
  return kept;
}

/** Conditions and the place to be behind, as one test. */
export function testOf(
  parts: readonly Condition[],
  order: readonly OrderTerm[],
  after: Place | undefined,
): ItemTest | undefined {
  const test = compileItemTests(parts);
  if (after === undefined) return test;
  if (test === undefined) return (item) => isBehind(order, item, after);
  return (item) => test(item) && isBehind(order, item, after);
}
