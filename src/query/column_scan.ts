/**
 * Finding ordinals by columns: one tight loop per condition.
 *
 * The first loop runs over all ordinals and writes down those that pass; each
 * further loop thins them out. Nothing of an item is read.
 *
 * A column that is there costs nothing. One that would have to be built from
 * items is taken the second time a query wants it, so that a first question
 * never pays for it; a field that has no column is asked again when the
 * collection has doubled.
 */

import type { Column, Source } from "../schema/source.ts";
import {
  type ColumnOf,
  compileOrdinalTest,
  numberBounds,
  wordTable,
} from "./column_check.ts";
import type { Condition, Leaf } from "./condition.ts";

export interface Found {
  readonly ordinals: Uint32Array;
  readonly length: number;
}

/** One buffer for all scans of an engine: a scan never yields to another. */
export class ColumnScan {
  #buffer: Uint32Array = new Uint32Array(0);

  /** Live ordinals that satisfy all conditions, valid until the next scan. */
  run(
    source: Source,
    conditions: readonly Condition[],
    columnOf: ColumnOf,
  ): Found {
    const { size } = source;
    if (this.#buffer.length < size) {
      this.#buffer = new Uint32Array(Math.max(size, this.#buffer.length * 2));
    }
    const ordinals = this.#buffer;
    let length = -1;
    for (const condition of conditions) {
      length = pass(condition, columnOf, ordinals, length, size);
    }
    if (length < 0) length = everything(ordinals, size);
    if (source.count < size) length = keepLive(source, ordinals, length);
    return { ordinals, length };
  }
}

function everything(ordinals: Uint32Array, size: number): number {
  for (let i = 0; i < size; i++) ordinals[i] = i;
  return size;
}

function keepLive(
  source: Source,
  ordinals: Uint32Array,
  length: number,
): number {
  let kept = 0;
  for (let i = 0; i < length; i++) {
    const ordinal = ordinals[i]!;
    if (source.isLive(ordinal)) ordinals[kept++] = ordinal;
  }
  return kept;
}

/** One condition; `length` is -1 while nothing was written down yet. */
function pass(
  condition: Condition,
  columnOf: ColumnOf,
  ordinals: Uint32Array,
  length: number,
  size: number,
): number {
  const leaf = leafOf(condition);
  const column = leaf && columnOf(leaf.field);
  if (leaf !== undefined && column !== undefined) {
    const found = passLeaf(leaf, column, ordinals, length, size);
    if (found >= 0) return found;
  }
  const test = compileOrdinalTest(condition, columnOf);
  if (length < 0) length = everything(ordinals, size);
  let kept = 0;
  for (let i = 0; i < length; i++) {
    const ordinal = ordinals[i]!;
    if (test(ordinal)) ordinals[kept++] = ordinal;
  }
  return kept;
}

function leafOf(condition: Condition): Leaf | undefined {
  switch (condition.what) {
    case "predicate":
    case "all":
    case "any":
    case "not":
      return undefined;
    default:
      return condition;
  }
}

/** The plain conditions, each in its own loop; -1 for the others. */
function passLeaf(
  leaf: Leaf,
  column: Column,
  ordinals: Uint32Array,
  length: number,
  size: number,
): number {
  if (column.kind === "word") {
    const code = leaf.what === "equal" && typeof leaf.key === "string"
      ? column.codeOf(leaf.key) ?? -1
      : leaf.what === "equal"
      ? 0
      : undefined;
    if (code !== undefined) {
      return passCode(column.codes, code, ordinals, length, size);
    }
    return passTable(
      column.codes,
      wordTable(leaf, column),
      ordinals,
      length,
      size,
    );
  }
  const bounds = numberBounds(leaf);
  if (bounds === undefined) return -1;
  return passNumbers(column.values, bounds, ordinals, length, size);
}

function passCode(
  codes: Uint32Array,
  code: number,
  ordinals: Uint32Array,
  length: number,
  size: number,
): number {
  let kept = 0;
  if (code < 0) return 0;
  if (length < 0) {
    for (let i = 0; i < size; i++) if (codes[i] === code) ordinals[kept++] = i;
    return kept;
  }
  for (let i = 0; i < length; i++) {
    const ordinal = ordinals[i]!;
    if (codes[ordinal] === code) ordinals[kept++] = ordinal;
  }
  return kept;
}

function passTable(
  codes: Uint32Array,
  table: Uint8Array,
  ordinals: Uint32Array,
  length: number,
  size: number,
): number {
  let kept = 0;
  if (length < 0) {
    for (let i = 0; i < size; i++) {
      if (table[codes[i]!] === 1) ordinals[kept++] = i;
    }
    return kept;
  }
  for (let i = 0; i < length; i++) {
    const ordinal = ordinals[i]!;
    if (table[codes[ordinal]!] === 1) ordinals[kept++] = ordinal;
  }
  return kept;
}

function passNumbers(
  values: Float64Array,
  { low, high }: { low: number; high: number },
  ordinals: Uint32Array,
  length: number,
  size: number,
): number {
  let kept = 0;
  if (length < 0) {
    for (let i = 0; i < size; i++) {
      const value = values[i]!;
      if (value >= low && value <= high) ordinals[kept++] = i;
    }
    return kept;
  }
  for (let i = 0; i < length; i++) {
    const ordinal = ordinals[i]!;
    const value = values[ordinal]!;
    if (value >= low && value <= high) ordinals[kept++] = ordinal;
  }
  return kept;
}

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
