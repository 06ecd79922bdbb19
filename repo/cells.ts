/**
 * Cells by ordinal, in chunks that appear when a cell is put into them: a
 * table over a large checkpoint opens without touching memory per item.
 *
 * @module
 */

import type { Cell } from "../src/schema/cell.ts";

const CHUNK_BITS = 10;
const CHUNK = 1 << CHUNK_BITS;

type Chunk = (Cell | undefined)[];

/** A growing array of cells, some of which are not in memory yet. */
export class Cells {
  readonly #chunks: (Chunk | undefined)[];
  #size: number;

  /** @param size ordinals that exist already, none of them in memory */
  constructor(size = 0) {
    this.#size = size;
    this.#chunks = new Array(Math.ceil(size / CHUNK)).fill(undefined);
  }

  /** Ordinals there are. */
  get size(): number {
    return this.#size;
  }

  /** The cell of an ordinal; `undefined` when it is not in memory. */
  get(ordinal: number): Cell | undefined {
    const chunk = this.#chunks[ordinal >>> CHUNK_BITS];
    return chunk === undefined ? undefined : chunk[ordinal & (CHUNK - 1)];
  }

  /** Puts the cell of an ordinal that exists. */
  set(ordinal: number, cell: Cell): void {
    const at = ordinal >>> CHUNK_BITS;
    const chunk = this.#chunks[at] ??= new Array(CHUNK).fill(undefined);
    chunk[ordinal & (CHUNK - 1)] = cell;
  }

  /** Appends a cell and says its ordinal. */
  push(cell: Cell): number {
    const ordinal = this.#size++;
    if (ordinal >>> CHUNK_BITS >= this.#chunks.length) {
      this.#chunks.push(undefined);
    }
    this.set(ordinal, cell);
    return ordinal;
  }

  /** The same cells, unmoved by what is put later. */
  copy(): Cells {
    const copy = new Cells(this.#size);
    for (let i = 0; i < this.#chunks.length; i++) {
      copy.#chunks[i] = this.#chunks[i]?.slice();
    }
    return copy;
  }
}
