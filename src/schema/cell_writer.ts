/**
 * Cells as rows of a checkpoint, which `cell_codec.ts` reads. Loaded when one is
 * written.
 */

import type { ByteWriter } from "../base/bytes.ts";
import type { Stamp } from "../base/hlc.ts";
import { type Cell, nowhere, type Origin, valueIn } from "./cell.ts";
import {
  DELETED,
  ORPHAN,
  OUTSIDE,
  RICH,
  SHOWN,
  STAMPED,
} from "./cell_codec.ts";
import { isRich } from "./kinds.ts";
import { lateRich } from "./late_rich.ts";
import type { RichState } from "./rich_state.ts";
import type { OrderedMap } from "./ordered_map.ts";
import type { Shape } from "./patch.ts";
import { writeStamp } from "./stamp_codec.ts";
import { writeAny, writeValue } from "./value_codec.ts";

export interface CellRefs {
  origin(origin: Origin): number;
  shape(shape: Shape): number;
}

/** A text of fewer bytes is put in order in no time. */
const LONG_TEXT = 1_024;

/** @param isAlone nothing will stand behind it: there is room for what its texts show */
export function encodeCell(
  w: ByteWriter,
  cell: Cell,
  refs: CellRefs,
  isAlone = false,
): void {
  const start = w.length;
  const { id, generation, item, shape, origin, stamps, rich } = cell;
  const inside = stamps === undefined ? [] : stampedIn(cell, stamps);
  const isOutside = stamps !== undefined && inside.length < stamps.size;
  w.u8(
    (item === undefined ? DELETED : 0) | (stamps ? STAMPED : 0) |
      (rich ? RICH : 0) | (origin === nowhere ? ORPHAN : 0) |
      (isOutside ? OUTSIDE : 0),
  );
  w.text(id);
  w.varint(generation);
  w.varint(refs.shape(shape));
  if (origin !== nowhere) w.varint(refs.origin(origin));
  if (item === undefined) return;
  const stamp = (w: ByteWriter, stamp: Stamp) => writeRef(w, stamp, refs);
  // States first: they tell which fields of the shape follow.
  const shown = rich && writeStates(w, rich, stamp);
  for (const { name, kind } of shape.fields) {
    if (rich?.has(name)) continue;
    if (isRich(kind)) writeValue(w, kind, valueIn(cell, name));
    else writeAny(w, valueIn(cell, name));
  }
  if (stamps) writeRegisters(w, cell, stamps, inside, stamp);
  if (isAlone && shown?.length) writeShown(w, start, shown);
}

/** What a text shows, how many bytes its state has, and in which order it is. */
type Shown = readonly [
  name: string,
  bytes: number,
  text: string,
  order: Uint8Array,
];

const unknown = new Uint8Array();

function writeShown(w: ByteWriter, start: number, shown: readonly Shown[]) {
  const head = w.view(start);
  head[0] = head[0]! | SHOWN;
  const place = w.length - start;
  for (const [name, bytes, text, order] of shown) {
    w.text(name);
    w.varint(bytes);
    w.text(text);
    w.varint(order.length);
    w.bytes(order);
  }
  w.u32(place);
}

/** Where registers with stamps stand in the shape, which has their values then. */
function stampedIn(
  { shape, rich }: Cell,
  stamps: OrderedMap<string, Stamp>,
): number[] {
  const inside: number[] = [];
  shape.fields.forEach(({ name, kind }, at) => {
    if (stamps.has(name) && !isRich(kind) && !rich?.has(name)) inside.push(at);
  });
  return inside;
}

function writeRegisters(
  w: ByteWriter,
  cell: Cell,
  stamps: OrderedMap<string, Stamp>,
  inside: readonly number[],
  stamp: (w: ByteWriter, stamp: Stamp) => void,
): void {
  w.varint(stamps.size);
  for (const at of inside) {
    w.varint(at + 1);
    stamp(w, stamps.get(cell.shape.fields[at]!.name)!);
  }
  if (inside.length === stamps.size) return;
  const written = new Set(inside.map((at) => cell.shape.fields[at]!.name));
  for (const [name, from] of stamps) {
    if (written.has(name)) continue;
    w.varint(0);
    w.text(name);
    stamp(w, from);
    writeAny(w, valueIn(cell, name));
  }
}

/** Writes states; which of them show a text that readers have asked for. */
function writeStates(
  w: ByteWriter,
  rich: OrderedMap<string, RichState>,
  stamp: (w: ByteWriter, stamp: Stamp) => void,
): Shown[] {
  const shown: Shown[] = [];
  w.varint(rich.size);
  for (const [name, state] of rich) {
    w.text(name);
    const start = w.length;
    lateRich.code.writeState(w, state, stamp);
    const bytes = w.length - start;
    if (state.merge !== "text" || bytes < LONG_TEXT) continue;
    if (state.shown === undefined) continue;
    const order = state.orderBytes() ?? unknown;
    shown.push([name, bytes, state.shown, order]);
  }
  return shown;
}

/** A commit by its number, a stamp that no commit here has by itself. */
function writeRef(w: ByteWriter, stamp: Stamp, refs: CellRefs): void {
  if (isOrigin(stamp)) w.varint(refs.origin(stamp) + 1);
  else {
    w.varint(0);
    writeStamp(w, stamp);
  }
}

function isOrigin(stamp: Stamp): stamp is Origin {
  return "operationsAt" in stamp;
}
