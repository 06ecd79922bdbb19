/**
 * What stands first in payloads: their shapes. Nearly always they are those of the
 * payload before, and are read once.
 */

import { ByteReader } from "../../src/base/bytes.ts";
import type { Shape } from "../../src/schema/patch.ts";
import { readShape } from "../../src/schema/shape_codec.ts";

export class PayloadHead<T> {
  readonly #make: (shapes: readonly Shape[]) => T;
  #last = new ByteReader(new Uint8Array(0));
  #made: T;

  constructor(make: (shapes: readonly Shape[]) => T) {
    this.#make = make;
    this.#made = make([]);
  }

  /** Reads the head of the payload at the reader, and goes on to its count of operations. */
  read(reader: ByteReader): T {
    const { bytes, at: start, end } = reader;
    const { length } = this.#last.bytes;
    const behind = start + length;
    if (
      length > 0 && behind <= end &&
      isSame(this.#last.view, 0, reader.view, start, behind)
    ) {
      reader.at = behind;
      return this.#made;
    }
    reader.skip(1);
    const shapes: Shape[] = [];
    for (let left = reader.varint(); left > 0; left--) {
      shapes.push(readShape(reader));
    }
    this.#last = new ByteReader(bytes.slice(start, reader.at));
    return this.#made = this.#make(shapes);
  }
}

/** Are the bytes from `at` on those from `from` to `to` of another view? */
export function isSame(
  ours: DataView,
  at: number,
  theirs: DataView,
  from: number,
  to: number,
): boolean {
  const last = to - 4;
  while (from <= last) {
    if (ours.getUint32(at) !== theirs.getUint32(from)) return false;
    at += 4;
    from += 4;
  }
  while (from < to) {
    if (ours.getUint8(at++) !== theirs.getUint8(from++)) return false;
  }
  return true;
}
