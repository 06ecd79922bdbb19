/**
 * Columns in a checkpoint: from pages to typed arrays. `column_writer.ts` wrote
 * them.
 */

import { ByteReader } from "../../src/base/bytes.ts";
import type { View } from "../../src/schema/view.ts";
import { NumberStore, type Store, WordStore } from "../state/column.ts";
import {
  type ColumnPlace,
  columnWidth,
  encodings,
  I32_ABSENT,
} from "./layout.ts";
import { type PageFile, PagePart, PageStream } from "./page_file.ts";

/**
 * What a column's values depend on in the local schema: what readers see in
 * items whose writer did not know the field. "" when the schema has no such field.
 */
export function columnKey(view: View, field: string): string {
  const plan = view.schema?.plan.find(({ name }) => name === field);
  return plan === undefined ? "" : JSON.stringify([plan.kind, plan.initial]);
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
  return file.reading(first, () => {
    for (let i = 0; i < place.wordCount; i++) words.push(reader.text());
    return words;
  });
}
