/**
 * Counts work instead of time: how many elements the language's own copies and
 * walks touch while something runs.
 *
 * @module
 */

/** Array methods that copy or walk; each costs its array's length, or its result's; a slice, that alone. */
const methods = [
  "slice",
  "splice",
  "concat",
  "map",
  "filter",
  "flatMap",
  "sort",
  "toSorted",
  "toSpliced",
  "some",
  "every",
  "with",
] as const;

type Method = (this: unknown[], ...args: never[]) => unknown;

/** Elements that `run` copies and walks, roughly. Must be synchronous. */
export function workOf(run: () => void): number {
  let work = 0;
  const undo: (() => void)[] = [];
  const replace = <T extends object, K extends keyof T>(
    on: T,
    name: K,
    wrap: (old: T[K]) => T[K],
  ) => {
    const old = on[name];
    undo.push(() => void (on[name] = old));
    on[name] = wrap(old);
  };
  const arrays = Array.prototype as unknown as Record<string, Method>;
  for (const name of methods) {
    replace(arrays, name, (old) =>
      function (...args) {
        const result = Reflect.apply(old!, this, args);
        work += Math.max(
          name === "slice" ? 0 : this.length,
          Array.isArray(result) ? result.length : 0,
        );
        return result;
      });
  }
  const generator: object = Object.getPrototypeOf((function* () {})());
  const iterators = [[].values(), new Map().entries(), new Set().values()];
  for (const kept of [...iterators, generator]) {
    const iterator = Object.getPrototypeOf(kept) as { next: () => unknown };
    replace(iterator, "next", (old) =>
      function (this: unknown) {
        work++;
        return Reflect.apply(old, this, []);
      });
  }
  const objects = Object as unknown as Record<
    string,
    (of: object) => unknown[]
  >;
  for (const name of ["keys", "values", "entries"]) {
    replace(objects, name, (old) => (of) => {
      const result = old!(of);
      work += result.length;
      return result;
    });
  }
  try {
    // A map of a map copies it without its iterator.
    const { Map: OldMap } = globalThis;
    class CountedMap<K, V> extends OldMap<K, V> {
      constructor(from?: Iterable<readonly [K, V]> | null) {
        super(from);
        work += this.size;
      }
    }
    replace(globalThis, "Map", () => CountedMap as MapConstructor);
    run();
  } finally {
    for (const one of undo) one();
  }
  return work;
}
