/**
 * An index's own copies of keys, by ordinal.
 *
 * Because they are copies, an index can find what it once put in even after
 * several items changed at once. Each key has a number that orders like it: a
 * number is its own, a text's is made of its first characters, so that most
 * comparisons never touch a string.
 *
 *     text  7 characters of 7 bits (one beyond ASCII ends it as 127) | is there more?
 *
 * Absent keys have the number -Infinity, so a real -Infinity cannot be kept: a
 * field that holds one has no index.
 *
 * Ids are the last thing that entries are sorted by. An ordinal keeps its id for
 * ever, so one table of them serves every index; it takes those that are
 * compared, which entries with unique keys never are.
 */

import type { FieldKind, Item } from "../schema/patch.ts";
import { sortByNumber } from "./radix.ts";
import { sortRuns } from "./sort_texts.ts";
import type { Column, Source } from "../schema/source.ts";
import { finish, inSteps, stepSize } from "../base/steps.ts";
import { isNumeric, type Key, keyOf } from "./value.ts";

const absentNumber = -Infinity;
/** Fewer are sorted by comparison. */
const fewOrdinals = 256;
const headChars = 7;
/** Texts of one page, which one step makes: a power of two. */
const pageSize = stepSize;
const pageBits = 31 - Math.clz32(pageSize);
const charBase = 128;

export class KeyTable {
  readonly field: string;
  readonly kind: FieldKind;
  readonly numeric: boolean;
  #numbers: Float64Array = new Float64Array(0);
  /** In pages: one array of all would be copied where it grows, and where it gets its first text. */
  readonly #texts: (string | undefined)[][] = [];

  constructor(field: string, kind: FieldKind) {
    this.field = field;
    this.kind = kind;
    this.numeric = isNumeric(kind);
  }

  reserve(size: number): void {
    if (size > this.#numbers.length) finish(this.reserveSteps(size));
  }

  /** The same in steps, between which keys may be kept, too. */
  *reserveSteps(size: number): Generator<void> {
    const { length } = this.#numbers;
    if (size <= length) return;
    const room = Math.max(size, length * 2);
    if (!this.numeric) {
      yield* inSteps(room, (from) => {
        this.#texts[from >>> pageBits] ??= new Array(pageSize);
      });
    }
    const grown = new Float64Array(room);
    yield* inSteps(room - length, (from, to) => {
      grown.fill(absentNumber, length + from, length + to);
    });
    if (this.#numbers.length > length) return;
    grown.set(this.#numbers);
    this.#numbers = grown;
  }

  /** The number that orders like a key, as far as a number can. */
  numberOf(key: Key): number {
    if (typeof key === "number") return key;
    return key === undefined ? absentNumber : headOf(key);
  }

  get(ordinal: number): Key {
    if (!this.numeric) return this.#textAt(ordinal);
    const number = this.#numbers[ordinal]!;
    return number === absentNumber ? undefined : number;
  }

  #textAt(ordinal: number): string | undefined {
    return this.#texts[ordinal >>> pageBits]?.[ordinal & pageSize - 1];
  }

  has(ordinal: number, key: Key): boolean {
    return this.get(ordinal) === key;
  }

  set(ordinal: number, key: Key): void {
    this.#numbers[ordinal] = this.numberOf(key);
    if (!this.numeric) {
      const page = this.#texts[ordinal >>> pageBits]!;
      page[ordinal & pageSize - 1] = typeof key === "string" ? key : undefined;
    }
  }

  /** The key of an item; `null` when this table cannot keep it. */
  keyOf(item: Item): Key | null {
    const key = keyOf(this.kind, item[this.field]);
    return key === absentNumber ? null : key;
  }

  /** Takes the keys of some ordinals from a column; false when one cannot be kept. */
  fill(column: Column, from: number, to: number): boolean {
    if ((column.kind === "number") !== this.numeric) return false;
    if (column.kind === "word") {
      const { codes, words } = column;
      for (let i = from; i < to; i++) this.set(i, words[codes[i]!]);
      return true;
    }
    const { values } = column;
    for (let i = from; i < to; i++) {
      const value = values[i]!;
      if (value === absentNumber) return false;
      this.#numbers[i] = Number.isNaN(value) ? absentNumber : value;
    }
    return true;
  }

  /** Sorts ordinals by their keys, in place; those with equal keys keep their order. */
  *sort(ordinals: Uint32Array): Generator<void> {
    if (ordinals.length < fewOrdinals) {
      ordinals.sort((a, b) => this.compare(a, b));
      return;
    }
    const numbers = new Float64Array(ordinals.length);
    yield* inSteps(ordinals.length, (from, to) => {
      for (let i = from; i < to; i++) numbers[i] = this.#numbers[ordinals[i]!]!;
    });
    yield* sortByNumber(ordinals, numbers);
    if (this.numeric) return;
    const ties = (place: number) =>
      numbers[place] === numbers[place - 1] && isCut(numbers[place]!);
    yield* sortRuns(ordinals, ties, (ordinal) => this.#textAt(ordinal)!);
  }

  /** Negative, zero or positive as one ordinal's key to another's. */
  compare(a: number, b: number): number {
    const x = this.#numbers[a]!;
    const y = this.#numbers[b]!;
    if (x < y) return -1;
    if (x > y) return 1;
    if (this.numeric || !isCut(x)) return 0;
    return compareTexts(this.#textAt(a), this.#textAt(b));
  }

  /** The same, to a key with its {@linkcode numberOf}. */
  compareTo(ordinal: number, key: Key, number: number): number {
    const x = this.#numbers[ordinal]!;
    if (x < number) return -1;
    if (x > number) return 1;
    if (this.numeric || !isCut(x)) return 0;
    return compareTexts(this.#textAt(ordinal), key);
  }
}

/** Even when the text is all in the number, odd when more or others follow. */
function headOf(text: string): number {
  let head = 0;
  let isWhole = text.length <= headChars;
  let isOver = false;
  for (let i = 0; i < headChars; i++) {
    const isInside = !isOver && i < text.length;
    const unit = isInside ? text.charCodeAt(i) : 0;
    if (unit >= charBase - 1) isOver = true;
    // A zero looks like the text's end.
    if (isOver || (isInside && unit === 0)) isWhole = false;
    head = head * charBase + Math.min(unit, charBase - 1);
  }
  return head * 2 + (isWhole ? 0 : 1);
}

/** Does a text go on behind what is in its number? Nothing is absent from one that is absent. */
function isCut(head: number): boolean {
  return head % 2 === 1;
}

function compareTexts(a: string | undefined, b: Key): number {
  if (a === b) return 0;
  if (a === undefined) return -1;
  if (b === undefined) return 1;
  return a < b ? -1 : 1;
}

export class IdTable extends KeyTable {
  readonly #source: Source;

  /** @param source whose ids it keeps */
  constructor(source: Source) {
    super("id", "string");
    this.#source = source;
  }

  /** Takes all ids, in the order in which the source has them. */
  *fillSteps(): Generator<void> {
    yield* inSteps(this.#source.size, (from, to) => {
      for (let i = from; i < to; i++) this.#keep(i);
    });
  }

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
