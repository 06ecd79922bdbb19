/**
 * Bytes of values that JSON cannot say: the register `data` of an entry.
 *
 * See docs/format-kv.md. The same bytes with the keys of objects in order are a
 * value's canonical encoding: equal values have equal ones, whatever register
 * they are kept in.
 *
 * Architecture invariant: foreign bytes never throw anything but `SyntaxError`,
 * and every count and depth is bounded by the bytes left and by a named limit.
 */

import { ByteReader, ByteWriter, fromHex, toHex } from "../base/bytes.ts";
import { limits } from "../base/limits.ts";
import { setOwn } from "../schema/json.ts";
import { readText } from "../schema/value_codec.ts";
import type { KvPart, KvValue } from "./value.ts";

const FORMAT = 1;

/** First byte of a value. */
const tags = {
  undefined: 0,
  null: 1,
  false: 2,
  true: 3,
  natural: 4,
  negative: 5,
  double: 6,
  nan: 7,
  infinity: 8,
  minusInfinity: 9,
  bigint: 10,
  negativeBigint: 11,
  text: 12,
  bytes: 13,
  date: 14,
  array: 15,
  object: 16,
  map: 17,
  set: 18,
} as const;

/** Milliseconds that a `Date` can hold. */
const dateMsMax = 8.64e15;

/** The bytes of a value that was copied in: a copy of our own. */
export function encodeValue(value: KvValue): Uint8Array {
  return encode(value, false);
}

/** The canonical encoding: equal values have equal bytes. */
export function canonicalBytes(value: KvValue): Uint8Array {
  return encode(value, true);
}

const shared = new ByteWriter(1024);

function encode(value: KvValue, isCanonical: boolean): Uint8Array {
  // Copied values run no foreign code: nobody else writes meanwhile.
  shared.clear();
  shared.u8(FORMAT);
  writePart(shared, value, isCanonical);
  return shared.copy();
}

function writePart(w: ByteWriter, value: KvPart, isCanonical: boolean): void {
  switch (typeof value) {
    case "undefined":
      return w.u8(tags.undefined);
    case "boolean":
      return w.u8(value ? tags.true : tags.false);
    case "number":
      return writeNumber(w, value);
    case "bigint":
      return writeBigint(w, value);
    case "string":
      w.u8(tags.text);
      return w.text(value);
    default:
      return value === null
        ? w.u8(tags.null)
        : writeObject(w, value, isCanonical);
  }
}

function writeNumber(w: ByteWriter, value: number): void {
  if (Number.isSafeInteger(value)) {
    w.u8(value >= 0 ? tags.natural : tags.negative);
    return w.varint(value >= 0 ? value : -1 - value);
  }
  if (Number.isNaN(value)) return w.u8(tags.nan);
  if (value === Infinity) return w.u8(tags.infinity);
  if (value === -Infinity) return w.u8(tags.minusInfinity);
  w.u8(tags.double);
  w.f64(value);
}

function writeBigint(w: ByteWriter, value: bigint): void {
  const isNegative = value < 0n;
  const hex = (isNegative ? -1n - value : value).toString(16);
  const bytes = fromHex(hex.length % 2 === 0 ? hex : `0${hex}`);
  w.u8(isNegative ? tags.negativeBigint : tags.bigint);
  w.varint(bytes.length);
  w.bytes(bytes);
}

function writeObject(
  w: ByteWriter,
  value: Exclude<KvValue, null | boolean | number | bigint | string>,
  isCanonical: boolean,
): void {
  if (value instanceof Date) {
    w.u8(tags.date);
    w.f64(value.getTime());
  } else if (value instanceof Uint8Array) {
    w.u8(tags.bytes);
    w.varint(value.length);
    w.bytes(value);
  } else if (value instanceof Map) {
    w.u8(tags.map);
    w.varint(value.size);
    for (const [key, inner] of value) {
      writePart(w, key, isCanonical);
      writePart(w, inner, isCanonical);
    }
  } else if (Array.isArray(value) || value instanceof Set) {
    w.u8(value instanceof Set ? tags.set : tags.array);
    w.varint(value instanceof Set ? value.size : value.length);
    for (const inner of value) writePart(w, inner, isCanonical);
  } else writeRecord(w, value as Readonly<Record<string, KvPart>>, isCanonical);
}

function writeRecord(
  w: ByteWriter,
  value: Readonly<Record<string, KvPart>>,
  isCanonical: boolean,
): void {
  const keys = Object.keys(value);
  if (isCanonical) keys.sort();
  w.u8(tags.object);
  w.varint(keys.length);
  for (const key of keys) {
    w.text(key);
    writePart(w, value[key], isCanonical);
  }
}

/** The value of `data`, the caller's own; `SyntaxError` when it is none. */
export function decodeValue(bytes: Uint8Array): KvValue {
  if (bytes.length > limits.kvValueBytesMax) malformed("it is too long");
  const r = new ByteReader(bytes);
  if (r.u8() !== FORMAT) malformed("its format is unknown");
  const value = readPart(r, 0);
  if (value === undefined) malformed("it is undefined");
  if (!r.done) malformed("bytes follow it");
  return value;
}

function malformed(why: string): never {
  throw new SyntaxError(`Cannot decode value: ${why}`);
}

function readPart(r: ByteReader, depth: number): KvPart {
  const tag = r.u8();
  switch (tag) {
    case tags.undefined:
      return undefined;
    case tags.null:
      return null;
    case tags.false:
    case tags.true:
      return tag === tags.true;
    case tags.natural:
      return r.varint();
    case tags.negative:
      return -1 - r.varint();
    case tags.double:
      return readDouble(r);
    case tags.nan:
      return NaN;
    case tags.infinity:
      return Infinity;
    case tags.minusInfinity:
      return -Infinity;
    case tags.text:
      return readText(r, limits.kvValueBytesMax, true);
    case tags.bytes:
      return r.take(r.varint()).slice();
    case tags.date:
      return readDate(r);
    case tags.bigint:
      return readBigint(r);
    case tags.negativeBigint:
      return -1n - readBigint(r);
    default:
      return readObject(r, tag, depth);
  }
}

function readDouble(r: ByteReader): number {
  const value = r.f64();
  if (Number.isFinite(value) && !Number.isSafeInteger(value)) return value;
  return malformed("a number has another encoding");
}

function readDate(r: ByteReader): Date {
  const ms = r.f64();
  const isDate = Number.isInteger(ms) && Math.abs(ms) <= dateMsMax;
  return isDate ? new Date(ms) : malformed("a date is out of range");
}

function readBigint(r: ByteReader): bigint {
  const length = r.varint();
  if (length === 0 || length > limits.kvIntegerBytesMax) {
    malformed("a bigint is too long");
  }
  return BigInt(`0x${toHex(r.take(length))}`);
}

function readObject(r: ByteReader, tag: number, depth: number): KvPart {
  if (depth >= limits.jsonDepthMax) malformed("it is nested too deep");
  switch (tag) {
    case tags.array:
      return readArray(r, depth + 1);
    case tags.object:
      return readRecord(r, depth + 1);
    case tags.map:
      return readMap(r, depth + 1);
    case tags.set:
      return readSet(r, depth + 1);
    default:
      return malformed(`it has the unknown type ${tag}`);
  }
}

/** A count of things that take at least `bytesEach` bytes. */
function readCount(r: ByteReader, bytesEach: number): number {
  const count = r.varint();
  if (count * bytesEach > r.end - r.at) malformed("a count is too large");
  return count;
}

function readArray(r: ByteReader, depth: number): KvPart {
  const values: KvPart[] = new Array(readCount(r, 1));
  for (let i = 0; i < values.length; i++) values[i] = readPart(r, depth);
  return Object.freeze(values);
}

function readRecord(r: ByteReader, depth: number): KvPart {
  const record: Record<string, KvPart> = {};
  for (let left = readCount(r, 2); left > 0; left--) {
    const key = readText(r, limits.kvValueBytesMax, true);
    if (Object.hasOwn(record, key)) malformed("an object has a key twice");
    setOwn(record, key, readPart(r, depth));
  }
  return Object.freeze(record);
}

function readMap(r: ByteReader, depth: number): KvPart {
  const map = new Map<KvPart, KvPart>();
  const count = readCount(r, 2);
  for (let i = 0; i < count; i++) {
    const key = readPart(r, depth);
    map.set(key, readPart(r, depth));
  }
  if (map.size < count) malformed("a map has a key twice");
  return map;
}

function readSet(r: ByteReader, depth: number): KvPart {
  const set = new Set<KvPart>();
  const count = readCount(r, 1);
  for (let i = 0; i < count; i++) set.add(readPart(r, depth));
  if (set.size < count) malformed("a set has a value twice");
  return set;
}
