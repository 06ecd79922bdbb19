import { deepEqual, equal, ok } from "node:assert/strict";
import fc from "fast-check";
import { concatBytes } from "../../src/base/bytes.ts";
import { crc32 } from "../../src/base/crc32.ts";
import { memoryStorage } from "../../src/storage/memory_storage.ts";
import {
  isRecordKind,
  readU32,
  RECORD_HEADER_BYTES,
  recordSeed,
  writeRecordHeader,
} from "./format.ts";
import { findRecords, type FoundRecord } from "./search.ts";
import { Segment } from "./segment.ts";

Deno.test("findRecords() finds what a naive search finds", () => {
  const records = fc.array(
    fc.record({
      gap: fc.uint8Array({ maxLength: 40 }),
      size: fc.nat(3_000),
      kind: fc.constantFrom(1, 3, 0x82, 0x84),
      isBroken: fc.boolean(),
    }),
    { maxLength: 8 },
  );
  fc.assert(
    fc.property(records, (records) => {
      const { segment, image, wanted } = scatter(records);
      const found: FoundRecord[] = [];
      const { limit } = segment;
      equal(findRecords(segment, 64, limit, (one) => !found.push(one)), true);
      deepEqual(found, naiveSearch(segment, image));
      ok(wanted.every((at) => found.some(({ address }) => address === at)));
    }),
    { seed: 7, numRuns: 150 },
  );
});

Deno.test("findRecords() stops when told to, and gives up when told to", () => {
  const one = { gap: new Uint8Array(0), size: 20, kind: 4, isBroken: false };
  const { segment } = scatter(Array.from({ length: 30 }, () => one));
  let count = 0;
  const next = () => ++count === 10;
  equal(findRecords(segment, 64, segment.limit, next), true);
  equal(count, 10);
  equal(findRecords(segment, 64, segment.limit, () => false, 29), false);
  equal(findRecords(segment, 64, segment.limit, () => false, 30), true);
});

interface Scattered {
  readonly gap: Uint8Array;
  readonly size: number;
  readonly kind: number;
  readonly isBroken: boolean;
}

/** A segment with records among other bytes, and where the bodies of whole ones are. */
function scatter(
  records: readonly Scattered[],
): { segment: Segment; image: Uint8Array; wanted: number[] } {
  const header = { index: 0, base: 0, salt: Uint8Array.of(1, 2, 3) };
  const file = memoryStorage().open("file", { create: true })!;
  const segment = new Segment(file, header, 0);
  const parts: Uint8Array[] = [new Uint8Array(64)];
  const wanted: number[] = [];
  let at = 64;
  for (const { gap, size, kind, isBroken } of records) {
    at += gap.length;
    const record = new Uint8Array(RECORD_HEADER_BYTES + size).fill(kind);
    const body = record.subarray(RECORD_HEADER_BYTES);
    const seed = recordSeed(segment.saltCrc, at, size, kind);
    writeRecordHeader(record, size, crc32(body, seed), kind);
    if (isBroken) record[4]! ^= 1;
    else wanted.push(at + RECORD_HEADER_BYTES);
    parts.push(gap, record);
    at += record.length;
  }
  const image = concatBytes(...parts);
  file.writeAt(image, 0);
  segment.size = image.length;
  return { segment, image, wanted };
}

function naiveSearch(segment: Segment, image: Uint8Array): FoundRecord[] {
  const found: FoundRecord[] = [];
  for (let at = 64; at + RECORD_HEADER_BYTES <= image.length; at++) {
    const length = readU32(image, at);
    const kind = image[at + 8]!;
    const address = at + RECORD_HEADER_BYTES;
    if (!isRecordKind(kind) || address + length > image.length) continue;
    const body = image.subarray(address, address + length);
    const seed = recordSeed(segment.saltCrc, at, length, kind);
    if (crc32(body, seed) !== readU32(image, at + 4)) continue;
    found.push({ kind: kind & 0x7f, marked: kind >= 0x80, address, length });
    at += RECORD_HEADER_BYTES + length - 1;
  }
  return found;
}

Deno.test("recordSeed() depends on salt, address, length and kind", () => {
  const seeds = new Set<number>();
  for (const salt of [1, 2]) {
    for (const address of [0, 1, 2 ** 32, 2 ** 40]) {
      for (const length of [0, 5, 2 ** 24]) {
        for (const kind of [1, 0x81]) {
          seeds.add(recordSeed(salt, address, length, kind));
        }
      }
    }
  }
  equal(seeds.size, 48);
});
