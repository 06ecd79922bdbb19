/**
 * What a bug of the list says of itself.
 *
 * @module
 */

/** A deliberate bug: one place of the product, and what it should have been. */
export interface Bug {
  /** What `deno task bugs NAME` asks for. */
  readonly name: string;
  /** What goes wrong, as a user would say it. */
  readonly breaks: string;
  readonly file: string;
  /** Text that stands in the file exactly once. */
  readonly before: string;
  /** What stands there with the bug. */
  readonly after: string;
  /** The test files that find it, the one that finds it first in front. */
  readonly foundBy: readonly string[];
  /** Only where no test of the quick tier finds it: these run in their whole size. */
  readonly tier?: "all";
}

/** The file's text with the bug in it. Throws where the place is not there any more. */
export function applyBug({ name, file, before, after }: Bug, text: string) {
  const count = text.split(before).length - 1;
  if (count !== 1) {
    throw new Error(
      `The bug "${name}" cannot be made: its text stands ${count} times in ${file}. ` +
        "The code has changed: bring the list of tools/bugs up to date",
    );
  }
  return text.replace(before, () => after);
}
