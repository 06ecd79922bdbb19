/**
 * What the suite asks of a key-value store, whichever it is.
 *
 * Calls that an engine answers synchronously return a value, not a promise:
 * awaiting would add a microtask to a figure of a microsecond.
 *
 * @module
 */

import type { Durability } from "../harness/figure.ts";
import type { Entry, Value } from "./entries.ts";

/** An answer, now or later. */
export type Answer<Result> = Result | Promise<Result>;

/** Nothing to wait for, or a promise that resolves when the write is acknowledged. */
export type Done = Promise<unknown> | undefined;

/** One open store. */
export interface Store {
  readonly durability: Durability;
  /** Bytes of JSON that a value may have; absent: more than the suite writes. */
  readonly valueBytesMax?: number;
  /**
   * Does it have an expiry of its own: `exact` when no read gives an entry whose
   * moment has come, `lazy` when one may, for a while?
   */
  readonly expiry: "exact" | "lazy" | "none";
  get(key: string): Answer<unknown>;
  exists(key: string): Answer<boolean>;
  set(key: string, value: Value): Done;
  /** As {@linkcode set}; the entry ends by itself after `ttlMs`. */
  setExpiring(key: string, value: Value, ttlMs: number): Done;
  delete(key: string): Done;
  /** Writes many, in as few transactions as it can. */
  load(entries: readonly Entry[]): Done;
  /** Entries whose keys begin so, in order of their keys. */
  list(prefix: string): Answer<readonly Listed[]>;
  /** Keys that begin so, in order. */
  keys(prefix: string): Answer<readonly string[]>;
  close(): Done;
}

/** One entry of a list. */
export interface Listed {
  readonly key: string;
  readonly value: unknown;
}

/** How a case will use a store. */
export interface Use {
  /** Operations that are asked for together; 1: each waits for the one before. */
  readonly inFlight: number;
}

/** Several stores of one engine, and what they have in common. */
export interface Stores {
  readonly all: readonly Store[];
  /** Closes all of them. */
  close(): Promise<void>;
}

/** The first text behind all that begin with `prefix`, which ends in an ASCII character. */
export function endOf(prefix: string): string {
  const last = prefix.length - 1;
  return prefix.slice(0, last) +
    String.fromCharCode(prefix.charCodeAt(last) + 1);
}

/** Thrown into the door of a store that has no expiry; the suite never asks it. */
export function noExpiry(): never {
  throw new TypeError("this engine has no expiry of its own");
}
