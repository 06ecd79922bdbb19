/**
 * Options that nobody knows: a misspelled one would be overlooked in silence.
 */

import { DatabaseError } from "./errors.ts";

/**
 * Options of which each is known, or `invalid-option`.
 *
 * @param known has every option's name
 * @param prefix what they are an option of, with a dot
 */
export function checkOptions<O extends object>(
  options: O,
  known: Readonly<Record<keyof O, unknown>>,
  prefix = "",
): O {
  if (typeof options !== "object" || options === null) {
    throw new DatabaseError(
      "invalid-option",
      `Options must be an object, not ${
        options === null ? null : typeof options
      }`,
    );
  }
  for (const name of Object.keys(options)) {
    if (!Object.hasOwn(known, name)) refuse(name, Object.keys(known), prefix);
  }
  return options;
}

/**
 * Fails where a method that has no options was given some, behind the `count`
 * values that it takes. The number that `map()` hands over is none.
 */
export function checkNoOptions(
  method: string,
  given: ArrayLike<unknown>,
  count: number,
): void {
  if (typeof given[count] !== "object" || given[count] === null) return;
  const message = `${method}() takes no options`;
  throw new DatabaseError("invalid-option", message);
}

function refuse(name: string, known: readonly string[], prefix: string): never {
  const near = known.find((one) => isNear(name, one));
  const shown = (near === undefined ? known : [near])
    .map((one) => `\`${prefix}${one}\``).join(", ");
  throw new DatabaseError(
    "invalid-option",
    `There is no option \`${prefix}${name}\`: ${
      near === undefined ? `use ${shown}` : `did you mean ${shown}?`
    }`,
  );
}

/** Is one the other with something put in, or with two letters changed? */
function isNear(a: string, b: string): boolean {
  const shorter = Math.min(a.length, b.length);
  let [start, end] = [0, 0];
  while (start < shorter && a[start] === b[start]) start++;
  while (end < shorter - start && a.at(-1 - end) === b.at(-1 - end)) end++;
  const same = start + end;
  return same === shorter ||
    same > 2 && same >= Math.max(a.length, b.length) - 2;
}
