/**
 * Bytes of cells: checkpoint rows of changed and deleted items, which refer to
 * origins and shapes by their numbers in tables of the checkpoint.
 */

import { ByteReader } from "../base/bytes.ts";
import type { Stamp } from "../base/hlc.ts";
import { bareCell, type Cell, nowhere, type Origin } from "./cell.ts";
import { isOfKind, isRich } from "./kinds.ts";
import { lateRich } from "./late_rich.ts";
import type { RichState } from "./rich_state.ts";
import { isFieldName } from "./names.ts";
import { compareText, OrderedMap } from "./ordered_map.ts";
import type { Item, Shape, Value } from "./patch.ts";
import { readStamp } from "./stamp_codec.ts";
import type { ReadStamp } from "./rich_kind.ts";
import { malformed, readAny, readCount, readValue } from "./value_codec.ts";
import type { View } from "./view.ts";

/** The objects behind the numbers; `undefined` for a number that was never given. */
export interface CellTables {
  origin(number: number): Origin | undefined;
  shape(number: number): Shape | undefined;
}

/** It has no item. */
export const DELETED = 1;
/** Some registers have a stamp of their own. */
export const STAMPED = 2;
/** Some fields have a state. */
export const RICH = 4;
/** Updates came without their create. */
export const ORPHAN = 8;
/** A register has its value behind its stamp, because no field of the shape has it. */
export const OUTSIDE = 16;

/** Behind the cell stands what its long texts show. Who does not look there reads it from their units; bit 5 was that once. */
export const SHOWN = 64;

/** What a text shows, how many bytes its state has, and the order of its pieces, where that was worth its room. */
interface Shown {
  readonly bytes: number;
  readonly text: string;
  readonly order: Uint8Array | undefined;
}

/** Reads a cell as `encodeCell` of `cell_writer.ts` wrote it. */
export function decodeCell(
  r: ByteReader,
  tables: CellTables,
  view: View,
): Cell {
  const start = r.at;
  const flags = r.u8();
  const shown = flags & SHOWN ? readShown(r, start) : undefined;
  const id = r.text();
  const generation = r.varint();
  const shape = tables.shape(r.varint()) ?? malformed("a cell has no shape");
  const origin = flags & ORPHAN ? nowhere : originOf(tables, r.varint());
  if (flags & DELETED) {
    return bareCell(id, generation, undefined, shape, origin);
  }
  const head = { id, generation, shape, origin };
  return decodeLive(r, tables, view, flags, head, shown);
}

/** What stands behind a cell that begins at `start` and ends with the reader. */
function readShown(
  { bytes, end }: ByteReader,
  start: number,
): ReadonlyMap<string, Shown> {
  const place = new ByteReader(bytes, Math.max(start, end - 4), end).u32();
  if (place > end - 4 - start) malformed("a cell shows what it has not");
  const r = new ByteReader(bytes, start + place, end - 4);
  const shown = new Map<string, Shown>();
  while (!r.done) {
    const name = readName(r);
    const [bytes, text] = [r.varint(), r.text()];
    const order = r.take(r.varint()).slice();
    shown.set(name, { bytes, text, order: order.length ? order : undefined });
  }
  return shown;
}

/**
 * The item of a cell, where it can be told without its stamps and states: most
 * readers want no more, and it costs a fraction. `undefined` where it cannot, or
 * is deleted: {@linkcode decodeCell} tells.
 */
export function decodeItem(
  r: ByteReader,
  tables: CellTables,
  view: View,
): Item | undefined {
  const flags = r.u8();
  if (flags & (DELETED | RICH | OUTSIDE)) return undefined;
  const id = r.text();
  r.varint();
  const shape = tables.shape(r.varint()) ?? malformed("a cell has no shape");
  if (!(flags & ORPHAN)) r.varint();
  const { template, names, kinds, isFitting } = view.planFor(shape);
  if (!isFitting) return undefined;
  const draft = { ...template };
  draft.id = id;
  for (let i = 0; i < names.length; i++) {
    const kind = kinds[i]!;
    const value = isRich(kind) ? readValue(r, kind, false) : readAny(r);
    if (value instanceof Date || value instanceof Uint8Array) {
      view.meet("bytes");
    }
    const name = names[i]!;
    if (!isRich(kind) && !isOfKind(kind, value)) return undefined;
    draft[name] = value;
  }
  return view.checked(Object.freeze(draft));
}

function originOf(tables: CellTables, number: number): Origin {
  return tables.origin(number) ?? malformed("a cell has no origin");
}

/** Where the cell's fields come from: what was read before them. */
type Head = Pick<Cell, "id" | "generation" | "shape" | "origin">;

function decodeLive(
  r: ByteReader,
  tables: CellTables,
  view: View,
  flags: number,
  head: Head,
  shown: ReadonlyMap<string, Shown> | undefined,
): Cell {
  const stamp: ReadStamp = (r) => readRef(r, tables);
  const rich = flags & RICH ? readStates(r, stamp, shown) : undefined;
  const values = new Map<string, Value>();
  for (const { name, kind } of head.shape.fields) {
    if (rich?.has(name)) continue;
    values.set(
      name,
      isRich(kind) ? readValue(r, kind, false) : readAny(r),
    );
  }
  const stamps = flags & STAMPED
    ? readRegisters(r, stamp, head.shape, values)
    : undefined;
  for (const value of values.values()) {
    if (value instanceof Date || value instanceof Uint8Array) {
      view.meet("bytes");
    }
  }
  const item = view.build(head.id, head.shape, values, rich);
  const hidden = view.hidden(head.shape, values);
  return { ...head, item, createAt: -1, stamps, rich, hidden };
}

function readRef(r: ByteReader, tables: CellTables): Stamp {
  const number = r.varint();
  return number === 0 ? readStamp(r) : originOf(tables, number - 1);
}

function readStates(
  r: ByteReader,
  stamp: ReadStamp,
  shown: ReadonlyMap<string, Shown> | undefined,
) {
  const { readState, shownTextOf } = lateRich.code;
  const states: [string, RichState][] = [];
  for (let left = readCount(r, Infinity, 3); left > 0; left--) {
    const name = readName(r);
    const known = shown?.get(name);
    const state = known === undefined
      ? readState(r, stamp)
      : shownTextOf(r.take(known.bytes).slice(), known.text, known.order);
    states.push([name, state]);
  }
  return OrderedMap.of(compareText, states);
}

function readRegisters(
  r: ByteReader,
  stamp: ReadStamp,
  shape: Shape,
  values: Map<string, Value>,
): OrderedMap<string, Stamp> {
  const stamps: [string, Stamp][] = [];
  for (let left = readCount(r, Infinity, 2); left > 0; left--) {
    const at = r.varint();
    if (at > 0) {
      const field = shape.fields[at - 1] ??
        malformed("a register has no field");
      stamps.push([field.name, stamp(r)]);
      continue;
    }
    const name = readName(r);
    stamps.push([name, stamp(r)]);
    values.set(name, readAny(r));
  }
  return OrderedMap.of(compareText, stamps);
}

function readName(r: ByteReader): string {
  const name = r.text();
  return isFieldName(name) ? name : malformed("a field name is invalid");
}
