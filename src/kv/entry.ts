/**
 * Entries as they are stored: items of a collection, four registers each.
 *
 * Every write of an entry writes all four, so that the last writer wins for the
 * entry as a whole. A delete writes an entry that has expired since 1970, without
 * a value; it does not end the item, because the end of an item would also beat a
 * newer write that somebody else made meanwhile.
 *
 * Architecture invariant: whether an entry is there is a function of its item's
 * life, of one of its numbers and of a moment, and of nothing else: not of what was
 * swept, nor of its value. So a column tells it, and no item has to be made.
 */

import { sha256 } from "../../crypto/sha256.ts";
import { toHex } from "../base/bytes.ts";
import { DatabaseError } from "../base/errors.ts";
import { field } from "../schema/field.ts";
import { parseItemId } from "../schema/names.ts";
import type { Item, Value } from "../schema/patch.ts";
import { defineSchema, type Schema } from "../schema/schema.ts";
import { canonicalBytes, decodeValue } from "./codec.ts";
import type { KvValue } from "./value.ts";

const COLLECTION = "kv";

/** Hexadecimal digits of a digest: 16 bytes. */
const DIGEST_CHARACTERS = 32;

export const absentDigest = "absent";

/** The registers of an entry; a type, because only types are plain objects to others. */
export type Registers = {
  /** A value that JSON can say. */
  readonly value: Value;
  /** Any other value, as `codec.ts` encodes it. */
  readonly data: Uint8Array | undefined;
  /** From this moment on it is not there: milliseconds since 1970; never was, from 0 down. */
  readonly expiresAt: number | undefined;
  /** What a compare-and-set compared with: a digest. */
  readonly expected: string | undefined;
};

/** The registers of a deleted entry. */
export const absent: Registers = {
  value: undefined,
  data: undefined,
  expiresAt: 0,
  expected: undefined,
};

/** The schema of a store's items; `invalid-name` when its name cannot be one. */
export function entrySchema(name: string | undefined): Schema {
  const isName = typeof name === "string" && /^[A-Za-z0-9_-]{1,48}$/.test(name);
  if (name !== undefined && !isName) {
    throw new DatabaseError(
      "invalid-name",
      "A key-value store's name is 1 to 48 letters, digits, _ or -",
    );
  }
  const collection = name === undefined ? COLLECTION : `${COLLECTION}-${name}`;
  return defineSchema(collection, {
    value: field.json<unknown>().optional(),
    data: field.bytes().optional(),
    expiresAt: field.number().optional(),
    expected: field.string().optional(),
  }) as unknown as Schema;
}

/** Stops at a key that is no text: nothing can be under it. */
export function checkKey(key: string): void {
  if (typeof key !== "string") parseItemId(key);
}

/** Do items of this collection mean entries? */
export function isEntryCollection(collection: string): boolean {
  return collection === COLLECTION || collection.startsWith(`${COLLECTION}-`);
}

/** Was a value written, expired or not? Otherwise it was deleted, or is not of ours. */
export function hasValue(item: Item): boolean {
  return item["value"] !== undefined || item["data"] !== undefined;
}

/** When an entry expires, in milliseconds since 1970; `undefined` when never. */
export function expiryOf(item: Item): number | undefined {
  const expiresAt = item["expiresAt"];
  return typeof expiresAt === "number" ? expiresAt : undefined;
}

/** Is the entry there at a moment? One without a value may be: unreadable, until it ends. */
export function isThere(item: Item | undefined, nowMs: number): item is Item {
  return item !== undefined && lasts(item["expiresAt"], nowMs);
}

/**
 * Is an entry that ends then there at a moment? Only a number ends it. A clock
 * that shows a time before 1970 gives back nothing that was deleted.
 */
export function lasts(expiresAt: Value, nowMs: number): boolean {
  return typeof expiresAt !== "number" || expiresAt > Math.max(nowMs, 0);
}

/** What is read of an entry that is there: its value, or why there is none to read. */
export type Reading = { readonly value: KvValue } | {
  readonly unreadable: string;
};

/** Reads the value of an entry that is there: frozen, or the reader's own copy. */
export function readEntry(item: Item): Reading {
  const data = item["data"];
  if (data === undefined) return readJson(item["value"]);
  if (!(data instanceof Uint8Array)) {
    return { unreadable: "its data are not bytes" };
  }
  try {
    return { value: decodeValue(data) };
  } catch (error) {
    if (error instanceof SyntaxError) return { unreadable: error.message };
    throw error;
  }
}

/** Other writers may have put any kind of field there. */
function readJson(value: Value): Reading {
  if (value === undefined) return { unreadable: "it has no value" };
  return value instanceof Date || value instanceof Uint8Array
    ? { unreadable: "its value is not JSON" }
    : { value: value as KvValue };
}

/** The value of an entry that is there; `undefined` when it cannot be read. */
export function valueOf(item: Item): KvValue | undefined {
  // The common case without an object for the answer.
  const { value, data } = item;
  if (data === undefined && typeof value !== "object") {
    return value as KvValue | undefined;
  }
  const reading = readEntry(item);
  return "value" in reading ? reading.value : undefined;
}

/** What names a value in a compare-and-set: equal values have equal digests. */
export function digestOf(value: KvValue | undefined): string {
  if (value === undefined) return absentDigest;
  return toHex(sha256(canonicalBytes(value))).slice(0, DIGEST_CHARACTERS);
}

/**
 * The digest of an entry at a moment.
 *
 * @param digest of one that is there
 */
export function digestOfItem(
  item: Item | undefined,
  nowMs: number,
  digest: (item: Item) => string = digestOfEntry,
): string {
  return isThere(item, nowMs) ? digest(item) : absentDigest;
}

/** The digest of an entry that is there; one that nothing equals when it cannot be read. */
export function digestOfEntry(item: Item): string {
  const reading = readEntry(item);
  return "value" in reading ? digestOf(reading.value) : "unreadable";
}
