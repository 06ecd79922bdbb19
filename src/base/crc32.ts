/**
 * CRC-32 (ISO-HDLC: the one of zlib, PNG and Ethernet), reflected polynomial
 * 0xEDB88320. Detects accidents, not attacks.
 *
 * @module
 */

import { native } from "./system.ts";

const TABLE = /* @__PURE__ */ makeTable();

function makeTable(): Uint32Array {
  const table = new Uint32Array(256);
  for (let i = 0; i < 256; i++) {
    let rest = i;
    for (let bit = 0; bit < 8; bit++) {
      rest = rest & 1 ? (rest >>> 1) ^ 0xedb88320 : rest >>> 1;
    }
    table[i] = rest;
  }
  return table;
}

/** The portable twin of {@linkcode crc32}. */
export function crc32Portable(bytes: Uint8Array, seed = 0): number {
  let crc = ~seed;
  for (let i = 0; i < bytes.length; i++) {
    crc = TABLE[(crc ^ bytes[i]!) & 0xff]! ^ (crc >>> 8);
  }
  return ~crc >>> 0;
}

/** Checksum of `bytes`; `seed` continues an earlier checksum. */
export const crc32: (bytes: Uint8Array, seed?: number) => number =
  native.crc32 === undefined
    ? crc32Portable
    : (bytes, seed = 0) => native.crc32!(bytes, seed);
