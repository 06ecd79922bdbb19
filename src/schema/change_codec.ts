/** Bytes of the changes that updates make to fields of rich kinds. */

import type { ByteReader, ByteWriter } from "../base/bytes.ts";
import { assert } from "../base/errors.ts";
import { compareStamps } from "../base/hlc.ts";
import { limits } from "../base/limits.ts";
import { mergeClassOf } from "./kinds.ts";
import type {
  Change,
  Element,
  FieldChange,
  MergeClass,
  Placement,
  RichChange,
  ShapeField,
  TaggedValue,
  Value,
} from "./patch.ts";
import { isPosition } from "./position.ts";
import { readStamps, writeStamp } from "./stamp_codec.ts";
import { readTextChange, writeTextState } from "./text_codec.ts";
import {
  compareScalars,
  malformed,
  readCount,
  readInner,
  readText,
  writeAny,
} from "./value_codec.ts";

/** What changes do, with the numbers that stand on disk. */
export const changeCodes = {
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

/** Of changes that have parts: which of their properties these are. */
const partsOf = {
  add: "values",
  remove: "values",
  put: "entries",
  drop: "keys",
  insert: "elements",
  move: "moves",
  delete: "elements",
  replace: "values",
} as const;

type Part = Value | TaggedValue | Placement | readonly [string, Value];

/** What the parts of one change are ordered by; each has another. */
function keyOf(part: Part): Value {
  if (typeof part !== "object" || part === null) return part;
  if ("element" in part) return part.element;
  // Proof: only tagged values and pairs are left of what a part may be.
  return "tags" in part ? part.value as Value : (part as readonly Value[])[0];
}

/** Changes in the order of an update, those that do the same to a field as one. */
export function joinChanges(sorted: readonly FieldChange[]): FieldChange[] {
  const all: FieldChange[] = [];
  for (let i = 0, end = 0; i < sorted.length; i = end) {
    const { field, change: { what } } = sorted[i]!;
    for (end = i + 1; end < sorted.length; end++) {
      const next = sorted[end]!;
      if (next.field !== field || next.change.what !== what) break;
    }
    const same = sorted.slice(i, end).map(({ change }) => change);
    all.push({ field, change: joinParts(...same) });
  }
  return all;
}

/** Several changes of a field that do the same, as one, its parts in their order. */
export function joinParts(...changes: readonly Change[]): Change {
  const first = changes[0]!;
  const { what } = first;
  if (what === "set" || what === "increment" || what === "edit") {
    assert(changes.length === 1, "one field has one value");
    return first;
  }
  const name = partsOf[what];
  // Proof: changes that do the same have parts of one type, by one name.
  const parts = changes
    .flatMap((one) => (one as { readonly [name: string]: unknown })[name])
    .map((part) => what === "remove" ? withTags(part as TaggedValue) : part);
  const compare = (a: unknown, b: unknown) =>
    compareScalars(keyOf(a as Part), keyOf(b as Part));
  return { what, [name]: inOrder(parts, compare) } as unknown as Change;
}

function withTags({ value, tags }: TaggedValue): TaggedValue {
  return { value, tags: inOrder(tags, compareStamps) };
}

function inOrder<T>(all: readonly T[], compare: (a: T, b: T) => number): T[] {
  return all.toSorted(compare)
    .filter((one, i, sorted) => i === 0 || compare(sorted[i - 1]!, one) < 0);
}

/** Ascending, each once: the decoders of others take nothing else. */
function assertInOrder(parts: readonly Part[]): void {
  assert(parts.length > 0, "a change says something");
  for (let i = 1; i < parts.length; i++) {
    const order = compareScalars(keyOf(parts[i - 1]), keyOf(parts[i]));
    assert(order < 0, "parts of a change are in their order");
  }
}

export function writeChange(w: ByteWriter, change: RichChange): void {
  w.u8(changeCodes[change.what]);
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
  assertInOrder(values);
  w.varint(values.length);
  for (const value of values) writeAny(w, value);
}

function writeTagged(w: ByteWriter, values: readonly TaggedValue[]): void {
  assertInOrder(values);
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
  assertInOrder(pairs);
  w.varint(pairs.length);
  for (const [key, value] of pairs) {
    w.text(key);
    writeAny(w, value);
  }
}

function writeTexts(w: ByteWriter, texts: readonly string[]): void {
  assertInOrder(texts);
  w.varint(texts.length);
  for (const text of texts) w.text(text);
}

function writeElements(w: ByteWriter, elements: readonly Element[]): void {
  assertInOrder(elements);
  w.varint(elements.length);
  for (const { element, position, value } of elements) {
    w.text(element);
    w.text(position);
    writeAny(w, value);
  }
}

function writePlacements(w: ByteWriter, moves: readonly Placement[]): void {
  assertInOrder(moves);
  w.varint(moves.length);
  for (const { element, position } of moves) {
    w.text(element);
    w.text(position);
  }
}

export function readChange(r: ByteReader, field: ShapeField): Change {
  const code = r.u8();
  if (classes[code] !== mergeClassOf(field.kind)) {
    malformed(`a ${field.kind} field has a change of type ${code}`);
  }
  switch (code) {
    case changeCodes.increment:
      return { what: "increment", amount: readAmount(r) };
    case changeCodes.add:
      return { what: "add", values: readMany(r, 1, readElementOfSet) };
    case changeCodes.remove:
      return { what: "remove", values: readMany(r, 2, readTagged) };
    case changeCodes.put:
      return { what: "put", entries: readMany(r, 2, readEntry) };
    case changeCodes.drop:
      return { what: "drop", keys: readMany(r, 1, readKey) };
    case changeCodes.insert:
      return { what: "insert", elements: readMany(r, 3, readElement) };
    case changeCodes.move:
      return { what: "move", moves: readMany(r, 2, readPlacement) };
    case changeCodes.delete:
      return { what: "delete", elements: readMany(r, 1, readElementId) };
    case changeCodes.edit:
      return { what: "edit", text: readTextChange(r) };
    default:
      return { what: "replace", values: readMany(r, 2, readReplacement) };
  }
}

function readMany<T extends Part>(
  r: ByteReader,
  bytesEach: number,
  readOne: (r: ByteReader) => T,
): readonly T[] {
  const count = readCount(r, limits.elementsMax, bytesEach);
  if (count === 0) malformed("a change says nothing");
  const all: T[] = [];
  let last: Value;
  for (let i = 0; i < count; i++) {
    const part = readOne(r);
    const key = keyOf(part);
    if (i > 0 && compareScalars(last, key) >= 0) {
      malformed("parts of a change do not ascend");
    }
    all.push(part);
    last = key;
  }
  return Object.freeze(all);
}

function readAmount(r: ByteReader): number {
  const amount = r.f64();
  if (!Number.isSafeInteger(amount) || Object.is(amount, -0)) {
    malformed("an increment is not a whole number");
  }
  if (amount === 0) malformed("an increment adds nothing");
  return amount;
}

function readElementOfSet(r: ByteReader): Value {
  return readInner(r, true, true);
}

function readTagged(r: ByteReader): TaggedValue {
  const value = readInner(r, true, true);
  const tags = readStamps(r);
  if (tags.length === 0) malformed("a remove names no add");
  for (let i = 1; i < tags.length; i++) {
    if (compareStamps(tags[i - 1]!, tags[i]!) >= 0) {
      malformed("tags do not ascend");
    }
  }
  return Object.freeze({ value, tags: Object.freeze(tags) });
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
