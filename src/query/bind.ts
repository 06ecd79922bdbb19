/**
 * Which part of an index answers some conditions: leading fields bound by
 * equality, each `in` fanning out into several, then at most one range.
 *
 * @module
 */

import {
  type Condition,
  type Equal,
  type In,
  type Prefix,
  type Range,
  textAfter,
} from "./condition.ts";
import type { KeyRange } from "./ordered_index.ts";
import type { Key } from "./value.ts";

/** More ranges than this are no better than a scan. */
const rangesMax = 1_024;

/** What an index can answer. */
export interface Binding {
  readonly ranges: readonly KeyRange[];
  /** Leading fields that have one value in all that is found. */
  readonly single: number;
  /** Conditions that hold for everything in the ranges. */
  readonly used: readonly Condition[];
}

/** Binds conditions, joined by "and", to the leading fields of an index. */
export function bind(
  fields: readonly string[],
  parts: readonly Condition[],
): Binding {
  let prefixes: Key[][] = [[]];
  const used: Condition[] = [];
  let single = 0;
  let at = 0;
  for (; at < fields.length; at++) {
    const leaf = findEqual(parts, fields[at]!);
    if (leaf === undefined) break;
    const keys = leaf.what === "equal" ? [leaf.key] : leaf.keys;
    if (prefixes.length * keys.length > rangesMax) break;
    prefixes = extend(prefixes, keys);
    used.push(leaf);
    if (keys.length === 1 && single === at) single++;
  }
  const range = at < fields.length ? findRange(parts, fields[at]!) : undefined;
  if (range !== undefined) used.push(range);
  const ranges = prefixes.map((prefix) => rangeFrom(prefix, range));
  return { ranges, single, used };
}

function findEqual(
  parts: readonly Condition[],
  field: string,
): Equal | In | undefined {
  for (const part of parts) {
    if (
      (part.what === "equal" || part.what === "in") && part.field === field
    ) return part;
  }
  return undefined;
}

function findRange(
  parts: readonly Condition[],
  field: string,
): Range | Prefix | undefined {
  for (const part of parts) {
    if (
      (part.what === "range" || part.what === "prefix") && part.field === field
    ) return part;
  }
  return undefined;
}

/** An index never holds -Infinity: nothing there equals it. */
function extend(prefixes: readonly Key[][], keys: readonly Key[]): Key[][] {
  const extended: Key[][] = [];
  for (const prefix of prefixes) {
    for (const key of keys) {
      if (key !== -Infinity) extended.push([...prefix, key]);
    }
  }
  return extended;
}

function rangeFrom(
  prefix: readonly Key[],
  leaf: Range | Prefix | undefined,
): KeyRange {
  if (leaf === undefined) {
    return { low: prefix, lowAfter: false, high: prefix, highAfter: true };
  }
  if (leaf.what === "prefix") return textRange(prefix, leaf.text);
  const { low, high } = leaf;
  return {
    // An open start lies behind the absent ones, which no range matches.
    low: [...prefix, low],
    lowAfter: low === undefined || low === -Infinity || leaf.lowOpen,
    high: high === undefined ? prefix : [...prefix, high],
    highAfter: high === undefined || high === -Infinity || !leaf.highOpen,
  };
}

function textRange(prefix: readonly Key[], text: string): KeyRange {
  const end = textAfter(text);
  return {
    low: [...prefix, text],
    lowAfter: false,
    high: end === undefined ? prefix : [...prefix, end],
    highAfter: end === undefined,
  };
}
