/**
 * Explicit changes of a counter, set, map or list, told apart from whole values.
 *
 * @module
 */

import { isPlainObject } from "./validate.ts";

/** What preparing lists needs. */
export interface ElementIds {
  /** An id for a list element, unlike all others. */
  elementId(): string;
}

type Parts = Readonly<Record<string, unknown>>;

/**
 * Explicit changes: a plain object whose keys are all names of changes, each
 * property read once. Anything else is meant as a whole value.
 */
export function explicitParts(
  given: unknown,
  names: readonly string[],
): Parts | undefined {
  if (!isPlainObject(given)) return undefined;
  const keys = Object.keys(given);
  if (keys.length === 0) return undefined;
  if (!keys.every((key) => names.includes(key))) return undefined;
  return Object.assign(Object.create(null), given);
}
