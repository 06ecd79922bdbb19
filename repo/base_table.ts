/**
 * What a table asks of the checkpoint under it: the collection as it was when
 * the checkpoint was written, read on demand.
 *
 * @module
 */

import type { Cell } from "../src/schema/cell.ts";
import type { Shape } from "../src/schema/patch.ts";
import type { Cells } from "./cells.ts";
import type { Store } from "./column.ts";

/** One collection of a checkpoint. */
export interface BaseTable {
  /** Ordinals, deleted ones included. */
  readonly size: number;
  /** Items that were there. */
  readonly count: number;
  /**
   * The ordinal of an id, -1 when it is none of the base's. What must be looked
   * at to tell is read into `cells`.
   */
  find(id: string, cells: Cells): number;
  /** Reads one item into `cells`, or a cell that is no plain item. */
  read(ordinal: number, cells: Cells): void;
  /** The cell of an ordinal, with the item that `cells` has of it. */
  cellAt(ordinal: number, cells: Cells): Cell;
  /** Was the item of this ordinal there? */
  isLive(ordinal: number): boolean;
  /** The id of an ordinal. */
  idAt(ordinal: number): string;
  /** The ids of all ordinals. */
  ids(): string[];
  /** The shapes that its items were written with. */
  shapes(): Shape[];
  /** Reads those of `ordinals` that `cells` lacks, in few large reads. */
  load(ordinals: ArrayLike<number>, cells: Cells): void;
  /** Reads every cell that `cells` lacks. */
  loadAll(cells: Cells): void;
  /** Is the order of an index stored? */
  readonly hasOrders: boolean;
  /** A stored order, ended by NaN; `undefined` when its fields may be read otherwise now. */
  orderSteps(
    fields: readonly string[],
  ): Generator<void, Float64Array | undefined>;
  /** Is the field's column stored? */
  hasColumn(field: string): boolean;
  /** A copy of the field's column with room for `size` ordinals; `undefined` when it is not stored. */
  column(field: string, size: number): Store | undefined;
}
