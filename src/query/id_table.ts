/**
 * The ids of a collection by ordinal, as all of its indexes need them: the last
 * thing that entries are sorted by.
 *
 * An ordinal keeps its id for ever, so one table serves every index. The order
 * of the live ones is kept until something changes: a first page asks several
 * questions at once, and each may want another index.
 *
 * @module
 */

import { KeyTable } from "./key_table.ts";
import { sortById, sortByIdSteps } from "./sort_ids.ts";
import type { Source } from "./source.ts";

/** Ids by ordinal. */
export class IdTable {
  /** The ids as keys. */
  readonly keys: KeyTable = new KeyTable("id", "string");
  readonly #source: Source;
  /** Ordinals below this have their ids kept. */
  #known = 0;
  /** Live ordinals by id, of a collection of this size and count. */
  #order: readonly number[] | undefined;
  #size = 0;
  #count = 0;

  /** @param source whose ids it keeps */
  constructor(source: Source) {
    this.#source = source;
  }

  /** Makes room for ordinals below `size`. */
  reserve(size: number): void {
    this.keys.reserve(size);
  }

  /** Keeps the ids of ordinals below `size`. */
  grow(size: number): void {
    if (size <= this.#known) return;
    this.keys.reserve(size);
    for (; this.#known < size; this.#known++) {
      this.keys.set(this.#known, this.#source.idAt(this.#known));
    }
  }

  /** Something changed: what is in order now is another matter. */
  forget(): void {
    this.#order = undefined;
  }

  /**
   * Live ordinals below `size`, whose ids are kept, by id: the caller's own
   * array. In steps, when none of them may take long.
   */
  *order(size: number, isLater: boolean): Generator<void, number[]> {
    const { count } = this.#source;
    const isSame = this.#size === size && this.#count === count;
    if (this.#order !== undefined && isSame) return this.#order.slice();
    const live = liveBelow(this.#source, size);
    yield;
    const idOf = (ordinal: number) => this.keys.get(ordinal) as string; // Each has one.
    if (isLater) return yield* sortByIdSteps(live, idOf);
    const sorted = sortById(live, idOf);
    this.#order = sorted.slice();
    [this.#size, this.#count] = [size, count];
    return sorted;
  }
}

/** Live ordinals below `size`. In a function of its own, because V8 runs a generator's loops by its interpreter. */
export function liveBelow(source: Source, size: number): number[] {
  const live: number[] = [];
  for (let i = 0; i < size; i++) if (source.isLive(i)) live.push(i);
  return live;
}
