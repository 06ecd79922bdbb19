/**
 * What is asked as text, in a normal form: equal for questions that cannot but
 * have the same answer. Conditions that hold together, alternatives and values
 * of an `in` may stand in any order, and more than once.
 */

const functions = new WeakMap<object, number>();
let functionsSeen = 0;

/** Functions have no contents to compare: each is its own. */
function numberOf(test: object): number {
  let number = functions.get(test);
  if (number === undefined) functions.set(test, number = functionsSeen++);
  return number;
}

/** The text of what is asked. What JSON mixes up is told apart. */
export function askedKey(asked: unknown): string {
  return JSON.stringify(asked, normalize);
}

/** `this` has the value as it is: JSON makes a date a text before it asks. */
function normalize(
  this: Readonly<Record<string, unknown>>,
  name: string,
  value: unknown,
): unknown {
  const given = this[name];
  if (given instanceof Date) return { time: given.getTime() };
  if (typeof value === "function") return { test: numberOf(value) };
  if (typeof value === "number" && !Number.isFinite(value)) return [`${value}`];
  if (!Array.isArray(value)) return value;
  if (name === "keys") return value.toSorted();
  return name === "parts" ? inOrder(value) : value;
}

function inOrder(parts: readonly unknown[]): unknown[] {
  const byKey = new Map(parts.map((part) => [askedKey(part), part]));
  return [...byKey.keys()].sort().map((key) => byKey.get(key));
}
