/**
 * CRC-32 (ISO-HDLC: the one of zlib, PNG and Ethernet), reflected polynomial
 * 0xEDB88320. Detects accidents, not attacks.
 */

import { allowance, native } from "./system.ts";

/**
 * Tables for a byte that stands before 0 to 7 others ("slicing by 8", Kounavis
 * and Berry, 2005). Signed, as half of the unsigned ones are objects to code
 * that is not compiled yet.
 */
const TABLES = /* @__PURE__ */ makeTables();

function makeTables(): Int32Array {
  const tables = new Int32Array(8 * 256);
  // Sums of bits are sums of their tables: one step for each byte in place of eight.
  for (let bit = 128, sum = 1; bit > 0; bit >>>= 1) {
    sum = sum & 1 ? (sum >>> 1) ^ 0xedb88320 : sum >>> 1;
    for (let i = 0; i < 256; i += 2 * bit) tables[bit + i] = sum ^ tables[i]!;
  }
  for (let i = 256; i < tables.length; i++) {
    const before = tables[i - 256]!;
    tables[i] = tables[before & 0xff]! ^ (before >>> 8);
  }
  return tables;
}

export function crc32Portable(bytes: Uint8Array, seed = 0): number {
  const t = TABLES;
  let crc = ~seed;
  let i = 0;
  for (const end = bytes.length - 7; i < end; i += 8) {
    const a = crc ^ (bytes[i]! | bytes[i + 1]! << 8 |
      bytes[i + 2]! << 16 | bytes[i + 3]! << 24);
    crc = t[1792 + (a & 0xff)]! ^ t[1536 + (a >>> 8 & 0xff)]! ^
      t[1280 + (a >>> 16 & 0xff)]! ^ t[1024 + (a >>> 24)]! ^
      t[768 + bytes[i + 4]!]! ^ t[512 + bytes[i + 5]!]! ^
      t[256 + bytes[i + 6]!]! ^ t[bytes[i + 7]!]!;
  }
  for (; i < bytes.length; i++) {
    crc = t[(crc ^ bytes[i]!) & 0xff]! ^ (crc >>> 8);
  }
  return ~crc >>> 0;
}

/** Bytes that are summed here before zlib is loaded: they take about as long as its loading. */
const isLittle = /* @__PURE__ */ allowance(16 * 1024 * 1024);

/** Checksum of `bytes`; `seed` continues an earlier checksum. */
export function crc32(bytes: Uint8Array, seed = 0): number {
  return isLittle(bytes.length) || native.zlib === undefined
    ? crc32Portable(bytes, seed)
    : native.zlib.crc32(bytes, seed);
}
