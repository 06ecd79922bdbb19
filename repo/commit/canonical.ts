/**
 * Values that have exactly one form, read strictly.
 *
 * Two encodings of one value would be two names of one thing, so the forms
 * that our writers never make are refused. Throws only `SyntaxError`.
 *
 * @module
 */

import {
  type ByteReader,
  type ByteWriter,
  decodeText,
} from "../../src/base/bytes.ts";

/** Reads a varint that has no needless bytes. */
export function readCount(reader: ByteReader): number {
  const start = reader.at;
  const value = reader.varint();
  if (reader.at - start > 1 && reader.bytes[reader.at - 1] === 0) {
    throw new SyntaxError("Cannot decode integer: it has needless bytes");
  }
  return value;
}

/** Reads a text of at most `bytesMax` bytes whose ASCII mark tells the truth. */
export function readText(reader: ByteReader, bytesMax: number): string {
  const head = readCount(reader);
  const isAscii = head % 2 === 0;
  const length = isAscii ? head / 2 : (head - 1) / 2;
  if (length > bytesMax) {
    throw new SyntaxError("Cannot decode text: it is too long");
  }
  const text = decodeText(reader.take(length));
  if ((text.length === length) !== isAscii) {
    throw new SyntaxError("Cannot decode text: its ASCII mark is wrong");
  }
  return text;
}

/** Appends bytes behind their length. */
export function writeBytes(writer: ByteWriter, bytes: Uint8Array): void {
  writer.varint(bytes.length);
  writer.bytes(bytes);
}

/** Reads what {@linkcode writeBytes} wrote: a view. */
export function readBytes(reader: ByteReader): Uint8Array {
  return reader.take(reader.varint());
}
