/**
 * Bytes of stamps: loaded with what reads and writes whole cells and rich changes.
 */

import type { ByteReader, ByteWriter } from "../base/bytes.ts";
import type { Stamp } from "../base/hlc.ts";
import { limits } from "../base/limits.ts";
import { readCount } from "./value_codec.ts";

/** Bytes of a chain's name: session key and incarnation. */
const chainBytes = 40;
const stampBytes = 8 + chainBytes;

/** Writes a stamp; its chain is 40 characters, one a byte. */
export function writeStamp(w: ByteWriter, stamp: Stamp): void {
  w.u48(stamp.wall);
  w.u16(stamp.count);
  for (let i = 0; i < chainBytes; i++) w.u8(stamp.chain.charCodeAt(i));
}

export function readStamp(r: ByteReader): Stamp {
  const wall = r.u48();
  const count = r.u16();
  const chain = String.fromCharCode(...r.take(chainBytes));
  return { wall, count, chain };
}

export function readStamps(r: ByteReader): Stamp[] {
  const count = readCount(r, limits.elementsMax, stampBytes);
  const stamps: Stamp[] = [];
  for (let i = 0; i < count; i++) stamps.push(readStamp(r));
  return stamps;
}
