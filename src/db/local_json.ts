/**
 * Plain data in a small file of one repository, as JSON.
 *
 * ```text
 * crc32 u32 of what follows | genesis id {32} | JSON
 * ```
 *
 * Dates, bytes and stamps stand as objects with one key that begins with `$`;
 * an object of the app with such a key is written as pairs.
 *
 * Architecture invariant: what is damaged, or another repository's, is as if it
 * were not there (law 5).
 */

import {
  ByteReader,
  ByteWriter,
  concatBytes,
  decodeText,
  encodeText,
  equalBytes,
  fromHex,
  toHex,
} from "../base/bytes.ts";
import { crc32 } from "../base/crc32.ts";

const HEAD_BYTES = 4 + 32;

export function encodeLocal(
  text: string,
  genesisId: Uint8Array,
): Uint8Array<ArrayBuffer> {
  const body = concatBytes(genesisId, encodeText(text));
  const head = new ByteWriter(4);
  head.u32(crc32(body));
  return concatBytes(head.view(), body);
}

/** Parses such a file by `read`, which throws at what it does not know; `undefined` where it is of no use. */
export function decodeLocal<T>(
  bytes: Uint8Array,
  genesisId: Uint8Array,
  read: (json: Readonly<Record<string, unknown>>) => T,
): T | undefined {
  if (bytes.length < HEAD_BYTES) return undefined;
  const body = bytes.subarray(4);
  const isOurs = new ByteReader(bytes).u32() === crc32(body) &&
    equalBytes(body.subarray(0, 32), genesisId);
  if (!isOurs) return undefined;
  try {
    return read(JSON.parse(decodeText(body.subarray(32))));
  } catch {
    return undefined;
  }
}

/** A value as JSON has it; the chains of its stamps are added to `chains`. */
export function pack(value: unknown, chains: string[]): unknown {
  if (value instanceof Date) return { $d: value.getTime() };
  if (value instanceof Uint8Array) return { $b: toHex(value) };
  if (Array.isArray(value)) return value.map((part) => pack(part, chains));
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value);
  if (isStamp(value, entries.length)) {
    let at = chains.indexOf(value.chain);
    if (at < 0) at = chains.push(value.chain) - 1;
    return { $s: [value.wall, value.count, at] };
  }
  const packed = entries.map(([key, part]) =>
    [key, pack(part, chains)] as const
  );
  return entries.some(([key]) => key.startsWith("$"))
    ? { $o: packed }
    : Object.fromEntries(packed);
}

function isStamp(
  value: object,
  length: number,
): value is { wall: number; count: number; chain: string } {
  return length === 3 && "wall" in value && "count" in value &&
    "chain" in value && typeof value.chain === "string";
}

/** The value that {@linkcode pack} was given. */
export function unpack(value: unknown, chains: readonly string[]): unknown {
  if (Array.isArray(value)) return value.map((part) => unpack(part, chains));
  if (typeof value !== "object" || value === null) return value;
  if ("$d" in value) return new Date(Number(value.$d));
  if ("$b" in value) return fromHex(String(value.$b));
  if ("$s" in value && Array.isArray(value.$s)) {
    const [wall, count, at] = value.$s;
    return {
      wall: Number(wall),
      count: Number(count),
      chain: String(chains[at]),
    };
  }
  const entries = "$o" in value && Array.isArray(value.$o)
    ? value.$o
    : Object.entries(value);
  return Object.freeze(
    Object.fromEntries(
      entries.map(([key, part]) => [key, unpack(part, chains)]),
    ),
  );
}
