/**
 * Bytes of the state of counters, sets, maps, lists and texts, for checkpoints and
 * digests. The two differ only in how they write stamps and order entries.
 *
 * @module
 */

import type { ByteReader, ByteWriter } from "../base/bytes.ts";
import type { Stamp } from "../base/hlc.ts";
import type {
  ListElement,
  ListState,
  MapEntry,
  MapState,
  RichState,
  SetEntry,
  SetState,
} from "./merge_state.ts";
import type { Value } from "./patch.ts";
import { readTextState, writeTextState } from "./text_codec.ts";
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

function writeSet(w: ByteWriter, { entries }: SetState, stamp: WriteStamp) {
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

function writeMap(w: ByteWriter, { entries }: MapState, stamp: WriteStamp) {
  w.varint(entries.size);
  for (const key of [...entries.keys()].sort()) {
    const entry = entries.get(key)!;
    w.text(key);
    stamp(w, entry.stamp);
    writeAny(w, entry.value);
  }
}

function writeList(w: ByteWriter, { elements }: ListState, stamp: WriteStamp) {
  w.varint(elements.size);
  for (const id of [...elements.keys()].sort()) {
    w.text(id);
    writeElement(w, elements.get(id)!, stamp);
  }
}

function writeElement(w: ByteWriter, element: ListElement, stamp: WriteStamp) {
  const { value, valueStamp, position, positionStamp } = element;
  w.u8(
    (element.isInserted ? INSERTED : 0) | (element.isDeleted ? DELETED : 0) |
      (valueStamp ? VALUED : 0) | (positionStamp ? PLACED : 0),
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
      return { merge: "set", entries: readSet(r, stamp) };
    case "map":
      return { merge: "map", entries: readMap(r, stamp) };
    case "list":
      return { merge: "list", elements: readList(r, stamp) };
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

function readSet(r: ByteReader, stamp: ReadStamp): Map<Value, SetEntry> {
  const entries = new Map<Value, SetEntry>();
  for (let left = readCount(r, Infinity, 3); left > 0; left--) {
    const value = readAny(r, false);
    if (typeof value === "object") malformed("a set holds an object");
    const tags = readStamps(r, stamp);
    entries.set(value, { tags, gone: readStamps(r, stamp) });
  }
  return entries;
}

function readStamps(r: ByteReader, stamp: ReadStamp): Stamp[] {
  const stamps: Stamp[] = [];
  for (let left = readCount(r, Infinity, 1); left > 0; left--) {
    stamps.push(stamp(r));
  }
  return stamps;
}

function readMap(r: ByteReader, stamp: ReadStamp): Map<string, MapEntry> {
  const entries = new Map<string, MapEntry>();
  for (let left = readCount(r, Infinity, 3); left > 0; left--) {
    const key = r.text();
    const from = stamp(r);
    entries.set(key, { stamp: from, value: readAny(r, false) });
  }
  return entries;
}

function readList(r: ByteReader, stamp: ReadStamp): Map<string, ListElement> {
  const elements = new Map<string, ListElement>();
  for (let left = readCount(r, Infinity, 2); left > 0; left--) {
    const id = r.text();
    elements.set(id, readElement(r, stamp));
  }
  return elements;
}

function readElement(r: ByteReader, stamp: ReadStamp): ListElement {
  const flags = r.u8();
  const valueStamp = flags & VALUED ? stamp(r) : undefined;
  const value = valueStamp === undefined ? undefined : readAny(r, false);
  const positionStamp = flags & PLACED ? stamp(r) : undefined;
  const position = positionStamp === undefined ? "" : r.text();
  return {
    isInserted: (flags & INSERTED) !== 0,
    isDeleted: (flags & DELETED) !== 0,
    value,
    valueStamp,
    position,
    positionStamp,
  };
}
