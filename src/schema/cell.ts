/**
 * A cell: everything that replicas know of one item, folded from operations.
 * Cells are immutable, so that a background checkpoint may keep an old picture
 * by keeping references.
 *
 * Architecture invariant: same operations, same cell, in whatever order they
 * are folded (law 4).
 */

import type { Stamp } from "../base/hlc.ts";
import type { Item, Operation, Shape, Value } from "./patch.ts";
import type { RichState } from "./rich_state.ts";
import { compareText, OrderedMap } from "./ordered_map.ts";

/**
 * The commit that an operation came in: its stamp, and where its payload lies.
 * One object per commit, shared by all cells that the commit touched.
 */
export interface Origin extends Stamp {
  /**
   * Log address of the first operation in the commit's payload, just behind the
   * shape table; -1 until it is written.
   */
  operationsAt: number;
}

/** One item's state. */
export interface Cell {
  readonly id: string;
  /** 0 at first; each create after a delete begins the next one. */
  readonly generation: number;
  /** What readers see; `undefined` when this generation was deleted. */
  readonly item: Item | undefined;
  /** The shape of the create that began the cell. Of one without an item it only says the collection. */
  readonly shape: Shape;
  /** The commit of every field that has no stamp of its own. */
  readonly origin: Origin;
  /**
   * Offset of the create operation, relative to its origin's `operationsAt`,
   * while the cell is exactly what that one operation made (so the log holds
   * it); -1 otherwise.
   */
  readonly createAt: number;
  /** Registers written by another commit than `origin`, by field name. */
  readonly stamps: OrderedMap<string, Stamp> | undefined;
  /** State of counters, sets, maps and lists changed since the create, by field name. */
  readonly rich: OrderedMap<string, RichState> | undefined;
  /** Values that are no values of the readers' schema, by field name: its defaults are shown instead. */
  readonly hidden: ReadonlyMap<string, Value> | undefined;
}

/** Of an item no field of which has a state. */
export const noStates = /* @__PURE__ */ OrderedMap.of<string, RichState>(
  compareText,
);

/** A register that was written since an item was put together. */
export interface Written {
  readonly value: Value;
}

/** A cell of many fields: what readers see is put together when somebody reads it. */
export class WideCell implements Cell {
  declare readonly id: string;
  declare readonly generation: number;
  declare readonly shape: Shape;
  declare readonly origin: Origin;
  declare readonly stamps: Cell["stamps"];
  declare readonly rich: Cell["rich"];
  declare readonly hidden: Cell["hidden"];
  readonly createAt = -1;
  /** What was put together last: of this cell, or of one before it. */
  base: Item;
  /** Written since then; `undefined` when `base` is of this cell. */
  since: OrderedMap<string, Written> | undefined;
  readonly #show: (cell: WideCell) => Item;

  constructor(
    cell: Omit<Cell, "item" | "createAt">,
    base: Item,
    since: OrderedMap<string, Written>,
    show: (cell: WideCell) => Item,
  ) {
    Object.assign(this, cell);
    this.base = base;
    this.since = since;
    this.#show = show;
  }

  get item(): Item {
    if (this.since !== undefined) {
      this.base = this.#show(this);
      this.since = undefined;
    }
    return this.base;
  }
}

/** What readers see of an item: a cell, or as much of one as there is. */
export type Shown = Pick<Cell, "item">;

/** Is the item there? Does not put it together. */
export function isThere(cell: Shown): boolean {
  return cell instanceof WideCell || cell.item !== undefined;
}

/** What was written to a field that has no state, whether readers see it or not. */
export function valueIn(cell: Cell, name: string): Value {
  const { hidden } = cell;
  if (hidden?.has(name)) return hidden.get(name);
  if (!(cell instanceof WideCell)) return cell.item?.[name];
  const written = cell.since?.get(name);
  return written === undefined ? cell.base[name] : written.value;
}

/**
 * What stands in a field of a cell that is there, if anything: as it was written
 * where it has no state. Does not put a wide one together for that.
 */
export function writtenIn(cell: Shown, name: string): Written | undefined {
  const isLater = cell instanceof WideCell && !cell.rich?.has(name);
  const written = isLater ? cell.since?.get(name) : undefined;
  if (written !== undefined) return written;
  const item = isLater ? cell.base : cell.item!;
  return Object.hasOwn(item, name) ? { value: item[name] } : undefined;
}

/** The generation that is written now: a deleted item's next one. */
export function dueGeneration(cell: Cell | undefined): number {
  return cell === undefined ? 0 : cell.generation + Number(!isThere(cell));
}

/** Is an operation meant for a generation that has ended? Then it changes nothing that readers see. */
export function isHistory(
  { generation }: Operation,
  before: Cell | undefined,
): boolean {
  return generation < dueGeneration(before);
}

export function bareCell(
  id: string,
  generation: number,
  item: Item | undefined,
  shape: Shape,
  origin: Origin,
  createAt = -1,
): Cell {
  return {
    id,
    generation,
    item,
    shape,
    origin,
    createAt,
    stamps: undefined,
    rich: undefined,
    hidden: undefined,
  };
}

/** A commit before all others: where a create has not arrived. */
export const nowhere: Origin = Object.freeze({
  wall: 0,
  count: 0,
  chain: "",
  operationsAt: -1,
});

const BLANK = -1;

/**
 * The cell of an item that nobody made: what is left of its place when all
 * commits that made it are void. The next create makes generation 0.
 */
export function blankCell(id: string, collection: string): Cell {
  const shape = { collection, version: 0, fields: [] };
  return bareCell(id, BLANK, undefined, shape, { ...nowhere });
}

/** Is it the cell of an item that nobody made? It is no part of the state. */
export function isBlank(cell: Cell): boolean {
  return cell.generation === BLANK;
}
