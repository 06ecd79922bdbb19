/**
 * An index's own copies of keys, by ordinal.
 *
 * Because they are copies, an index can find what it once put in even after
 * several items changed at once. Absent numbers are kept as -Infinity, so a
 * real -Infinity cannot be kept: such a field has no index.
 *
 * @module
 */

import type { FieldKind, Item } from "../schema/patch.ts";
import type { Column } from "./source.ts";
import { isNumeric, type Key, keyOf } from "./value.ts";

const absentNumber = -Infinity;

/** Keys of one field of an index. */
export class KeyTable {
  readonly field: string;
  readonly kind: FieldKind;
  readonly numeric: boolean;
  /** Keys, when they are numbers. */
  numbers: Float64Array;
  /** Keys, when they are strings. */
  readonly texts: (string | undefined)[] = [];

  constructor(field: string, kind: FieldKind) {
    this.field = field;
    this.kind = kind;
    this.numeric = isNumeric(kind);
    this.numbers = new Float64Array(0);
  }

  /** Makes room for ordinals below `size`. */
  reserve(size: number): void {
    if (!this.numeric) {
      while (this.texts.length < size) this.texts.push(undefined);
    } else if (size > this.numbers.length) {
      const grown = new Float64Array(Math.max(size, this.numbers.length * 2));
      grown.set(this.numbers);
      this.numbers = grown;
    }
  }

  /** Does the key kept for `ordinal` equal this one, as `parse` gave it? */
  has(ordinal: number, key: Key): boolean {
    return this.numeric
      ? this.numbers[ordinal] === numberOf(key)
      : this.texts[ordinal] === key;
  }

  /** Keeps a key. */
  set(ordinal: number, key: Key): void {
    if (this.numeric) this.numbers[ordinal] = numberOf(key);
    else this.texts[ordinal] = typeof key === "string" ? key : undefined;
  }

  /** The key of an item; `null` when this table cannot keep it. */
  keyOf(item: Item): Key | null {
    const key = keyOf(this.kind, item[this.field]);
    return key === absentNumber ? null : key;
  }

  /** Takes every key from a column; false when one cannot be kept. */
  fill(column: Column, size: number): boolean {
    this.reserve(size);
    if (column.kind === "word") {
      if (this.numeric) return false;
      const { codes, words } = column;
      for (let i = 0; i < size; i++) this.texts[i] = words[codes[i]!];
      return true;
    }
    if (!this.numeric) return false;
    const { values } = column;
    for (let i = 0; i < size; i++) {
      const value = values[i]!;
      if (value === absentNumber) return false;
      this.numbers[i] = Number.isNaN(value) ? absentNumber : value;
    }
    return true;
  }

  /** Negative, zero or positive as one ordinal's key to another's. */
  compare(a: number, b: number): number {
    if (this.numeric) {
      const x = this.numbers[a]!;
      const y = this.numbers[b]!;
      return x < y ? -1 : x > y ? 1 : 0;
    }
    return compareTexts(this.texts[a], this.texts[b]);
  }

  /** Negative, zero or positive as an ordinal's key to a given one. */
  compareTo(ordinal: number, key: Key): number {
    if (this.numeric) {
      const x = this.numbers[ordinal]!;
      const y = numberOf(key);
      return x < y ? -1 : x > y ? 1 : 0;
    }
    return compareTexts(this.texts[ordinal], key);
  }
}

function numberOf(key: Key): number {
  return typeof key === "number" ? key : absentNumber;
}

function compareTexts(a: string | undefined, b: Key): number {
  if (a === b) return 0;
  if (a === undefined) return -1;
  if (b === undefined) return 1;
  return a < b ? -1 : 1;
}
