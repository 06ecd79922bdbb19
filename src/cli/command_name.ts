/**
 * How the command line is called here: from a clone, or from npm's package.
 *
 * @module
 */

/** What stands before a command in examples. */
export const sheaf: string = import.meta.url.endsWith(".ts")
  ? "deno task sheaf"
  : "npx sheaf";
