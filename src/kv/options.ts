/** What callers ask of a store, and how it is checked. */

import { DatabaseError } from "../base/errors.ts";
import { checkOptions } from "../base/known_options.ts";
import type { World } from "../base/world.ts";
import { show } from "../schema/names.ts";
import { endOfPrefix, type KeyRange } from "./key_index.ts";

/** When an entry ends; at most one of both. */
export interface ExpiryOptions {
  /** So many milliseconds from now, over 0. */
  readonly ttlMs?: number | undefined;
  /** At this moment: milliseconds since 1970, or a date. */
  readonly expiresAt?: number | Date | undefined;
}

/** Which keys a scan gives. All conditions hold together. */
export interface ScanOptions {
  /** Keys that begin so. */
  readonly prefix?: string | undefined;
  /** From this key on, itself included. */
  readonly from?: string | undefined;
  /** Up to this key, itself not included. */
  readonly to?: string | undefined;
  /** Behind this key, in the order of the scan: where the last page ended. */
  readonly after?: string | undefined;
  /** At most this many; all, when absent. */
  readonly limit?: number | undefined;
  /** From the last key to the first. */
  readonly reverse?: boolean | undefined;
}

/** Which entries a subscription is about; all of them, when empty. */
export interface WatchOptions {
  /** The entry of this key. */
  readonly key?: string | undefined;
  /** Entries whose keys begin so. */
  readonly prefix?: string | undefined;
}

const expiryOptions = { ttlMs: 0, expiresAt: 0 };
const scanOptions = {
  prefix: 0,
  from: 0,
  to: 0,
  after: 0,
  limit: 0,
  reverse: 0,
};
const watchOptions = { key: 0, prefix: 0 };

/** Milliseconds that a `Date` can hold. */
const dateMsMax = 8.64e15;

function invalid(why: string): never {
  throw new DatabaseError("invalid-option", why);
}

export function expiryFrom(
  options: ExpiryOptions,
  world: World,
): number | undefined {
  const { ttlMs, expiresAt } = checkOptions(options, expiryOptions);
  if (ttlMs === undefined && expiresAt === undefined) return undefined;
  if (ttlMs !== undefined && expiresAt !== undefined) {
    invalid("Give `ttlMs` or `expiresAt`, not both");
  }
  if (ttlMs !== undefined) {
    if (typeof ttlMs === "number" && ttlMs > 0) {
      const moment = Math.ceil(world.now() + ttlMs);
      if (moment <= dateMsMax) return moment;
    }
    invalid(
      `\`ttlMs\` must be milliseconds over 0 that a Date can hold, not ${
        show(ttlMs)
      }`,
    );
  }
  const moment = expiresAt instanceof Date ? expiresAt.getTime() : expiresAt;
  const isMoment = typeof moment === "number" && Number.isInteger(moment) &&
    Math.abs(moment) <= dateMsMax;
  if (isMoment) return moment + 0;
  invalid(
    "`expiresAt` must be a valid Date, or whole milliseconds since 1970",
  );
}

function textOf(options: object, name: string): string | undefined {
  const value: unknown = Reflect.get(options, name);
  if (value === undefined || typeof value === "string") return value;
  invalid(`\`${name}\` must be text, not ${show(value)}`);
}

export function rangeFrom(given?: ScanOptions): KeyRange {
  const options = checkOptions(given, scanOptions);
  const { limit = Infinity, reverse = false } = options;
  if (limit !== Infinity && !(Number.isInteger(limit) && limit >= 0)) {
    invalid(`\`limit\` must be a whole number from 0 on, not ${show(limit)}`);
  }
  const prefix = textOf(options, "prefix") ?? "";
  let from = later(prefix, textOf(options, "from") ?? "");
  let to = earlier(endOfPrefix(prefix), textOf(options, "to"));
  const after = textOf(options, "after");
  if (after !== undefined) {
    // The first text behind another one is that one and the least character.
    if (reverse) to = earlier(to, after);
    else from = later(from, after + "\0");
  }
  return { from, to, limit, isReverse: reverse === true };
}

function later(a: string, b: string): string {
  return a < b ? b : a;
}

function earlier(
  a: string | undefined,
  b: string | undefined,
): string | undefined {
  if (a === undefined || b === undefined) return a ?? b;
  return a < b ? a : b;
}

export function matcherOf(options: WatchOptions): (key: string) => boolean {
  const key = textOf(checkOptions(options, watchOptions), "key");
  const prefix = textOf(options, "prefix");
  if (key !== undefined && prefix !== undefined) {
    invalid("Give `key` or `prefix`, not both");
  }
  if (key !== undefined) return (one) => one === key;
  return prefix === undefined ? () => true : (one) => one.startsWith(prefix);
}
