/**
 * Folding all operations of one item: updates that follow each other make one
 * new cell, not one each.
 */

import { type Cell, isThere, type Origin } from "./cell.ts";
import { afterEdit, type Edit, editUpdate, fold } from "./merge.ts";
import type { Operation } from "./patch.ts";
import type { View } from "./view.ts";

export class ItemFold {
  readonly #view: View;
  #cell: Cell | undefined;
  /** What updates have changed in the cell since it was made. */
  #edit: Edit | undefined;

  constructor(view: View) {
    this.#view = view;
  }

  add(op: Operation, origin: Origin): void {
    const cell = this.#cell;
    const isPresent = cell !== undefined && isThere(cell) &&
      op.generation === cell.generation;
    if (isPresent && op.what === "update") {
      this.#edit = editUpdate(cell, op, origin, this.#view, this.#edit);
    } else this.#cell = fold(this.cell, op, origin, -1, this.#view);
  }

  /** What folding them one by one makes. */
  get cell(): Cell | undefined {
    if (this.#edit !== undefined) {
      this.#cell = afterEdit(this.#cell!, this.#edit, this.#view);
      this.#edit = undefined;
    }
    return this.#cell;
  }
}
