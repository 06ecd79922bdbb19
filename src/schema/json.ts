/**
 * JSON values: copied in, frozen, bounded, and compared.
 *
 * A copy reads each property once, so an accessor cannot show one value to the
 * check and another to the store. Negative zero becomes zero, since JSON text
 * cannot tell them apart. A key named `__proto__` stays an own property.
 *
 * @module
 */

import { limits } from "../base/limits.ts";
import type { Value } from "./patch.ts";

type Json = Exclude<Value, undefined | Date | Uint8Array>;

/** Reports what is wrong with a JSON value; never returns. */
export type Complain = (why: string) => never;

/** A frozen deep copy of what JSON can say; complains about anything else. */
export function copyJson(value: unknown, complain: Complain, depth = 0): Json {
  switch (typeof value) {
    case "string":
      return value.isWellFormed() ? value : complain("it has a lone surrogate");
    case "number":
      if (!Number.isFinite(value)) return complain(`${value} is not JSON`);
      return value === 0 ? 0 : value;
    case "boolean":
      return value;
    case "object":
      if (value === null) return null;
      if (depth >= limits.jsonDepthMax) {
        return complain(
          `it is nested over ${limits.jsonDepthMax} deep or cyclic`,
        );
      }
      if (Array.isArray(value)) return copyArray(value, complain, depth);
      return copyRecord(value, complain, depth);
    default:
      return complain(`${typeof value} is not JSON`);
  }
}

function copyArray(
  value: readonly unknown[],
  complain: Complain,
  depth: number,
): Json {
  const { length } = value;
  if (length > limits.valueBytesMax) return complain("it is too long");
  const copy: Json[] = [];
  for (let i = 0; i < length; i++) {
    copy.push(copyJson(value[i], complain, depth + 1));
  }
  return Object.freeze(copy);
}

function copyRecord(value: object, complain: Complain, depth: number): Json {
  const prototype = Object.getPrototypeOf(value);
  if (prototype !== null && Object.getPrototypeOf(prototype) !== null) {
    return complain("it holds an object with a class");
  }
  const copy: Record<string, Json> = {};
  for (const [key, inner] of Object.entries(value)) {
    if (!key.isWellFormed()) return complain("a key has a lone surrogate");
    setOwn(copy, key, copyJson(inner, complain, depth + 1));
  }
  return Object.freeze(copy);
}

/** Sets an own property, whatever its name. */
function setOwn<T>(target: Record<string, T>, key: string, value: T) {
  if (key !== "__proto__") target[key] = value;
  else {
    Object.defineProperty(target, key, {
      value,
      enumerable: true,
      configurable: true,
      writable: true,
    });
  }
}

/** The frozen value of JSON text; `SyntaxError` when it is none of ours. */
export function parseJson(text: string): Json {
  // Proof: whatever JSON text says is JSON.
  return settle(JSON.parse(text) as Json, 0);
}

/** What was parsed, checked and frozen in its place: a copy would take as much memory again. */
function settle(value: Json, depth: number): Json {
  if (typeof value !== "object" || value === null) {
    return copyJson(value, undecodable);
  }
  if (depth >= limits.jsonDepthMax) undecodable("it is nested too deep");
  if (Array.isArray(value)) {
    for (let i = 0; i < value.length; i++) {
      value[i] = settle(value[i], depth + 1);
    }
  } else {
    // Proof: nobody else has it yet.
    const record = value as Record<string, Json>;
    for (const key of Object.keys(record)) {
      if (!key.isWellFormed()) undecodable("a key has a lone surrogate");
      setOwn(record, key, settle(record[key]!, depth + 1));
    }
  }
  return Object.freeze(value);
}

function undecodable(why: string): never {
  throw new SyntaxError(`Cannot decode JSON: ${why}`);
}

/** Are both the same value, all the way down? Key order does not matter. */
export function equalValues(a: Value, b: Value): boolean {
  if (a === b) return true;
  if (typeof a !== "object" || typeof b !== "object") return false;
  if (a === null || b === null) return false;
  if (a instanceof Date) {
    return b instanceof Date && a.getTime() === b.getTime();
  }
  if (a instanceof Uint8Array || Array.isArray(a)) {
    return a instanceof Uint8Array === b instanceof Uint8Array &&
      equalSequences(a, b);
  }
  return equalRecords(a, b);
}

function equalSequences(
  a: readonly Value[] | Uint8Array,
  b: object,
): boolean {
  if (!Array.isArray(b) && !(b instanceof Uint8Array)) return false;
  if (a.length !== b.length) return false;
  for (let i = 0; i < a.length; i++) {
    if (!equalValues(a[i], b[i])) return false;
  }
  return true;
}

function equalRecords(a: object, b: object): boolean {
  if (b instanceof Date || b instanceof Uint8Array || Array.isArray(b)) {
    return false;
  }
  const left = Object.entries(a);
  if (left.length !== Object.keys(b).length) return false;
  const right = new Map<string, Value>(Object.entries(b));
  return left.every(([key, value]) =>
    right.has(key) && equalValues(value, right.get(key))
  );
}

/** A value that its holder may change without harm. */
export function copyValue(value: Value): Value {
  if (value instanceof Date) return new Date(value.getTime());
  return value instanceof Uint8Array ? value.slice() : value;
}
