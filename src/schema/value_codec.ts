/**
 * Bytes of values.
 *
 * A register's value is written after its field's kind, a value inside a set,
 * map or list after its own type. One value has one encoding: whatever could
 * be written shorter, a negative zero, an unsorted or repeated set element is
 * a `SyntaxError`. The trusting reader skips the checks that a first, strict
 * reading of the same bytes has already made.
 */

import type { ByteReader, ByteWriter } from "../base/bytes.ts";
import { limits } from "../base/limits.ts";
import { parseJson, parseOneJson, writeJson } from "./json.ts";
import { emptyOf, isRich } from "./kinds.ts";
import type { FieldKind, Value } from "./patch.ts";

/** First byte of a value. */
export const tags = {
  absent: 0,
  false: 1,
  true: 2,
  natural: 3,
  negative: 4,
  double: 5,
  text: 6,
  bytes: 7,
  date: 8,
  json: 9,
  array: 10,
  record: 11,
} as const;

/** Milliseconds that a `Date` can hold. */
const dateMsMax = 8.64e15;

export function malformed(why: string): never {
  throw new SyntaxError(`Cannot decode patch: ${why}`);
}

export function writeValue(w: ByteWriter, kind: FieldKind, value: Value): void {
  switch (typeof value) {
    case "string":
      if (kind === "json") return writeJsonValue(w, value);
      w.u8(tags.text);
      return w.text(value);
    case "number":
      if (kind === "json") return writeJsonValue(w, value);
      return writeNumber(w, value);
    case "boolean":
      if (kind === "json") return writeJsonValue(w, value);
      return w.u8(value ? tags.true : tags.false);
    case "undefined":
      return w.u8(tags.absent);
    default:
      if (kind === "set" || kind === "list") return writeArray(w, value);
      if (kind === "map") return writeRecord(w, value);
      if (kind === "json") return writeJsonValue(w, value);
      return writeAny(w, value);
  }
}

/** Writes a value after its own type: set, map and list contents, digests. */
export function writeAny(w: ByteWriter, value: Value): void {
  if (value instanceof Date) {
    w.u8(tags.date);
    return w.f64(value.getTime());
  }
  if (value instanceof Uint8Array) {
    w.u8(tags.bytes);
    w.varint(value.length);
    return w.bytes(value);
  }
  if (typeof value === "object") return writeJsonValue(w, value);
  writeValue(w, "string", value);
}

function writeNumber(w: ByteWriter, value: number): void {
  if (!Number.isSafeInteger(value)) {
    w.u8(tags.double);
    return w.f64(value);
  }
  w.u8(value >= 0 ? tags.natural : tags.negative);
  w.varint(value >= 0 ? value : -1 - value);
}

function writeJsonValue(w: ByteWriter, value: Value): void {
  w.u8(tags.json);
  w.text(writeJson(value));
}

function writeArray(w: ByteWriter, value: object | null): void {
  w.u8(tags.array);
  if (!Array.isArray(value)) return w.varint(0);
  w.varint(value.length);
  for (let i = 0; i < value.length; i++) writeAny(w, value[i]);
}

function writeRecord(w: ByteWriter, value: object | null): void {
  w.u8(tags.record);
  const entries: [string, Value][] = Object.entries(value ?? {});
  entries.sort(([a], [b]) => a < b ? -1 : 1);
  w.varint(entries.length);
  for (const [key, inner] of entries) {
    w.text(key);
    writeAny(w, inner);
  }
}

/**
 * Reads text of at most `bytesMax` bytes. Strict reading checks that text is
 * flagged as ASCII exactly when it is: platforms differ on what a byte over
 * 0x7f means there.
 */
export function readText(
  r: ByteReader,
  bytesMax: number,
  strict: boolean,
): string {
  if (!strict) return r.word();
  const start = r.at;
  const head = r.varint();
  const isAscii = head % 2 === 0;
  const length = isAscii ? head / 2 : (head - 1) / 2;
  if (length > bytesMax) malformed("a text is too long");
  const from = r.at;
  r.at = start;
  const text = r.word();
  if (isAscii) checkAscii(r.bytes, from, r.at);
  else if (text.length === length) malformed("ASCII text is not flagged");
  return text;
}

function checkAscii(bytes: Uint8Array, start: number, end: number): void {
  let seen = 0;
  for (let i = start; i < end; i++) seen |= bytes[i]!;
  if (seen >= 0x80) malformed("a text is not ASCII");
}

/** Reads a count of things that take at least `bytesEach` bytes. */
export function readCount(r: ByteReader, max: number, bytesEach: number) {
  const count = r.varint();
  if (count > max || count * bytesEach > r.end - r.at) {
    malformed("a count is too large");
  }
  return count;
}

function isTextKind(kind: FieldKind): boolean {
  return kind === "string" || kind === "ref" || kind === "enum" ||
    kind === "text";
}

export function readValue(
  r: ByteReader,
  kind: FieldKind,
  strict: boolean,
): Value {
  const tag = r.u8();
  switch (tag) {
    case tags.text:
      if (!isTextKind(kind)) break;
      return readText(r, limits.valueBytesMax, strict);
    case tags.natural:
      if (kind !== "number" && kind !== "counter") break;
      return r.varint();
    case tags.absent:
      if (!isRich(kind)) return undefined;
      if (kind === "counter" || r.isWhole) break;
      return emptyOf(kind);
    case tags.false:
    case tags.true:
      if (kind !== "boolean") break;
      return tag === tags.true;
    case tags.array:
      if (kind !== "set" && kind !== "list") break;
      return readArray(r, kind === "set", strict);
    default:
      if (!fitsRareTag(kind, tag)) break;
      return readRare(r, tag, kind, strict);
  }
  return malformed(`a ${kind} field has a value of type ${tag}`);
}

function fitsRareTag(kind: FieldKind, tag: number): boolean {
  switch (kind) {
    case "number":
      return tag === tags.negative || tag === tags.double;
    case "counter":
      return tag === tags.negative;
    case "date":
      return tag === tags.date;
    case "bytes":
      return tag === tags.bytes;
    case "json":
      return tag === tags.json;
    case "map":
      return tag === tags.record;
    default:
      return false;
  }
}

function readRare(
  r: ByteReader,
  tag: number,
  kind: FieldKind,
  strict: boolean,
): Value {
  if (tag === tags.json) return readJson(r, strict);
  if (tag === tags.record) return readRecord(r, strict);
  return readScalar(r, tag, strict) ?? malformed(`a ${kind} is missing`);
}

/** Reads a value after its own type, as {@linkcode writeAny} wrote it. */
export function readAny(r: ByteReader): Value {
  const tag = r.u8();
  if (tag === tags.absent) return undefined;
  if (tag === tags.json) return readJson(r, false);
  return readScalar(r, tag, false);
}

/** Reads what may stand inside a set (scalars), a map or a list (JSON too). */
export function readInner(
  r: ByteReader,
  isSet: boolean,
  strict: boolean,
): Value {
  const tag = r.u8();
  if (tag === tags.json) {
    const value = isSet ? undefined : readJson(r, strict);
    if (typeof value !== "object") malformed("a scalar is written as JSON");
    return value;
  }
  if (tag === tags.absent && !r.isWhole) return undefined;
  if (tag === tags.absent || tag === tags.bytes || tag === tags.date) {
    malformed(`a value of type ${tag} stands in a collection`);
  }
  return readScalar(r, tag, strict);
}

function readScalar(r: ByteReader, tag: number, strict: boolean): Value {
  switch (tag) {
    case tags.false:
      return false;
    case tags.true:
      return true;
    case tags.natural:
      return r.varint();
    case tags.negative:
      return readNegative(r);
    case tags.double:
      return readDouble(r);
    case tags.text:
      return readText(r, limits.valueBytesMax, strict);
    case tags.bytes: {
      const length = readCount(r, limits.valueBytesMax, 1);
      return length > 0 ? r.take(length).slice() : emptyBytes;
    }
    case tags.date:
      return readDate(r);
    default:
      return malformed(`a value has the unknown type ${tag}`);
  }
}

function readNegative(r: ByteReader): number {
  const value = -1 - r.varint();
  return Number.isSafeInteger(value)
    ? value
    : malformed("an integer is over 53 bits");
}

function readDouble(r: ByteReader): number {
  const value = r.f64();
  if (!Number.isFinite(value)) malformed("a number is not finite");
  if (Number.isSafeInteger(value)) malformed("an integer is a double");
  return value;
}

function readDate(r: ByteReader): Date {
  const ms = r.f64();
  if (!Number.isInteger(ms) || Math.abs(ms) > dateMsMax || Object.is(ms, -0)) {
    malformed("a date is out of range");
  }
  return new Date(ms);
}

function readJson(r: ByteReader, strict: boolean): Value {
  const text = readText(r, limits.valueBytesMax, strict);
  return strict ? parseOneJson(text) : parseJson(text);
}

const emptyBytes = new Uint8Array(0);

function readArray(
  r: ByteReader,
  isSet: boolean,
  strict: boolean,
): Value {
  const count = readCount(r, limits.elementsMax, 1);
  if (count === 0) return emptyOf("list");
  // Of the right length at once: a pushed array keeps room for seventeen.
  const values: Value[] = new Array(count);
  for (let i = 0; i < count; i++) {
    const value = readInner(r, isSet, strict);
    if (strict && isSet && i > 0 && compareScalars(values[i - 1], value) >= 0) {
      malformed("a set is not in ascending order");
    }
    values[i] = value;
  }
  return Object.freeze(values);
}

function readRecord(r: ByteReader, strict: boolean): Value {
  const count = readCount(r, limits.elementsMax, 2);
  if (count === 0) return emptyOf("map");
  const record: Record<string, Value> = Object.create(null);
  let last: string | undefined;
  for (let i = 0; i < count; i++) {
    const key = readText(r, limits.keyBytesMax, strict);
    if (last !== undefined && last >= key) malformed("map keys do not ascend");
    last = key;
    record[key] = readInner(r, false, strict);
  }
  return Object.freeze(record);
}

/** What was erased, then booleans, numbers and strings, each ascending. */
export function compareScalars(a: Value, b: Value): number {
  if (typeof a === "string" && typeof b === "string") {
    return a < b ? -1 : a > b ? 1 : 0;
  }
  const difference = rank(a) - rank(b);
  if (difference !== 0 || a === undefined) return difference;
  return Number(a) - Number(b);
}

function rank(value: Value): number {
  if (value === undefined) return -1;
  return typeof value === "string" ? 2 : typeof value === "number" ? 1 : 0;
}
