/**
 * An object as it is, but for some answers.
 *
 * @module
 */

/** @param answers what stands in the place of the target's own, getters too */
export function withAnswers<T extends object>(
  target: T,
  answers: Partial<T>,
): T {
  return new Proxy(target, {
    get(_, key) {
      if (key in answers) return Reflect.get(answers, key);
      const value: unknown = Reflect.get(target, key);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
}
