/**
 * Which columns a query may use now.
 *
 * A column that is there costs nothing. One that would have to be built from
 * items is taken the second time a query wants it, so that a first question
 * never pays for it; a field that has no column is not asked again.
 *
 * @module
 */

import type { Column, Source } from "./source.ts";

/** The columns of one collection, as queries ask for them. */
export class Columns {
  readonly #source: Source;
  readonly #wants = new Map<string, number>();
  readonly #missing = new Set<string>();

  constructor(source: Source) {
    this.#source = source;
  }

  /** A query would like this field's column. */
  readonly want = (field: string): Column | undefined => {
    if (field === "id" || this.#missing.has(field)) return undefined;
    if (!this.#source.hasColumn(field)) {
      const wants = (this.#wants.get(field) ?? 0) + 1;
      this.#wants.set(field, wants);
      if (wants < 2) return undefined;
    }
    const column = this.#source.column(field);
    if (column === undefined) this.#missing.add(field);
    return column;
  };
}
