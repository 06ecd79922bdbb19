/**
 * Bytes of the state of counters, sets, maps, lists and texts, for checkpoints and
 * digests. The two differ only in how they write stamps and order entries.
 *
 * @module
 */

import type { ByteReader, ByteWriter } from "../base/bytes.ts";
import type { Stamp } from "../base/hlc.ts";
import {
  compareTags,
  type ListElement,
  ListState,
  type MapEntry,
  MapState,
  type RichState,
  SetState,
  type Tag,
} from "./merge_state.ts";
import { compareText, OrderedMap } from "./ordered_map.ts";
import type { Value } from "./patch.ts";
import { readTextState, textStateOf, writeTextState } from "./text_codec.ts";
import {
  compareScalars,
  malformed,
  readAny,
  readCount,
  writeAny,
} from "./value_codec.ts";

/** Writes one stamp. */
export type WriteStamp = (w: ByteWriter, stamp: Stamp) => void;
/** Reads one stamp. */
export type ReadStamp = (r: ByteReader) => Stamp;

const classes = ["counter", "set", "map", "list", "text"] as const;
const INSERTED = 1;
const DELETED = 2;
const VALUED = 4;
const PLACED = 8;

/** Bytes of a text of which it is known what it shows. */
export function shownTextOf(bytes: Uint8Array, shown: string): RichState {
  const text = classes.indexOf("text");
  if (bytes[0] !== text) malformed("only a text is shown");
  return textStateOf(bytes.subarray(1), shown);
}

/** Writes a state; entries in ascending order, so that equal states are equal bytes. */
export function writeState(
  w: ByteWriter,
  state: RichState,
  stamp: WriteStamp,
): void {
  w.u8(classes.indexOf(state.merge));
  switch (state.merge) {
    case "counter":
      return w.text(state.total.toString());
    case "set":
      return writeSet(w, state, stamp);
    case "map":
      return writeMap(w, state, stamp);
    case "list":
      return writeList(w, state, stamp);
    case "text":
      return writeTextState(w, state);
  }
}

function writeSet(w: ByteWriter, state: SetState, stamp: WriteStamp) {
  const entries = new Map<Value, { tags: Stamp[]; gone: Stamp[] }>();
  for (const part of ["tags", "gone"] as const) {
    for (const { value, stamp } of state[part].keys()) {
      let entry = entries.get(value);
      if (entry === undefined) {
        entries.set(value, entry = { tags: [], gone: [] });
      }
      entry[part].push(stamp);
    }
  }
  w.varint(entries.size);
  const values = [...entries.keys()].sort(compareScalars);
  for (const value of values) {
    const { tags, gone } = entries.get(value)!;
    writeAny(w, value);
    writeStamps(w, tags, stamp);
    writeStamps(w, gone, stamp);
  }
}

function writeStamps(
  w: ByteWriter,
  stamps: readonly Stamp[],
  stamp: WriteStamp,
): void {
  w.varint(stamps.length);
  for (const one of stamps) stamp(w, one);
}

function writeMap(
  w: ByteWriter,
  { entries, dropped }: MapState,
  stamp: WriteStamp,
) {
  w.varint(entries.size + dropped.size);
  for (const key of [...entries.keys(), ...dropped.keys()].sort()) {
    const entry = entries.get(key);
    w.text(key);
    stamp(w, entry?.stamp ?? dropped.get(key)!);
    writeAny(w, entry?.value);
  }
}

function writeList(
  w: ByteWriter,
  { elements, deleted }: ListState,
  stamp: WriteStamp,
) {
  w.varint(elements.size + deleted.size);
  for (const id of [...elements.keys(), ...deleted.keys()].sort()) {
    const element = elements.get(id);
    w.text(id);
    if (element === undefined) w.u8(DELETED);
    else writeElement(w, element, stamp);
  }
}

function writeElement(w: ByteWriter, element: ListElement, stamp: WriteStamp) {
  const { value, valueStamp, position, positionStamp } = element;
  w.u8(
    (element.isInserted ? INSERTED : 0) | (valueStamp ? VALUED : 0) |
      (positionStamp ? PLACED : 0),
  );
  if (valueStamp !== undefined) {
    stamp(w, valueStamp);
    writeAny(w, value);
  }
  if (positionStamp !== undefined) {
    stamp(w, positionStamp);
    w.text(position);
  }
}

/** Reads a state. */
export function readState(r: ByteReader, stamp: ReadStamp): RichState {
  switch (classes[r.u8()]) {
    case "counter":
      return { merge: "counter", total: readTotal(r) };
    case "set":
      return readSet(r, stamp);
    case "map":
      return readMap(r, stamp);
    case "list":
      return readList(r, stamp);
    case "text":
      return readTextState(r);
    default:
      return malformed("a state is of an unknown class");
  }
}

function readTotal(r: ByteReader): bigint {
  const text = r.text();
  return /^-?[0-9]{1,64}$/.test(text)
    ? BigInt(text)
    : malformed("a counter is no whole number");
}

function readSet(r: ByteReader, stamp: ReadStamp): SetState {
  const tags: [Tag, true][] = [];
  const gone: [Tag, true][] = [];
  for (let left = readCount(r, Infinity, 3); left > 0; left--) {
    const value = readAny(r, false);
    const isScalar = value !== undefined && typeof value !== "object";
    if (!isScalar) malformed("a set holds what is no scalar");
    for (const part of [tags, gone]) {
      for (let count = readCount(r, Infinity, 1); count > 0; count--) {
        part.push([{ value, stamp: stamp(r) }, true]);
      }
    }
  }
  const of = (part: [Tag, true][]) => OrderedMap.of(compareTags, part);
  return new SetState(of(tags), of(gone));
}

function readMap(r: ByteReader, stamp: ReadStamp): MapState {
  const entries: [string, MapEntry][] = [];
  const dropped: [string, Stamp][] = [];
  for (let left = readCount(r, Infinity, 3); left > 0; left--) {
    const key = r.text();
    const from = stamp(r);
    const value = readAny(r, false);
    if (value === undefined) dropped.push([key, from]);
    else entries.push([key, { stamp: from, value }]);
  }
  return new MapState(
    OrderedMap.of(compareText, entries),
    OrderedMap.of(compareText, dropped),
  );
}

function readList(r: ByteReader, stamp: ReadStamp): ListState {
  const elements: [string, ListElement][] = [];
  const deleted: [string, true][] = [];
  for (let left = readCount(r, Infinity, 2); left > 0; left--) {
    const id = r.text();
    const flags = r.u8();
    if (flags & DELETED) deleted.push([id, true]);
    else elements.push([id, readElement(r, stamp, flags)]);
  }
  return new ListState(
    OrderedMap.of(compareText, elements),
    OrderedMap.of(compareText, deleted),
  );
}

function readElement(
  r: ByteReader,
  stamp: ReadStamp,
  flags: number,
): ListElement {
  const valueStamp = flags & VALUED ? stamp(r) : undefined;
  const value = valueStamp === undefined ? undefined : readAny(r, false);
  const positionStamp = flags & PLACED ? stamp(r) : undefined;
  const position = positionStamp === undefined ? "" : r.text();
  const isInserted = (flags & INSERTED) !== 0;
  return { isInserted, value, valueStamp, position, positionStamp };
}
