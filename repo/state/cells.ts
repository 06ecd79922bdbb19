/**
 * Cells and items by ordinal, in chunks that appear when something is put into
 * them: a table over a large checkpoint opens without touching memory per item.
 *
 * An item that was read from a checkpoint needs no cell until somebody changes
 * it, which saves a fifth of the memory of a collection that is only read.
 */

import { type Cell, isBlank, WideCell } from "../../src/schema/cell.ts";
import type { Item, Shape } from "../../src/schema/patch.ts";

const CHUNK_BITS = 10;
const CHUNK = 1 << CHUNK_BITS;
const MASK = CHUNK - 1;

type Chunk<T> = (T | undefined)[];

export class Cells {
  readonly #cells: (Chunk<Cell> | undefined)[];
  readonly #items: (Chunk<Item> | undefined)[];
  #size: number;
  /** Chunks that a picture has too: copied before they change. */
  #isShared = new Uint8Array(0);

  /** @param size ordinals that exist already, none of them in memory */
  constructor(size = 0) {
    this.#size = size;
    const chunks = Math.ceil(size / CHUNK);
    this.#cells = new Array(chunks).fill(undefined);
    this.#items = new Array(chunks).fill(undefined);
  }

  get size(): number {
    return this.#size;
  }

  get(ordinal: number): Cell | undefined {
    const chunk = this.#cells[ordinal >>> CHUNK_BITS];
    return chunk === undefined ? undefined : chunk[ordinal & MASK];
  }

  /** The item of an ordinal; `undefined` when it is deleted or not in memory. */
  itemAt(ordinal: number): Item | undefined {
    const chunk = this.#items[ordinal >>> CHUNK_BITS];
    return chunk?.[ordinal & MASK] ?? this.get(ordinal)?.item;
  }

  /** Is the cell or the item of an ordinal in memory? */
  has(ordinal: number): boolean {
    return this.get(ordinal) !== undefined ||
      this.itemAt(ordinal) !== undefined;
  }

  /** The first ordinal from this one on that may be in memory, or `size`. */
  seek(ordinal: number): number {
    const from = ordinal >>> CHUNK_BITS;
    const items = this.#items;
    const cells = this.#cells;
    let at = from;
    while (
      at < cells.length && items[at] === undefined && cells[at] === undefined
    ) at++;
    return at === from ? ordinal : Math.min(at << CHUNK_BITS, this.#size);
  }

  /** The id of an ordinal; `undefined` when neither cell nor item is in memory. */
  idAt(ordinal: number): string | undefined {
    return this.get(ordinal)?.id ?? this.itemAt(ordinal)?.id;
  }

  /** Puts the cell of an ordinal that exists, and its item. */
  set(ordinal: number, cell: Cell): void {
    const at = ordinal >>> CHUNK_BITS;
    if (this.#isShared[at] === 1) this.#unshare(at);
    const chunk = this.#cells[at] ??= newChunk();
    chunk[ordinal & MASK] = cell;
    const items = this.#items[at] ??= newChunk();
    items[ordinal & MASK] = cell instanceof WideCell ? undefined : cell.item;
  }

  /** Puts an item that was read and has no cell yet. */
  setItem(ordinal: number, item: Item): void {
    const at = ordinal >>> CHUNK_BITS;
    if (this.#isShared[at] === 1) this.#unshare(at);
    const items = this.#items[at] ??= newChunk();
    items[ordinal & MASK] = item;
  }

  #unshare(at: number): void {
    this.#isShared[at] = 0;
    this.#cells[at] = this.#cells[at]?.slice();
    this.#items[at] = this.#items[at]?.slice();
  }

  push(cell: Cell): number {
    const ordinal = this.#size++;
    if (ordinal >>> CHUNK_BITS >= this.#cells.length) {
      this.#cells.push(undefined);
      this.#items.push(undefined);
    }
    this.set(ordinal, cell);
    return ordinal;
  }

  /** All items that are in memory, in the order of their ordinals. */
  items(): Item[] {
    const items: Item[] = [];
    for (const [at, chunk] of this.#items.entries()) {
      if (chunk === undefined) continue;
      const cells = this.#cells[at];
      for (let i = 0; i < chunk.length; i++) {
        const item = chunk[i] ?? cells?.[i]?.item;
        if (item !== undefined) items.push(item);
      }
    }
    return items;
  }

  shapes(): Set<Shape> {
    const shapes = new Set<Shape>();
    for (const chunk of this.#cells) {
      for (const cell of chunk ?? []) {
        if (cell !== undefined && !isBlank(cell)) shapes.add(cell.shape);
      }
    }
    return shapes;
  }

  /**
   * The same cells and items, unmoved by what is put later. Costs next to
   * nothing now: a chunk is copied when it changes.
   */
  picture(): Cells {
    const picture = new Cells(this.#size);
    for (let i = 0; i < this.#cells.length; i++) {
      picture.#cells[i] = this.#cells[i];
      picture.#items[i] = this.#items[i];
    }
    this.#isShared = new Uint8Array(this.#cells.length).fill(1);
    picture.#isShared = this.#isShared.slice();
    return picture;
  }
}

function newChunk<T>(): Chunk<T> {
  return new Array<T | undefined>(CHUNK).fill(undefined);
}
