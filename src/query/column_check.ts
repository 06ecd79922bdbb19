/**
 * Conditions asked of columns: a closure per ordinal, for what is not plain.
 *
 * Words are few and ordinals many, so a condition on words is answered once
 * per word and looked up per ordinal.
 */

import { type Condition, keyMatches, type Leaf } from "./condition.ts";
import type { Column, WordColumn } from "../schema/source.ts";
import { isNumeric, type Key } from "./value.ts";

export type OrdinalTest = (ordinal: number) => boolean;

export type ColumnOf = (field: string) => Column | undefined;

/** Can columns answer a condition? `id` and rich fields have none. */
export function isColumnar(condition: Condition, has: ColumnOf): boolean {
  switch (condition.what) {
    case "predicate":
      return false;
    case "all":
    case "any":
      return condition.parts.every((part) => isColumnar(part, has));
    case "not":
      return isColumnar(condition.part, has);
    default:
      return fits(condition, has(condition.field));
  }
}

/** Has the column the keys that the leaf speaks of? */
function fits(leaf: Leaf, column: Column | undefined): boolean {
  if (column === undefined) return false;
  if (column.kind === "number") return isNumeric(leaf.kind);
  return !isNumeric(leaf.kind) && leaf.kind !== "bytes";
}

export function compileOrdinalTest(
  condition: Condition,
  columnOf: ColumnOf,
): OrdinalTest {
  switch (condition.what) {
    case "predicate":
      throw new Error("Assertion failed: a function has no column");
    case "all": {
      const tests = condition.parts.map((p) => compileOrdinalTest(p, columnOf));
      return (ordinal) => {
        for (let i = 0; i < tests.length; i++) {
          if (!tests[i]!(ordinal)) return false;
        }
        return true;
      };
    }
    case "any": {
      const tests = condition.parts.map((p) => compileOrdinalTest(p, columnOf));
      return (ordinal) => {
        for (let i = 0; i < tests.length; i++) {
          if (tests[i]!(ordinal)) return true;
        }
        return false;
      };
    }
    case "not": {
      const test = compileOrdinalTest(condition.part, columnOf);
      return (ordinal) => !test(ordinal);
    }
    default:
      return compileLeaf(condition, columnOf(condition.field)!);
  }
}

function compileLeaf(leaf: Leaf, column: Column): OrdinalTest {
  if (column.kind === "word") {
    const { codes } = column;
    const table = wordTable(leaf, column);
    return (ordinal) => table[codes[ordinal]!] === 1;
  }
  const { values } = column;
  return (ordinal) => keyMatches(leaf, numberKey(values[ordinal]!));
}

function numberKey(value: number): Key {
  return value === value ? value : undefined;
}

/** 1 at the codes of words that satisfy a leaf. */
export function wordTable(leaf: Leaf, column: WordColumn): Uint8Array {
  const { words } = column;
  const table = new Uint8Array(words.length);
  if (leaf.what === "equal" || leaf.what === "in") {
    const keys = leaf.what === "in" ? leaf.keys : [leaf.key];
    for (const key of keys) {
      if (key === undefined) table[0] = 1;
      else if (typeof key === "string") {
        const code = column.codeOf(key);
        if (code !== undefined) table[code] = 1;
      }
    }
    return table;
  }
  for (let i = 0; i < words.length; i++) {
    if (keyMatches(leaf, words[i])) table[i] = 1;
  }
  return table;
}

/** Bounds of a number leaf, both inclusive; `undefined` when it has none. */
export function numberBounds(
  leaf: Leaf,
): { low: number; high: number } | undefined {
  if (leaf.what === "equal" && typeof leaf.key === "number") {
    return { low: leaf.key, high: leaf.key };
  }
  if (leaf.what !== "range") return undefined;
  const { low, high } = leaf;
  return {
    low: typeof low !== "number"
      ? -Infinity
      : leaf.lowOpen
      ? nextNumber(low, 1)
      : low,
    high: typeof high !== "number"
      ? Infinity
      : leaf.highOpen
      ? nextNumber(high, -1)
      : high,
  };
}

const cell = new Float64Array(1);
const bits = new BigInt64Array(cell.buffer);

/** The nearest number above (1) or below (-1): makes an open bound inclusive. */
function nextNumber(value: number, way: 1 | -1): number {
  if (value === Infinity * way) return NaN;
  if (value === 0) return way * Number.MIN_VALUE;
  if (value === -Infinity * way) return -way * Number.MAX_VALUE;
  cell[0] = value;
  bits[0] = bits[0]! + (value > 0 === way > 0 ? 1n : -1n);
  return cell[0];
}
