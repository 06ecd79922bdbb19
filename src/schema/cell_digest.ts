/**
 * A cell with nothing left implicit, and the bytes by which two replicas compare
 * what they know of an item.
 */

import { ByteWriter } from "../base/bytes.ts";
import type { Stamp } from "../base/hlc.ts";
import { type Cell, valueIn } from "./cell.ts";
import { DELETED } from "./cell_codec.ts";
import { isRichClass, mergeClassOf } from "./kinds.ts";
import { lateRich } from "./late_rich.ts";
import { stateIn } from "./merge.ts";
import type { RichState } from "./rich_state.ts";
import type { Value } from "./patch.ts";
import { writeStamp } from "./stamp_codec.ts";
import { writeAny } from "./value_codec.ts";

export interface Register {
  readonly stamp: Stamp;
  readonly value: Value;
}

export interface Expanded {
  readonly registers: Map<string, Register>;
  readonly rich: Map<string, RichState>;
}

/** Every field that anybody wrote, with its own stamp or state. */
export function expand(cell: Cell): Expanded {
  const registers = new Map<string, Register>();
  const rich = new Map<string, RichState>(cell.rich);
  for (const [name, stamp] of cell.stamps ?? []) {
    registers.set(name, { stamp, value: valueIn(cell, name) });
  }
  for (const { name, kind } of cell.shape.fields) {
    if (rich.has(name) || registers.has(name)) continue;
    const merge = mergeClassOf(kind);
    if (isRichClass(merge)) rich.set(name, stateIn(cell, name, merge));
    else {
      const value = valueIn(cell, name);
      registers.set(name, { stamp: cell.origin, value });
    }
  }
  return { registers, rich };
}

/**
 * What a cell says, in bytes that do not depend on the order in which its
 * operations came, on where the log holds them, or on the readers' schema.
 */
export function cellDigestBytes(cell: Cell): Uint8Array<ArrayBuffer> {
  const w = new ByteWriter(256);
  w.text(cell.shape.collection);
  w.text(cell.id);
  w.varint(cell.generation);
  w.u8(cell.item === undefined ? DELETED : 0);
  if (cell.item === undefined) return w.copy();
  const { registers, rich } = expand(cell);
  w.varint(registers.size);
  for (const name of [...registers.keys()].sort()) {
    const { stamp, value } = registers.get(name)!;
    w.text(name);
    writeStamp(w, stamp);
    writeAny(w, value);
  }
  w.varint(rich.size);
  for (const name of [...rich.keys()].sort()) {
    w.text(name);
    lateRich.code.writeState(w, rich.get(name)!, writeStamp);
  }
  return w.copy();
}
