/**
 * Which columns a query may use now.
 *
 * A column that is there costs nothing. One that would have to be built from
 * items is taken the second time a query wants it, so that a first question
 * never pays for it; a field that has no column is asked again when the
 * collection has doubled.
 *
 * @module
 */

import type { Column, Source } from "../schema/source.ts";

/** The columns of one collection, as queries ask for them. */
export class Columns {
  readonly #source: Source;
  readonly #wants = new Map<string, number>();
  /** Fields without a column, and from which size on to ask again. */
  readonly #missing = new Map<string, number>();

  constructor(source: Source) {
    this.#source = source;
  }

  /** A query would like this field's column. */
  readonly want = (field: string): Column | undefined => {
    const source = this.#source;
    if (field === "id") return undefined;
    const askAt = this.#missing.get(field);
    if (askAt !== undefined && source.size < askAt) return undefined;
    if (!source.hasColumn(field)) {
      const wants = (this.#wants.get(field) ?? 0) + 1;
      this.#wants.set(field, wants);
      if (wants < 2) return undefined;
    }
    const column = source.column(field);
    if (column === undefined) this.#missing.set(field, source.size * 2 + 1);
    return column;
  };
}
