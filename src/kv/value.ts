/**
 * Values of the key-value face as callers give them: checked, copied, frozen.
 *
 * A copy reads each property once, so an accessor cannot show one value to the
 * check and another to the store. What JSON can say is kept as JSON; what it
 * cannot (dates, bytes, whole numbers of any size, maps, sets, what is not
 * finite, what is undefined inside) is told apart here and encoded in `codec.ts`.
 *
 * Architecture invariant: nothing from outside is unbounded (law 10): a value has
 * a greatest size and a greatest depth.
 */

import { DatabaseError } from "../base/errors.ts";
import { limits } from "../base/limits.ts";
import { setOwn } from "../schema/json.ts";
import { isLongerThan, show } from "../schema/names.ts";

/**
 * What can be kept under a key. Objects are plain ones; arrays, objects, maps
 * and sets nest up to `limits.jsonDepthMax` deep.
 */
export type KvValue =
  | null
  | boolean
  | number
  | bigint
  | string
  | Date
  | Uint8Array
  | readonly KvPart[]
  | { readonly [key: string]: KvPart }
  | ReadonlyMap<KvPart, KvPart>
  | ReadonlySet<KvPart>;

/** What can stand inside a value: also `undefined`. */
export type KvPart = KvValue | undefined;

/**
 * What a store of values of type `T` holds: `T`, read-only all the way down. What
 * cannot be kept (functions, instances of other classes) fits nothing.
 */
export type KvOf<T> = Exclude<Frozen<T>, undefined>;

type Frozen<T> = [KvValue] extends [T] ? T
  : T extends Leaf ? T
  : T extends symbol | ((...given: never[]) => unknown) ? never
  : T extends ReadonlyMap<infer K, infer V> ? ReadonlyMap<Frozen<K>, Frozen<V>>
  : T extends ReadonlySet<infer V> ? ReadonlySet<Frozen<V>>
  : { readonly [Key in keyof T]: Frozen<T[Key]> };

type Leaf =
  | null
  | undefined
  | boolean
  | number
  | bigint
  | string
  | Date
  | Uint8Array;

export interface CopiedValue {
  /** Frozen; dates, bytes, maps and sets in it are our own. */
  readonly value: KvValue;
  readonly isJson: boolean;
}

/** A deep copy of a value; `invalid-value` or `value-too-large` when it cannot be kept. */
export function copyIn(value: unknown): CopiedValue {
  const copier = new Copier();
  if (value === undefined) {
    invalid("undefined is no value: use delete() to take an entry away");
  }
  const copy = copier.copy(value, 0) as KvValue;
  const { isJson } = copier;
  // Escapes make a character six bytes at most: only what may be too large is measured.
  if (isJson && copier.bytesMost > limits.kvValueBytesMax) {
    const text = JSON.stringify(copy);
    if (isLongerThan(text, limits.kvValueBytesMax)) tooLarge();
  }
  return { value: copy, isJson };
}

function invalid(why: string): never {
  throw new DatabaseError("invalid-value", `Cannot keep this value: ${why}.`);
}

export function tooLarge(): never {
  throw new DatabaseError(
    "value-too-large",
    `Cannot keep this value: it is over ${limits.kvValueBytesMax} bytes. Split it over several keys.`,
  );
}

class Copier {
  /** Can JSON say all that was met so far? */
  isJson = true;
  /** It takes at most so many bytes as JSON. */
  bytesMost = 0;
  /** It takes at least so many bytes, however it is encoded. */
  #bytesLeast = 0;

  copy(value: unknown, depth: number): KvPart {
    this.#count(1, 24);
    switch (typeof value) {
      case "string":
        return this.#text(value);
      case "number":
        if (!Number.isFinite(value)) this.isJson = false;
        return value === 0 ? 0 : value;
      case "boolean":
        return value;
      case "undefined":
        this.isJson = false;
        return undefined;
      case "bigint":
        return this.#bigint(value);
      case "object":
        return value === null ? null : this.#object(value, depth);
      default:
        return invalid(`it holds ${show(value)}`);
    }
  }

  #count(least: number, most: number): void {
    this.bytesMost += most;
    this.#bytesLeast += least;
    if (this.#bytesLeast > limits.kvValueBytesMax) tooLarge();
  }

  #text(text: string): string {
    this.#count(text.length, text.length * 6);
    return text.isWellFormed() ? text : invalid("it has a lone surrogate");
  }

  #bigint(value: bigint): bigint {
    this.isJson = false;
    // Digits are not counted: making them costs more than the limit is worth.
    const isSmall = BigInt.asIntN(limits.kvIntegerBytesMax * 8, value) ===
      value;
    if (isSmall) return value;
    return invalid(`a bigint is over ${limits.kvIntegerBytesMax} bytes`);
  }

  #object(value: object, depth: number): KvPart {
    if (value instanceof Date) return this.#date(value);
    if (value instanceof Uint8Array) {
      this.isJson = false;
      this.#count(value.length, 0);
      return new Uint8Array(value);
    }
    if (depth >= limits.jsonDepthMax) {
      return invalid(
        `it is nested over ${limits.jsonDepthMax} deep, or holds itself`,
      );
    }
    if (Array.isArray(value)) return this.#array(value, depth);
    if (value instanceof Map) return this.#map(value, depth);
    if (value instanceof Set) return this.#set(value, depth);
    return this.#record(value, depth);
  }

  #date(value: Date): Date {
    this.isJson = false;
    const ms = Date.prototype.getTime.call(value);
    return Number.isNaN(ms) ? invalid("a Date is invalid") : new Date(ms);
  }

  #array(value: readonly unknown[], depth: number): KvPart {
    const { length } = value;
    this.#count(length, 0);
    const copy: KvPart[] = new Array(length);
    for (let i = 0; i < length; i++) copy[i] = this.copy(value[i], depth + 1);
    return Object.freeze(copy);
  }

  #map(value: ReadonlyMap<unknown, unknown>, depth: number): KvPart {
    this.isJson = false;
    const copy = new Map<KvPart, KvPart>();
    for (const [key, inner] of value) {
      copy.set(this.copy(key, depth + 1), this.copy(inner, depth + 1));
    }
    return copy;
  }

  #set(value: ReadonlySet<unknown>, depth: number): KvPart {
    this.isJson = false;
    const copy = new Set<KvPart>();
    for (const inner of value) copy.add(this.copy(inner, depth + 1));
    return copy;
  }

  #record(value: object, depth: number): KvPart {
    const prototype = Object.getPrototypeOf(value);
    if (prototype !== null && Object.getPrototypeOf(prototype) !== null) {
      return invalid(
        "it holds an object with a class, such as a promise. Plain objects, arrays, Date, Map, Set and Uint8Array can be kept",
      );
    }
    const copy: Record<string, KvPart> = {};
    const given = value as Readonly<Record<string, unknown>>;
    // Not by entries: an array and an iteration for each of them.
    const keys = ascending(Object.keys(value));
    for (let i = 0; i < keys.length; i++) {
      const key = this.#text(keys[i]!);
      setOwn(copy, key, this.copy(given[key], depth + 1));
    }
    return Object.freeze(copy);
  }
}

/** The same keys in ascending order, as every replica shows them. */
function ascending(keys: string[]): string[] {
  for (let i = 1; i < keys.length; i++) {
    if (keys[i - 1]! > keys[i]!) return keys.sort();
  }
  return keys;
}
