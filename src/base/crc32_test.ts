import { equal } from "node:assert/strict";
import { crc32, crc32Portable } from "./crc32.ts";

/** Bit by bit, as the polynomial is defined. */
function slowly(bytes: Uint8Array, seed: number): number {
  let crc = ~seed;
  for (const byte of bytes) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit++) {
      crc = crc & 1 ? (crc >>> 1) ^ 0xedb88320 : crc >>> 1;
    }
  }
  return ~crc >>> 0;
}

Deno.test("crc32() is the checksum that everybody means", () => {
  const check = new TextEncoder().encode("123456789");
  for (const one of [crc32, crc32Portable]) {
    equal(one(check), 0xcbf43926);
    equal(one(new Uint8Array(0)), 0);
  }
});

Deno.test("crc32Portable() agrees with the definition at every length, place and seed", () => {
  const bytes = Uint8Array.from({ length: 70 }, (_, i) => i * 151 ^ i >> 2);
  for (let from = 0; from < 9; from++) {
    for (let to = from; to <= bytes.length; to++) {
      const part = bytes.subarray(from, to);
      const seed = (to * 0x9e3779b1 >>> 0) * (from & 1);
      equal(crc32Portable(part, seed), slowly(part, seed));
      equal(crc32(part, seed), slowly(part, seed));
      const half = part.length >> 1;
      const first = crc32Portable(part.subarray(0, half), seed);
      equal(crc32Portable(part.subarray(half), first), slowly(part, seed));
    }
  }
});
