/** Maps: the last writer wins for each key; a dropped key keeps its stamp. */

import type { ByteReader, ByteWriter } from "../base/bytes.ts";
import { compareStamps, type Stamp } from "../base/hlc.ts";
import { equalValues } from "./json.ts";
import { compareText, OrderedMap } from "./ordered_map.ts";
import type { Change, Value } from "./patch.ts";
import {
  explicitParts,
  PartsState,
  type ReadStamp,
  type RichKind,
  type WriteStamp,
} from "./rich_kind.ts";
import {
  checkCount,
  isIterable,
  parseEntries,
  parseKey,
  parseValue,
  recordOf,
  refuseValue,
  type SchemaField,
} from "./validate.ts";
import { readAny, readCount, writeAny } from "./value_codec.ts";

interface MapEntry {
  readonly value: Value;
  readonly stamp: Stamp;
}

export class MapState extends PartsState {
  readonly merge = "map";
  readonly entries: OrderedMap<string, MapEntry>;
  /** Keys that are not there any more, and since which commit. */
  readonly dropped: OrderedMap<string, Stamp>;

  constructor(
    entries: OrderedMap<string, MapEntry>,
    dropped: OrderedMap<string, Stamp>,
  ) {
    super();
    this.entries = entries;
    this.dropped = dropped;
  }

  get size(): number {
    return this.entries.size;
  }

  protected build(): Value {
    return recordOf(
      Array.from(this.entries.entries(), ([key, { value }]) => [key, value]),
    );
  }
}

const noKeys = /* @__PURE__ */ OrderedMap.of<string, Stamp>(compareText);

const empty = /* @__PURE__ */ new MapState(
  /* @__PURE__ */ OrderedMap.of<string, MapEntry>(compareText),
  noKeys,
);

export const map: RichKind<MapState> = {
  empty,
  begin(value, stamp) {
    const all = entriesOf(value)
      .map(([key, value]) => [key, { value, stamp }] as const);
    return new MapState(OrderedMap.of(compareText, all), noKeys);
  },
  create: (state, value, stamp) => put(state, entriesOf(value), stamp),
  change(state, change, stamp) {
    if (change.what === "put") return put(state, change.entries, stamp);
    if (change.what !== "drop") return state;
    return put(state, change.keys.map((key) => [key, undefined]), stamp);
  },
  write,
  read,
  prepare,
};

function entriesOf(value: Value): [string, Value][] {
  return typeof value === "object" ? Object.entries(value ?? {}) : [];
}

/** The map after a commit put these entries; an `undefined` value drops its key. */
function put(
  { entries, dropped }: MapState,
  changes: Iterable<readonly [string, Value]>,
  stamp: Stamp,
): MapState {
  const there: [string, MapEntry | undefined][] = [];
  const gone: [string, Stamp | undefined][] = [];
  for (const [key, value] of changes) {
    const before = entries.get(key)?.stamp ?? dropped.get(key);
    if (before !== undefined && compareStamps(before, stamp) > 0) continue;
    const isDropped = value === undefined;
    there.push([key, isDropped ? undefined : { value, stamp }]);
    gone.push([key, isDropped ? stamp : undefined]);
  }
  return new MapState(entries.withAll(there), dropped.withAll(gone));
}

function write(
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

function read(r: ByteReader, stamp: ReadStamp): MapState {
  const entries: [string, MapEntry][] = [];
  const dropped: [string, Stamp][] = [];
  for (let left = readCount(r, Infinity, 3); left > 0; left--) {
    const key = r.text();
    const from = stamp(r);
    const value = readAny(r);
    if (value === undefined) dropped.push([key, from]);
    else entries.push([key, { stamp: from, value }]);
  }
  return new MapState(
    OrderedMap.of(compareText, entries),
    OrderedMap.of(compareText, dropped),
  );
}

function prepare(
  field: SchemaField,
  { entries: now }: MapState,
  given: unknown,
): readonly Change[] {
  const keys: string[] = [];
  const entries: [string, Value][] = [];
  let size = now.size;
  for (const [key, value] of wantedEntries(field, now, given)) {
    const before = now.get(key);
    if (value === undefined) {
      if (before === undefined) continue;
      keys.push(key);
      size--;
    } else if (before === undefined || !equalValues(before.value, value)) {
      entries.push([key, value]);
      if (before === undefined) size++;
    }
  }
  checkCount(field, size);
  if (field.isBounded) {
    const all = new Map<string, Value>();
    for (const [key, { value }] of now.entries()) all.set(key, value);
    for (const key of keys) all.delete(key);
    for (const [key, value] of entries) all.set(key, value);
    parseValue(field, recordOf([...all]));
  }
  const changes: Change[] = [];
  if (keys.length > 0) changes.push({ what: "drop", keys });
  if (entries.length > 0) changes.push({ what: "put", entries });
  return changes;
}

/** The value of each key that is spoken of; `undefined` where it is to go. */
function wantedEntries(
  field: SchemaField,
  now: MapState["entries"],
  given: unknown,
): ReadonlyMap<string, Value> {
  const parts = explicitParts(field, given, ["put", "drop"]);
  const { put, drop } = parts === undefined
    ? { put: given, drop: now.keys() }
    : { put: parts.put ?? {}, drop: keysOf(field, parts.drop ?? []) };
  const wanted = new Map<string, Value>();
  for (const key of drop) wanted.set(key, undefined);
  for (const [key, value] of parseEntries(field, put)) wanted.set(key, value);
  return wanted;
}

function keysOf(field: SchemaField, given: unknown): readonly string[] {
  if (!isIterable(given)) {
    refuseValue(field, "an iterable of keys to drop", given);
  }
  return Array.from(given, (key) => parseKey(field, key));
}
