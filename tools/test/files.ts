/**
 * Which test files there are, and which of them come in two sizes.
 *
 * @module
 */

const root = new URL("../../", import.meta.url);

/** Folders that hold no tests of ours. */
const SKIPPED = ["node_modules", "docs", "data"];

const TEST = /_test\.tsx?$/;
/** Who asks for its size, or tries garbage, of which there are two sizes, says so. */
const TWO_SIZES = /from ".*\/(tier|garbage)\.ts"/;

/** All test files, by their paths from the root, in the order of the alphabet. */
export function testFilesBelow(folder = ""): string[] {
  const found: string[] = [];
  for (const { name, isDirectory } of Deno.readDirSync(new URL(folder, root))) {
    const path = `${folder}${name}`;
    if (name.startsWith(".") || SKIPPED.includes(path)) continue;
    if (isDirectory) found.push(...testFilesBelow(`${path}/`));
    else if (TEST.test(name)) found.push(path);
  }
  return found.sort();
}

/** Does a suite run small in one tier and whole in the other? */
export function hasTwoSizes(file: string): boolean {
  return TWO_SIZES.test(Deno.readTextFileSync(new URL(file, root)));
}
