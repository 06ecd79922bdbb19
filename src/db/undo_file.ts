/**
 * The `undo` file of a repository: the steps that can be undone and redone, so
 * that they outlive a reload.
 *
 * ```text
 * crc32 u32 of what follows | genesis id {32} | JSON { chains, done, undone }, newest steps first
 * ```
 *
 * Dates, bytes and stamps stand as objects with one key that
 * begins with `$`; an object of the app with such a key is written as pairs.
 *
 * Architecture invariant: it is a convenience, never a truth: damaged, stale or
 * missing it is as if nothing could be undone.
 *
 * @module
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
import { limits } from "../base/limits.ts";
import type { Mark } from "./undo_marks.ts";

const HEAD_BYTES = 4 + 32;

/** Steps, each with its marks; the newest last. */
export interface KeptSteps {
  readonly done: readonly (readonly Mark[])[];
  readonly undone: readonly (readonly Mark[])[];
}

/** As many of the newest steps as there is room for. */
export function encodeSteps(
  steps: KeptSteps,
  genesisId: Uint8Array,
): Uint8Array {
  const chains: string[] = [];
  let room: number = limits.undoBytesMax;
  const fitting = (list: KeptSteps["done"]) => {
    const parts: string[] = [];
    for (const marks of list.toReversed()) {
      const part = JSON.stringify(pack(marks, chains));
      room -= part.length;
      if (room < 0) break;
      parts.push(part);
    }
    return `[${parts.join()}]`;
  };
  const [done, undone] = [fitting(steps.done), fitting(steps.undone)];
  const text = `{"chains":${
    JSON.stringify(chains)
  },"done":${done},"undone":${undone}}`;
  const body = concatBytes(genesisId, encodeText(text));
  const head = new ByteWriter(4);
  head.u32(crc32(body));
  return concatBytes(head.view(), body);
}

/** Reads them; none where the file is of no use for this repository. */
export function decodeSteps(
  bytes: Uint8Array,
  genesisId: Uint8Array,
): KeptSteps | undefined {
  if (bytes.length < HEAD_BYTES) return undefined;
  const body = bytes.subarray(4);
  const isOurs = new ByteReader(bytes).u32() === crc32(body) &&
    equalBytes(body.subarray(0, 32), genesisId);
  if (!isOurs) return undefined;
  try {
    const { chains, done, undone } = JSON.parse(decodeText(body.subarray(32)));
    const read = (list: unknown) => parseSteps(unpack(list, chains));
    return { done: read(done), undone: read(undone) };
  } catch {
    return undefined;
  }
}

function parseSteps(list: unknown): Mark[][] {
  if (!Array.isArray(list)) throw new SyntaxError("Cannot read steps");
  return list.slice(0, limits.undoStepsMax).reverse().map((marks: unknown) => {
    if (!Array.isArray(marks) || !marks.every(isMark)) {
      throw new SyntaxError("Cannot read a step");
    }
    return marks.map((mark) => ({ ...mark }));
  });
}

/** What each kind of mark has besides what all have, by type. */
const parts: Readonly<Record<Mark["what"], Readonly<Record<string, string>>>> =
  {
    create: {},
    delete: { item: "object", owners: "array" },
    set: { field: "string", key: "string" },
    entry: { field: "string", key: "string" },
    replace: { field: "string", key: "string" },
    move: { field: "string", key: "string", value: "string" },
    increment: { field: "string", amount: "number" },
    add: { field: "string", tags: "array" },
    remove: { field: "string", tags: "array" },
    insert: { field: "string", key: "string" },
    drop: {
      field: "string",
      key: "string",
      position: "string",
      stamps: "array",
    },
    edit: { field: "string", before: "string", after: "string" },
  };

const common = {
  collection: "string",
  id: "string",
  generation: "number",
  stamp: "object",
};

function isMark(value: unknown): value is Mark {
  if (typeof value !== "object" || value === null || !("what" in value)) {
    return false;
  }
  const { what } = value;
  if (typeof what !== "string" || !Object.hasOwn(parts, what)) return false;
  const wanted = { ...common, ...parts[what as Mark["what"]] }; // Proof: it is a key of them.
  return Object.entries(wanted).every(([name, type]) => {
    const part: unknown = Reflect.get(value, name);
    return (Array.isArray(part) ? "array" : typeof part) === type;
  });
}

/** A value of marks as JSON has it. */
function pack(value: unknown, chains: string[]): unknown {
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
function unpack(value: unknown, chains: readonly string[]): unknown {
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
