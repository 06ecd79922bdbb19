/**
 * What stands first in payloads: their shapes. Nearly always they are those of the
 * payload before, and are read once.
 */

import type { ByteReader } from "../../src/base/bytes.ts";
import type { Shape } from "../../src/schema/patch.ts";
import { readShape } from "../../src/schema/shape_codec.ts";

export class PayloadHead<T> {
  readonly #make: (shapes: readonly Shape[]) => T;
  #bytes = new Uint8Array(0);
  #made: T;

  constructor(make: (shapes: readonly Shape[]) => T) {
    this.#make = make;
    this.#made = make([]);
  }

  /** Reads the head of the payload at the reader, and goes on to its count of operations. */
  read(reader: ByteReader): T {
    const { bytes, at: start } = reader;
    const last = this.#bytes;
    let same = 0;
    while (same < last.length && bytes[start + same] === last[same]) same++;
    if (same > 0 && same === last.length) {
      reader.skip(same);
      return this.#made;
    }
    reader.skip(1);
    const shapes: Shape[] = [];
    for (let left = reader.varint(); left > 0; left--) {
      shapes.push(readShape(reader));
    }
    this.#bytes = bytes.slice(start, reader.at);
    return this.#made = this.#make(shapes);
  }
}
