/**
 * Checks of what arrives from other pages: they look whether a structured clone
 * is what it must be, and give it its type. Nothing is copied.
 */

export type Check<T> = (value: unknown) => value is T;

export type Checked<C> = C extends Check<infer T> ? T : never;

export type Fields = Readonly<Record<string, Check<unknown>>>;

type Optional<F extends Fields> = {
  [Name in keyof F]: undefined extends Checked<F[Name]> ? Name : never;
}[keyof F];

/** An object with these fields; those that may be `undefined` may be missing. */
export type Shape<F extends Fields> =
  & { readonly [Name in Exclude<keyof F, Optional<F>>]: Checked<F[Name]> }
  & { readonly [Name in Optional<F>]?: Checked<F[Name]> | undefined };

/** A check by a test that says nothing of types. */
export function by<T>(test: (value: unknown) => boolean): Check<T> {
  return test as Check<T>;
}

export const anything: Check<unknown> = by(() => true);
export const flag: Check<boolean> = by((value) => typeof value === "boolean");
export const number: Check<number> = by(Number.isFinite);
export const integer: Check<number> = by(Number.isSafeInteger);
/** A whole number from 0 on. */
export const count: Check<number> = by((value) =>
  Number.isSafeInteger(value) && (value as number) >= 0
);

export function bytesUpTo(lengthMax: number): Check<Uint8Array> {
  return by((value) =>
    value instanceof Uint8Array && value.length <= lengthMax
  );
}

export function bytesOf(length: number): Check<Uint8Array> {
  return by((value) => value instanceof Uint8Array && value.length === length);
}

export function text(lengthMax: number, lengthMin = 0): Check<string> {
  return by((value) =>
    typeof value === "string" && value.length <= lengthMax &&
    value.length >= lengthMin
  );
}

export function oneOf<W extends string>(...words: readonly W[]): Check<W> {
  return by((value) => words.includes(value as W));
}

export function maybe<T>(check: Check<T>): Check<T | undefined> {
  return by((value) => value === undefined || check(value));
}

export function list<T>(
  check: Check<T>,
  lengthMax: number,
): Check<readonly T[]> {
  return by((value) =>
    Array.isArray(value) && value.length <= lengthMax &&
    // Unlike `every`, it looks at holes, too.
    value.findIndex((one) => !check(one)) < 0
  );
}

export function pair<A, B>(
  first: Check<A>,
  second: Check<B>,
): Check<readonly [A, B]> {
  return by((value) =>
    Array.isArray(value) && value.length === 2 && first(value[0]) &&
    second(value[1])
  );
}

/** An object with these fields, whatever else it has. */
export function shape<F extends Fields>(fields: F): Check<Shape<F>> {
  const entries = Object.entries(fields);
  return by((value) =>
    typeof value === "object" && value !== null &&
    entries.every(([name, check]) =>
      check((value as Readonly<Record<string, unknown>>)[name])
    )
  );
}

/**
 * What is handed on whole has nothing but these fields. Both sides are one build
 * (`TABS_VERSION`): its words are those of `T`.
 */
export function exactly<T>(
  fields: Readonly<Record<keyof T, Check<unknown>>>,
): Check<T> {
  const fits = shape(fields);
  return by((value) =>
    fits(value) &&
    Object.keys(value).every((key) => Object.hasOwn(fields, key))
  );
}
