/**
 * Bytes of shapes.
 *
 * Equal shape bytes give one and the same `Shape` object as long as the cache
 * holds it, so that items of one writer share their hidden class.
 *
 * Architecture invariant: names from outside meet the same rules as our own.
 */

import { getOrMake } from "../base/collections.ts";
import { type ByteReader, ByteWriter, toHex } from "../base/bytes.ts";
import { limits } from "../base/limits.ts";
import { isRich, kindOf } from "./kinds.ts";
import { lateRich } from "./late_rich.ts";
import { isCollectionName, isFieldName } from "./names.ts";
import { fieldKinds, type Shape, type ShapeField } from "./patch.ts";
import { malformed, readCount, readText } from "./value_codec.ts";

const encoded = new WeakMap<Shape, Uint8Array>();

/** The bytes of a shape; computed once for each object. */
export function encodeShape(shape: Shape): Uint8Array {
  return getOrMake(encoded, shape, () => writeShape(shape));
}

function writeShape(shape: Shape): Uint8Array {
  const w = new ByteWriter(64);
  w.text(shape.collection);
  w.varint(shape.version);
  w.varint(shape.fields.length);
  for (const { name, kind } of shape.fields) {
    w.text(name);
    w.u8(fieldKinds[kind]);
  }
  return w.copy();
}

const interned = new Map<string, Shape>();

/** Reads the shapes of a patch, strictly: none stands twice. */
export function readShapes(r: ByteReader): Shape[] {
  const count = readCount(r, limits.collectionsMax, 3);
  // Not in their middle: equal ones must be one object here.
  if (interned.size + count > limits.shapesCachedMax) interned.clear();
  const shapes: Shape[] = [];
  for (let i = 0; i < count; i++) shapes.push(readShape(r));
  if (count > 1 && new Set(shapes).size < count) {
    malformed("a shape stands twice");
  }
  return shapes;
}

export function readShape(r: ByteReader): Shape {
  const start = r.at;
  skipShape(r);
  const key = toHex(r.bytes.subarray(start, r.at));
  const known = interned.get(key);
  if (known !== undefined) return known;
  r.at = start;
  const shape = parseShape(r);
  if (interned.size >= limits.shapesCachedMax) interned.clear();
  interned.set(key, shape);
  return shape;
}

function skipShape(r: ByteReader): void {
  r.skipText();
  r.varint();
  const count = readCount(r, limits.fieldsMax, 2);
  for (let i = 0; i < count; i++) {
    r.skipText();
    r.u8();
  }
}

function parseShape(r: ByteReader): Shape {
  const collection = readText(r, 64, true);
  if (!isCollectionName(collection)) malformed("a collection name is invalid");
  const version = r.varint();
  if (version > limits.schemaVersionMax) malformed("a version is too large");
  const fields: ShapeField[] = [];
  const names = new Set<string>();
  const count = readCount(r, limits.fieldsMax, 2);
  for (let i = 0; i < count; i++) {
    const name = readText(r, 64, true);
    if (!isFieldName(name)) malformed("a field name is invalid");
    const kind = kindOf(r.u8());
    // What folds it must be here before anything is: see `late_rich.ts`.
    if (isRich(kind)) lateRich.code;
    fields.push(Object.freeze({ name, kind }));
    names.add(name);
  }
  if (names.size < count) malformed("a shape names a field twice");
  return Object.freeze({ collection, version, fields: Object.freeze(fields) });
}
