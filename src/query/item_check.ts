/** Conditions asked of an item: compiled once into a chain of closures. */

import type { Item, Value } from "../schema/patch.ts";
import {
  type Condition,
  type Contains,
  type Equal,
  keyMatches,
  type Leaf,
} from "./condition.ts";
import { isText, keyOf, sameScalar } from "./value.ts";

export type ItemTest = (item: Item) => boolean;

export function compileItemTests(
  parts: readonly Condition[],
): ItemTest | undefined {
  if (parts.length === 0) return undefined;
  return compileAll(parts);
}

function compileAll(parts: readonly Condition[]): ItemTest {
  if (parts.length === 1) return compileItemTest(parts[0]!);
  const tests = parts.map(compileItemTest);
  return (item) => {
    for (let i = 0; i < tests.length; i++) if (!tests[i]!(item)) return false;
    return true;
  };
}

export function compileItemTest(condition: Condition): ItemTest {
  switch (condition.what) {
    case "all":
      return compileAll(condition.parts);
    case "any": {
      const tests = condition.parts.map(compileItemTest);
      return (item) => {
        for (let i = 0; i < tests.length; i++) {
          if (tests[i]!(item)) return true;
        }
        return false;
      };
    }
    case "not": {
      const test = compileItemTest(condition.part);
      return (item) => !test(item);
    }
    case "predicate":
      return condition.test;
    case "equal":
      return compileEqual(condition);
    case "contains":
      return isText(condition.kind)
        ? compileLeaf(condition)
        : compileContains(condition);
    default:
      return compileLeaf(condition);
  }
}

function compileLeaf(leaf: Leaf): ItemTest {
  const { field, kind } = leaf;
  return (item) => keyMatches(leaf, keyOf(kind, item[field]));
}

/** Equality of strings and numbers needs no key. */
function compileEqual(equal: Equal): ItemTest {
  const { field, kind, key } = equal;
  if (key !== undefined && (isText(kind) || kind === "number")) {
    return (item) => item[field] === key;
  }
  if (kind === "boolean" && key !== undefined) {
    const flag = key === 1;
    return (item) => item[field] === flag;
  }
  return (item) => keyOf(kind, item[field]) === key;
}

function compileContains({ field, kind, value }: Contains): ItemTest {
  if (kind === "map") {
    return (item) => hasKey(item[field], String(value));
  }
  return (item) => hasElement(item[field], value);
}

function hasKey(map: Value, key: string): boolean {
  return typeof map === "object" && map !== null && !Array.isArray(map) &&
    Object.hasOwn(map, key);
}

function hasElement(list: Value, value: Value): boolean {
  if (!Array.isArray(list)) return false;
  for (const element of list) if (sameScalar(element, value)) return true;
  return false;
}
