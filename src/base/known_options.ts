/**
 * Options that nobody knows: a misspelled one would be overlooked in silence.
 */

import { DatabaseError } from "./errors.ts";

/**
 * Options of which each is known, or `invalid-option`.
 *
 * @param options none, where no option must be given
 * @param known has every option's name
 * @param prefix what they are an option of, with a dot
 */
export function checkOptions<O extends object>(
  options: O = {} as O,
  known: Readonly<Record<keyof O, unknown>>,
  prefix = "",
): O {
  if (typeof options !== "object" || options === null) {
    throw invalid(
      `\`${prefix.slice(0, -1) || "options"}\` must be an object, such as { ${
        Object.keys(known)[0]
      }: … }`,
    );
  }
  for (const name of Object.keys(options)) {
    if (!Object.hasOwn(known, name)) refuse(name, Object.keys(known), prefix);
  }
  return options;
}

type Method = (this: unknown, ...given: unknown[]) => unknown;

const strict = new WeakSet<object>([Object.prototype]);

/**
 * Makes all methods of an object's classes refuse an object behind the values
 * that they take, as options that nobody knows. Where it stands numbers, which
 * `map()` hands over, are none.
 *
 * A method's own options are a parameter without a default, as those that have
 * one are not counted.
 */
export function refuseOptions(owner: object): void {
  const prototype: object = Object.getPrototypeOf(owner);
  if (strict.has(prototype)) return;
  strict.add(prototype);
  refuseOptions(prototype);
  const own: Record<string, PropertyDescriptor> = Object
    .getOwnPropertyDescriptors(prototype);
  for (const [name, property] of Object.entries(own)) {
    const { value } = property;
    if (typeof value === "function" && name !== "constructor") {
      property.value = withoutMore(name, value);
      Object.defineProperty(prototype, name, property);
    }
  }
}

function withoutMore(name: string, method: Method): Method {
  const { length } = method;
  const strictly: Method = function (...given) {
    if (typeof (given[length] ?? 0) !== "object") {
      return method.apply(this, given);
    }
    throw invalid(`${name}() takes neither options nor a list there`);
  };
  return Object.defineProperty(strictly, "length", { value: length });
}

function refuse(name: string, known: readonly string[], prefix: string): never {
  const near = known.find((one) => isNear(name, one));
  const shown = (near === undefined ? known : [near])
    .map((one) => `\`${prefix}${one}\``).join(", ");
  throw invalid(
    `There is no option \`${prefix}${name}\`: ${
      near === undefined ? `use ${shown}` : `did you mean ${shown}?`
    }`,
  );
}

function invalid(message: string): DatabaseError {
  return new DatabaseError("invalid-option", message);
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
