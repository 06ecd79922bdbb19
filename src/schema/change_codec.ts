/**
 * Bytes of the changes that updates make to fields of rich kinds.
 *
 * @module
 */

import type { ByteReader, ByteWriter } from "../base/bytes.ts";
import { limits } from "../base/limits.ts";
import { mergeClassOf } from "./kinds.ts";
import type {
  Change,
  Element,
  MergeClass,
  Placement,
  RichChange,
  ShapeField,
  TaggedValue,
  Value,
} from "./patch.ts";
import { isPosition } from "./position.ts";
import { readStamps, writeStamp } from "./shape_codec.ts";
import { readTextChange, writeTextState } from "./text_codec.ts";
import {
  malformed,
  readCount,
  readInner,
  readText,
  writeAny,
} from "./value_codec.ts";

const codes = {
  increment: 1,
  add: 2,
  remove: 3,
  put: 4,
  drop: 5,
  insert: 6,
  move: 7,
  delete: 8,
  replace: 9,
  edit: 10,
} as const;

/** Which merge class takes a change, by its number. */
const classes: readonly (MergeClass | undefined)[] = [
  undefined,
  "counter",
  "set",
  "set",
  "map",
  "map",
  "list",
  "list",
  "list",
  "list",
  "text",
];

/** Writes one change of a field. */
export function writeChange(w: ByteWriter, change: RichChange): void {
  w.u8(codes[change.what]);
  switch (change.what) {
    case "increment":
      return w.f64(change.amount);
    case "add":
      return writeValues(w, change.values);
    case "remove":
      return writeTagged(w, change.values);
    case "put":
    case "replace":
      return writePairs(
        w,
        change.what === "put" ? change.entries : change.values,
      );
    case "drop":
      return writeTexts(w, change.keys);
    case "delete":
      return writeTexts(w, change.elements);
    case "insert":
      return writeElements(w, change.elements);
    case "move":
      return writePlacements(w, change.moves);
    case "edit":
      return writeTextState(w, change.text);
  }
}

function writeValues(w: ByteWriter, values: readonly Value[]): void {
  w.varint(values.length);
  for (const value of values) writeAny(w, value);
}

function writeTagged(w: ByteWriter, values: readonly TaggedValue[]): void {
  w.varint(values.length);
  for (const { value, tags } of values) {
    writeAny(w, value);
    w.varint(tags.length);
    for (const tag of tags) writeStamp(w, tag);
  }
}

function writePairs(
  w: ByteWriter,
  pairs: readonly (readonly [string, Value])[],
): void {
  w.varint(pairs.length);
  for (const [key, value] of pairs) {
    w.text(key);
    writeAny(w, value);
  }
}

function writeTexts(w: ByteWriter, texts: readonly string[]): void {
  w.varint(texts.length);
  for (const text of texts) w.text(text);
}

function writeElements(w: ByteWriter, elements: readonly Element[]): void {
  w.varint(elements.length);
  for (const { element, position, value } of elements) {
    w.text(element);
    w.text(position);
    writeAny(w, value);
  }
}

function writePlacements(w: ByteWriter, moves: readonly Placement[]): void {
  w.varint(moves.length);
  for (const { element, position } of moves) {
    w.text(element);
    w.text(position);
  }
}

/** Reads one change of a field, strictly. */
export function readChange(r: ByteReader, field: ShapeField): Change {
  const code = r.u8();
  if (classes[code] !== mergeClassOf(field.kind)) {
    malformed(`a ${field.kind} field has a change of type ${code}`);
  }
  switch (code) {
    case codes.increment:
      return { what: "increment", amount: readAmount(r) };
    case codes.add:
      return { what: "add", values: readMany(r, 1, readElementOfSet) };
    case codes.remove:
      return { what: "remove", values: readMany(r, 2, readTagged) };
    case codes.put:
      return { what: "put", entries: readMany(r, 2, readEntry) };
    case codes.drop:
      return { what: "drop", keys: readMany(r, 1, readKey) };
    case codes.insert:
      return { what: "insert", elements: readMany(r, 3, readElement) };
    case codes.move:
      return { what: "move", moves: readMany(r, 2, readPlacement) };
    case codes.delete:
      return { what: "delete", elements: readMany(r, 1, readElementId) };
    case codes.edit:
      return { what: "edit", text: readTextChange(r) };
    default:
      return { what: "replace", values: readMany(r, 2, readReplacement) };
  }
}

function readMany<T>(
  r: ByteReader,
  bytesEach: number,
  readOne: (r: ByteReader) => T,
): readonly T[] {
  const count = readCount(r, limits.elementsMax, bytesEach);
  const all: T[] = [];
  for (let i = 0; i < count; i++) all.push(readOne(r));
  return Object.freeze(all);
}

function readAmount(r: ByteReader): number {
  const amount = r.f64();
  if (!Number.isSafeInteger(amount) || Object.is(amount, -0)) {
    malformed("an increment is not a whole number");
  }
  return amount;
}

function readElementOfSet(r: ByteReader): Value {
  return readInner(r, true, true);
}

function readTagged(r: ByteReader): TaggedValue {
  const value = readInner(r, true, true);
  return Object.freeze({ value, tags: Object.freeze(readStamps(r)) });
}

function readKey(r: ByteReader): string {
  return readText(r, limits.keyBytesMax, true);
}

function readEntry(r: ByteReader): readonly [string, Value] {
  return Object.freeze([readKey(r), readInner(r, false, true)] as const);
}

function readElementId(r: ByteReader): string {
  const element = readText(r, limits.elementIdBytesMax, true);
  return element === "" ? malformed("an element has no id") : element;
}

function readReplacement(r: ByteReader): readonly [string, Value] {
  return Object.freeze([readElementId(r), readInner(r, false, true)] as const);
}

function readPosition(r: ByteReader): string {
  const position = readText(r, limits.positionBytesMax, true);
  return isPosition(position) ? position : malformed("a position is invalid");
}

function readPlacement(r: ByteReader): Placement {
  const element = readElementId(r);
  return Object.freeze({ element, position: readPosition(r) });
}

function readElement(r: ByteReader): Element {
  const element = readElementId(r);
  const position = readPosition(r);
  return Object.freeze({
    element,
    position,
    value: readInner(r, false, true),
  });
}
