/**
 * Columns: one scalar field of every item, side by side, by ordinal.
 *
 * A column has the type of its field's kind, or, where no schema tells, of the
 * first value it meets. A value of another type
 * (or one that a column cannot tell from "absent": NaN, null) ends it, and the
 * readers fall back to the items; so a column never shows anything that the
 * items do not. Never decodes items by itself.
 */

import { inSteps } from "../../src/base/steps.ts";
import type { FieldKind, Value } from "../../src/schema/patch.ts";
import type { NumberColumn, WordColumn } from "../../src/schema/source.ts";

/** Different words a column may hold; with more, an index serves better. */
export const wordsMax = 65_535;

export type NumberType = "number" | "boolean" | "date";

/** Room to start with. */
const CAPACITY_FIRST = 64;

/** Numbers, booleans and dates. */
export class NumberStore implements NumberColumn {
  readonly kind = "number";
  readonly type: NumberType;
  /** By ordinal; NaN is absent, also beyond the last ordinal. */
  values: Float64Array;

  /** @param values a start by ordinal, owned by the column from now on */
  constructor(type: NumberType, values: Float64Array = new Float64Array(0)) {
    this.type = type;
    this.values = values;
  }

  /** Sets the value of an ordinal; false when the column cannot hold it. */
  set(ordinal: number, value: Value): boolean {
    const number = value === undefined ? NaN : numberOf(value, this.type);
    if (number !== number && value !== undefined) return false;
    if (ordinal >= this.values.length) this.#grow(ordinal + 1);
    this.values[ordinal] = number;
    return true;
  }

  #grow(need: number): void {
    const old = this.values;
    const size = Math.max(need, old.length * 2, CAPACITY_FIRST);
    this.values = new Float64Array(size);
    this.values.set(old);
    this.values.fill(NaN, old.length);
  }
}

/** The number that stands for a value; NaN when it is of another type. */
function numberOf(value: Value, type: NumberType): number {
  if (type === "number") return typeof value === "number" ? value : NaN;
  if (type === "boolean") return typeof value === "boolean" ? +value : NaN;
  return value instanceof Date ? value.getTime() : NaN;
}

/** Strings with few different ones. */
export class WordStore implements WordColumn {
  readonly kind = "word";
  /** By ordinal: index into `words`; 0 is absent. */
  codes: Uint32Array;
  /** `words[0]` is `undefined`. */
  readonly words: (string | undefined)[];
  readonly #codes = new Map<string, number>();

  /** @param codes a start by ordinal, owned by the column from now on, as its words are */
  constructor(
    codes: Uint32Array = new Uint32Array(0),
    words: (string | undefined)[] = [undefined],
  ) {
    this.codes = codes;
    this.words = words;
    for (let code = 1; code < words.length; code++) {
      this.#codes.set(words[code]!, code);
    }
  }

  /** The code of a word, `undefined` when no item ever had it. */
  codeOf(word: string): number | undefined {
    return this.#codes.get(word);
  }

  /** Sets the value of an ordinal; false when the column cannot hold it. */
  set(ordinal: number, value: Value): boolean {
    let code: number | undefined = 0;
    if (value !== undefined) {
      if (typeof value !== "string") return false;
      code = this.#codes.get(value) ?? this.#add(value);
      if (code === undefined) return false;
    }
    if (ordinal >= this.codes.length) this.#grow(ordinal + 1);
    this.codes[ordinal] = code;
    return true;
  }

  /** The same of the first `size` ordinals, with no other words than theirs. */
  usedOnly(size: number): WordStore {
    const used = new Uint32Array(this.words.length);
    for (let i = 0; i < size; i++) used[this.codes[i]!] = 1;
    used[0] = 0;
    const words = this.words.filter((_, code) =>
      code === 0 || used[code] === 1
    );
    if (words.length === this.words.length) return this;
    let next = 0;
    for (let code = 1; code < used.length; code++) {
      if (used[code] === 1) used[code] = ++next;
    }
    const codes = this.codes.slice(0, size).map((code) => used[code]!);
    return new WordStore(codes, words);
  }

  #add(word: string): number | undefined {
    const code = this.words.length;
    if (code > wordsMax) return undefined;
    this.words.push(word);
    this.#codes.set(word, code);
    return code;
  }

  #grow(need: number): void {
    const old = this.codes;
    const size = Math.max(need, old.length * 2, CAPACITY_FIRST);
    this.codes = new Uint32Array(size);
    this.codes.set(old);
  }
}

export type Store = NumberStore | WordStore;

/** An empty column for values like this one; `undefined` when none can hold it. */
export function storeFor(value: Value): Store | undefined {
  switch (typeof value) {
    case "number":
      return new NumberStore("number");
    case "boolean":
      return new NumberStore("boolean");
    case "string":
      return new WordStore();
    default:
      return value instanceof Date ? new NumberStore("date") : undefined;
  }
}

/** An empty column for a field of this kind; `undefined` when such fields have none. */
export function storeOfKind(kind: FieldKind): Store | undefined {
  switch (kind) {
    case "number":
    case "counter":
      return new NumberStore("number");
    case "boolean":
    case "date":
      return new NumberStore(kind);
    case "string":
    case "enum":
    case "ref":
      return new WordStore();
    default:
      return undefined;
  }
}

/** The name of an index's order; no field has such a one. */
export function orderName(fields: readonly string[]): string {
  return JSON.stringify(fields);
}

/** A stored order without the ordinals that are marked as changed, or that there are not. */
export function* unchanged(
  stored: Float64Array,
  changed: Uint8Array,
): Generator<void, Uint32Array> {
  const order = new Uint32Array(stored.length);
  let length = 0;
  yield* inSteps(stored.length, (from, to) => {
    for (let i = from; i < to; i++) {
      const ordinal = stored[i]!;
      if (changed[ordinal] === 0) order[length++] = ordinal;
    }
  });
  return order.subarray(0, length);
}
