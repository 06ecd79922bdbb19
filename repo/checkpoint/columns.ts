/**
 * Columns in a checkpoint: from typed arrays to pages and back.
 *
 * Numbers are packed when all of them fit; words are stored only when they are
 * few for their items, because the rows hold them anyway.
 *
 * @module
 */

import { ByteReader, ByteWriter } from "../../src/base/bytes.ts";
import type { View } from "../../src/schema/view.ts";
import { NumberStore, type Store, WordStore } from "../column.ts";
import {
  type ColumnPlace,
  columnRecords,
  type ColumnType,
  columnWidth,
  encodings,
  I32_ABSENT,
} from "./layout.ts";
import { type PageFile, PagePart, PageStream } from "./page_file.ts";
import type { PageWriter } from "./page_writer.ts";

/** Records between two looks at the clock. */
const STEP = 4096;

/** Runs steps to their end at once. */
export function drain<T>(steps: Generator<void, T>): T {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}

/**
 * What a column's values depend on in the local schema: what readers see in
 * items whose writer did not know the field. "" when the schema has no such field.
 */
export function columnKey(view: View, field: string): string {
  const plan = view.schema?.plan.find(({ name }) => name === field);
  return plan === undefined ? "" : JSON.stringify([plan.kind, plan.initial]);
}

/** More words than this are not worth storing beside `size` rows. */
export function wordsWorth(size: number): number {
  return Math.min(65_535, Math.max(256, size / 8));
}

/** Reads a column of `size` ordinals into arrays with room for `room`. */
export function* loadColumn(
  file: PageFile,
  place: ColumnPlace,
  size: number,
  room: number,
): Generator<void, Store> {
  if (place.type === "word") {
    const codes = new Uint32Array(Math.max(size, room));
    yield* readColumn(file, place, codes);
    return new WordStore(codes, readWords(file, place));
  }
  // Room for the four values of a byte of bits.
  const values = new Float64Array(Math.max(size + 3, room)).fill(NaN, size);
  yield* readColumn(file, place, values);
  if (place.encoding === encodings.bits) values.fill(NaN, size);
  return new NumberStore(place.type === "none" ? "number" : place.type, values);
}

function* readColumn(
  file: PageFile,
  place: ColumnPlace,
  target: Float64Array | Uint32Array,
): Generator<void> {
  const { first, count } = place.records;
  const part = new PagePart(file, first, count, columnWidth(place.encoding));
  for (const { bytes, pages, first } of part.sweep()) {
    for (let i = 0; i < pages; i++) {
      const from = (first + i) * part.perPage;
      const records = Math.min(part.perPage, count - from);
      const at = bytes.byteOffset + bytes.length / pages * i;
      readPage(bytes.buffer, at, records, place.encoding, from, target);
    }
    yield;
  }
}

/** Typed arrays over the page: every platform of ours is little-endian. */
function readPage(
  buffer: ArrayBufferLike,
  at: number,
  records: number,
  encoding: number,
  from: number,
  target: Float64Array | Uint32Array,
): void {
  switch (encoding) {
    case encodings.f64:
      return target.set(new Float64Array(buffer, at, records), from);
    case encodings.i32: {
      const page = new Int32Array(buffer, at, records);
      if (!page.includes(I32_ABSENT)) return target.set(page, from);
      for (let i = 0; i < records; i++) {
        target[from + i] = page[i] === I32_ABSENT ? NaN : page[i]!;
      }
      return;
    }
    case encodings.bits: {
      const page = new Uint8Array(buffer, at, records);
      for (let i = 0; i < records; i++) {
        for (let j = 0; j < 4; j++) {
          const bits = page[i]! >>> j * 2 & 3;
          target[(from + i) * 4 + j] = bits === 0 ? NaN : bits - 1;
        }
      }
      return;
    }
    case encodings.u8:
      return target.set(new Uint8Array(buffer, at, records), from);
    default:
      return target.set(new Uint16Array(buffer, at, records), from);
  }
}

function readWords(
  file: PageFile,
  place: ColumnPlace,
): (string | undefined)[] {
  const { first, bytes } = place.words;
  const reader = new ByteReader(
    new PageStream(file, first, bytes).bytes(0, bytes),
  );
  const words: (string | undefined)[] = [undefined];
  for (let i = 0; i < place.wordCount; i++) words.push(reader.text());
  return words;
}

/** Writes a column of `size` ordinals. */
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
