/**
 * The ids of a collection by ordinal, as all of its indexes need them: the last
 * thing that entries are sorted by.
 *
 * An ordinal keeps its id for ever, so one table serves every index; it takes
 * those that are compared, which entries with unique keys never are.
 *
 * @module
 */

import type { Key } from "./value.ts";
import { KeyTable } from "./key_table.ts";
import type { Source } from "./source.ts";

/** Ids by ordinal. */
export class IdTable extends KeyTable {
  readonly #source: Source;

  /** @param source whose ids it keeps */
  constructor(source: Source) {
    super("id", "string");
    this.#source = source;
  }

  /** The id of an ordinal. */
  idOf(ordinal: number): string {
    return this.get(ordinal) as string; // Each has one.
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
}
