/**
 * Columns into a checkpoint: from typed arrays to pages. Loaded when one is
 * written.
 *
 * Numbers are packed when all of them fit; words are stored only when they are
 * few for their items, because the rows hold them anyway.
 */

import { ByteWriter } from "../../src/base/bytes.ts";
import { NumberStore, type Store, type WordStore } from "../state/column.ts";
import {
  type ColumnPlace,
  columnRecords,
  type ColumnType,
  encodings,
  I32_ABSENT,
  ORDER_KEY,
} from "./layout.ts";
import type { PageWriter } from "./page_writer.ts";

/** Records between two looks at the clock. */
const STEP = 4096;

/** More words than this are not worth storing beside `size` rows. */
export function wordsWorth(size: number): number {
  return Math.min(65_535, Math.max(256, size / 8));
}

export function* writeColumn(
  writer: PageWriter,
  field: string,
  key: string,
  store: Store | undefined,
  size: number,
): Generator<void, ColumnPlace> {
  const nothing = { first: 0, count: 0 };
  const noWords = { words: { first: 0, bytes: 0 }, wordCount: 0 };
  if (store === undefined) {
    return {
      field,
      key,
      type: "none",
      encoding: 0,
      records: nothing,
      ...noWords,
    };
  }
  if (store.kind === "word") {
    const encoding = store.words.length <= 256 ? encodings.u8 : encodings.u16;
    const records = yield* writeCodes(writer, store, encoding, size);
    const text = new ByteWriter(1024);
    for (let i = 1; i < store.words.length; i++) text.text(store.words[i]!);
    const words = writer.stream(text.view());
    const wordCount = store.words.length - 1;
    return { field, key, type: "word", encoding, records, words, wordCount };
  }
  const type: ColumnType = store.type;
  const encoding = yield* encodingOf(store, size);
  const records = encoding === encodings.bits
    ? yield* writeBits(writer, store, size)
    : yield* writeNumbers(writer, store, encoding, size);
  return { field, key, type, encoding, records, ...noWords };
}

/** Writes the order of an index: ordinals, and then as many as lack it as absent ones. */
export function* writeOrder(
  writer: PageWriter,
  field: string,
  order: Uint32Array,
  size: number,
): Generator<void, ColumnPlace> {
  const values = new Float64Array(size).fill(NaN);
  values.set(order);
  const store = new NumberStore("number", values);
  return yield* writeColumn(writer, field, ORDER_KEY, store, size);
}

function* encodingOf(
  store: NumberStore,
  size: number,
): Generator<void, number> {
  if (store.type === "boolean") return encodings.bits;
  const { values } = store;
  for (let i = 0; i < size; i++) {
    if (i % STEP === 0) yield;
    const value = values[i]!;
    if (value !== value) continue;
    const isPackable = (value | 0) === value && value !== I32_ABSENT &&
      !Object.is(value, -0);
    if (!isPackable) return encodings.f64;
  }
  return encodings.i32;
}

function* writeCodes(
  writer: PageWriter,
  store: WordStore,
  encoding: number,
  size: number,
): Generator<void, { first: number; count: number }> {
  const first = writer.begin();
  for (let i = 0; i < size; i++) {
    if (encoding === encodings.u8) writer.u8(store.codes[i]!);
    else writer.u16(store.codes[i]!);
    if (i % STEP === 0) yield;
  }
  writer.end();
  return { first, count: size };
}

function* writeBits(
  writer: PageWriter,
  store: NumberStore,
  size: number,
): Generator<void, { first: number; count: number }> {
  const first = writer.begin();
  const count = columnRecords(encodings.bits, size);
  for (let i = 0; i < count; i++) {
    let byte = 0;
    for (let j = 0; j < 4 && i * 4 + j < size; j++) {
      const value = store.values[i * 4 + j]!;
      if (value === value) byte |= value + 1 << j * 2;
    }
    writer.u8(byte);
    if (i % STEP === 0) yield;
  }
  writer.end();
  return { first, count };
}

function* writeNumbers(
  writer: PageWriter,
  store: NumberStore,
  encoding: number,
  size: number,
): Generator<void, { first: number; count: number }> {
  const first = writer.begin();
  const { values } = store;
  for (let i = 0; i < size; i++) {
    const value = values[i]!;
    if (encoding === encodings.f64) writer.f64(value);
    else writer.u32(value === value ? value : I32_ABSENT);
    if (i % STEP === 0) yield;
  }
  writer.end();
  return { first, count: size };
}
