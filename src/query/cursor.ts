/**
 * Cursors: a place in an order as opaque text.
 *
 * A cursor holds the ordered values and the id of the row it stands behind, so
 * it stays meaningful when that row changes or goes. It is checked: damaged
 * text, or a cursor of another order, is an `invalid-query`.
 *
 *     base64url( crc32 u32 | UTF-8 of JSON [order, [value, …], id] )
 */

import {
  ByteWriter,
  concatBytes,
  decodeText,
  encodeText,
  fromBase64,
  fromHex,
  toBase64url,
  toHex,
} from "../base/bytes.ts";
import { crc32 } from "../base/crc32.ts";
import type { Item, Value } from "../schema/patch.ts";
import type { DraftItem } from "../schema/schema.ts";
import type { OrderTerm, Place } from "./order.ts";
import { invalidQuery } from "./parse_where.ts";

const crcBytes = 4;

/** Base64url grows text by a third; longer than this no item can be. */
const cursorLengthMax = 1 << 24;

export function placeOf(order: readonly OrderTerm[], item: Item): Place {
  const place: DraftItem = { id: item.id };
  for (let i = 0; i < order.length; i++) {
    const { field } = order[i]!;
    place[field] = item[field];
  }
  return place;
}

export function encodeCursor(order: readonly OrderTerm[], item: Item): string {
  const body = JSON.stringify([
    signature(order),
    order.map(({ field }) => packValue(item[field])),
    item.id,
  ]);
  const bytes = encodeText(body);
  const writer = new ByteWriter(crcBytes);
  writer.u32(crc32(bytes));
  return toBase64url(concatBytes(writer.view(), bytes));
}

/** The place that a cursor of this order stands for. */
export function decodeCursor(
  order: readonly OrderTerm[],
  cursor: string,
): Place {
  try {
    return readPlace(order, parseBody(cursor));
  } catch (cause) {
    if (cause instanceof SyntaxError) throw garbage();
    throw cause;
  }
}

function readPlace(order: readonly OrderTerm[], parsed: unknown): Place {
  if (!Array.isArray(parsed) || parsed.length !== 3) throw garbage();
  const [made, packed, id]: unknown[] = parsed;
  if (typeof id !== "string" || !Array.isArray(packed)) throw garbage();
  if (made !== signature(order) || packed.length !== order.length) {
    throw invalidQuery("Cannot continue: the cursor belongs to another order");
  }
  const values = order.map(({ field }, i) =>
    [field, unpackValue(packed[i])] as const
  );
  return { ...Object.fromEntries(values), id };
}

function parseBody(cursor: string): unknown {
  if (cursor.length > cursorLengthMax) throw garbage();
  const bytes = fromBase64(cursor);
  const body = bytes.subarray(crcBytes);
  const writer = new ByteWriter(crcBytes);
  writer.u32(crc32(body));
  const sum = writer.view();
  if (sum.some((byte, at) => bytes[at] !== byte)) throw garbage();
  return JSON.parse(decodeText(body));
}

function garbage(): Error {
  return invalidQuery(
    "Cannot continue: the cursor is damaged, or is not a cursor",
  );
}

function signature(order: readonly OrderTerm[]): string {
  return order.map((term) => `${term.descending ? "-" : "+"}${term.field}`)
    .join(",");
}

type Packed = readonly [kind: string, text: string];

function packValue(value: Value): Packed {
  if (value instanceof Date) return ["d", String(value.getTime())];
  if (value instanceof Uint8Array) return ["b", toHex(value)];
  switch (typeof value) {
    case "string":
      return ["s", value];
    case "number":
      return ["n", String(value)];
    case "boolean":
      return ["t", value ? "1" : ""];
    default:
      // Lists and objects are all equal in the order.
      return value === undefined ? ["u", ""] : [value === null ? "z" : "o", ""];
  }
}

function unpackValue(packed: unknown): Value {
  if (!Array.isArray(packed) || packed.length !== 2) throw garbage();
  const [kind, text]: unknown[] = packed;
  if (typeof text !== "string") throw garbage();
  switch (kind) {
    case "d":
      return new Date(Number(text));
    case "b":
      return fromHex(text);
    case "s":
      return text;
    case "n":
      return Number(text);
    case "t":
      return text === "1";
    case "u":
      return undefined;
    case "z":
      return null;
    case "o":
      return [];
  }
  throw garbage();
}
