/**
 * Names of collections and fields, and item ids: which ones are allowed, and
 * how new ids are made.
 *
 * Architecture invariant: no name that JavaScript gives a meaning of its own
 * becomes a property of an item, whoever wrote it.
 */

import { DatabaseError } from "../base/errors.ts";
import { limits } from "../base/limits.ts";
import type { World } from "../base/world.ts";

const FIELD = /^[A-Za-z][A-Za-z0-9_]{0,63}$/;
const COLLECTION = /^[A-Za-z][A-Za-z0-9_-]{0,63}$/;
// deno-lint-ignore no-control-regex -- control characters are what it looks for
const CONTROL = /[\u0000-\u001f\u007f-\u009f]/;

const RESERVED: ReadonlySet<string> = new Set([
  "id",
  "then",
  "toJSON",
  "prototype",
  "and",
  "or",
  "not",
  ...Object.getOwnPropertyNames(Object.prototype),
]);

export function isFieldName(name: string): boolean {
  return FIELD.test(name) && !RESERVED.has(name);
}

export function isCollectionName(name: unknown): name is string {
  return typeof name === "string" && COLLECTION.test(name);
}

export function textBytes(text: string): number {
  let bytes = text.length;
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    if (unit < 0x80) continue;
    // A surrogate pair is two units and four bytes.
    bytes += unit < 0x800 || (unit >= 0xd800 && unit < 0xe000) ? 1 : 2;
  }
  return bytes;
}

/** Is the string over `bytesMax` UTF-8 bytes? Counts only when it may be. */
export function isLongerThan(text: string, bytesMax: number): boolean {
  if (text.length * 3 <= bytesMax) return false;
  return text.length > bytesMax || textBytes(text) > bytesMax;
}

/** Why a string is no item id; `undefined` when it is one. */
export function itemIdFault(id: string): string | undefined {
  if (id.length === 0) return "it is empty";
  if (isLongerThan(id, limits.idBytesMax)) {
    return `it is over ${limits.idBytesMax} bytes`;
  }
  if (!id.isWellFormed()) return "it has a lone surrogate";
  if (CONTROL.test(id)) return "it has a control character";
}

/** An item id; `invalid-id` when the value cannot be one. */
export function parseItemId(value: unknown): string {
  const fault = typeof value === "string"
    ? itemIdFault(value)
    : "it is not a string, such as an item's `id`";
  if (fault === undefined) return value as string; // What is none has a fault.
  throw new DatabaseError(
    "invalid-id",
    `Cannot use ${
      show(value)
    } as an id or a key: ${fault}. Use 1 to ${limits.idBytesMax} bytes of printable text.`,
  );
}

/** What is often given in the place of something else. */
const classes = [
  [Array, "an array"],
  [Date, "a Date"],
  [Map, "a Map"],
  [Set, "a Set"],
  [Uint8Array, "a Uint8Array"],
  [Promise, "a promise: await it"],
] as const;

/** A value as an error message shows it: short, and without running its code. */
export function show(value: unknown): string {
  if (typeof value === "string") {
    return JSON.stringify(value.length > 40 ? value.slice(0, 40) + "…" : value);
  }
  if (value === null || value === undefined) return String(value);
  if (typeof value === "object") {
    const known = classes.find(([made]) => value instanceof made);
    return known?.[1] ?? "an object";
  }
  if (typeof value === "bigint") return `${value}n`;
  return typeof value === "function" ? "a function" : String(value);
}

const ALPHABET =
  "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const TIME_CHARACTERS = 8;
const RANDOM_CHARACTERS = 12;
const POOL_BYTES = RANDOM_CHARACTERS * 64;

/**
 * Makes ids of 20 characters: 8 of time, so that they sort by their creation,
 * and 12 of chance (71 bits).
 */
export class IdSource {
  readonly #world: World;
  readonly #pool = new Uint8Array(POOL_BYTES);
  readonly #codes: number[] = new Array(RANDOM_CHARACTERS).fill(0);
  #used = POOL_BYTES;
  #timeMs = -1;
  #time = "";

  constructor(world: World) {
    this.#world = world;
  }

  next(): string {
    const nowMs = this.#world.now();
    if (nowMs !== this.#timeMs) {
      this.#timeMs = nowMs;
      this.#time = encodeTime(nowMs);
    }
    return this.#time + this.#chance();
  }

  #chance(): string {
    if (this.#used === POOL_BYTES) {
      this.#world.random(this.#pool);
      this.#used = 0;
    }
    const start = this.#used;
    this.#used = start + RANDOM_CHARACTERS;
    const codes = this.#codes;
    for (let i = 0; i < RANDOM_CHARACTERS; i++) {
      codes[i] = ALPHABET.charCodeAt(this.#pool[start + i]! % ALPHABET.length);
    }
    // One flat string: pieces joined one by one would stay a tree.
    return String.fromCharCode(...codes);
  }
}

function encodeTime(ms: number): string {
  let rest = Math.max(0, Math.floor(ms));
  let text = "";
  for (let i = 0; i < TIME_CHARACTERS; i++) {
    text = ALPHABET[rest % ALPHABET.length] + text;
    rest = Math.floor(rest / ALPHABET.length);
  }
  return text;
}
