/**
 * What a check found.
 *
 * @module
 */

/** A check that did not hold. */
export class CheckFailed extends Error {
  /** Which check. */
  readonly checker: string;

  /**
   * @param checker which check
   * @param detail what it found
   */
  constructor(checker: string, detail: string) {
    super(`${checker}: ${detail}`);
    this.name = "CheckFailed";
    this.checker = checker;
  }
}

/** Fails when `condition` does not hold. */
export function check(
  condition: boolean,
  checker: string,
  detail: () => string,
): asserts condition {
  if (!condition) throw new CheckFailed(checker, detail());
}
