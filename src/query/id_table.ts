/**
 * The ids of a collection by ordinal, as all of its indexes need them: the last
 * thing that entries are sorted by.
 *
 * An ordinal keeps its id for ever, so one table serves every index; it takes
 * those that are compared, which entries with unique keys never are. The order
 * of the live ones is kept until something changes: a first page asks several
 * questions at once, and each may want another index.
 *
 * @module
 */

import type { Key } from "./value.ts";
import { KeyTable } from "./key_table.ts";
import { sortById, sortByIdSteps } from "./sort_ids.ts";
import type { Source } from "./source.ts";

/** Ids by ordinal. */
export class IdTable extends KeyTable {
  readonly #source: Source;
  /** Ordinals below this have their ids kept. */
  #known = 0;
  /** Live ordinals by id, of a collection of this size and count. */
  #order: readonly number[] | undefined;
  #size = 0;
  #count = 0;

  /** @param source whose ids it keeps */
  constructor(source: Source) {
    super("id", "string");
    this.#source = source;
  }

  /** Keeps the ids of ordinals below `size`. */
  grow(size: number): void {
    if (size <= this.#known) return;
    this.reserve(size);
    for (; this.#known < size; this.#known++) {
      this.set(this.#known, this.#source.idAt(this.#known));
    }
  }

  override get(ordinal: number): Key {
    this.#keep(ordinal);
    return super.get(ordinal);
  }

  override compare(a: number, b: number): number {
    this.#keep(a);
    this.#keep(b);
    return super.compare(a, b);
  }

  override compareTo(ordinal: number, key: Key, number: number): number {
    this.#keep(ordinal);
    return super.compareTo(ordinal, key, number);
  }

  #keep(ordinal: number): void {
    if (super.get(ordinal) !== undefined) return;
    this.reserve(this.#source.size);
    this.set(ordinal, this.#source.idAt(ordinal));
  }

  /** Something changed: what is in order now is another matter. */
  forget(): void {
    this.#order = undefined;
  }

  /**
   * Live ordinals below `size` by id: the caller's own array. In steps, when
   * none of them may take long.
   */
  *order(size: number, isLater: boolean): Generator<void, number[]> {
    const { count } = this.#source;
    const isSame = this.#size === size && this.#count === count;
    if (this.#order !== undefined && isSame) return this.#order.slice();
    const live = liveBelow(this.#source, size);
    yield;
    const idOf = (ordinal: number) => this.get(ordinal) as string; // Each has one.
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
