/**
 * How large a suite runs: small in `deno task test`, whole in
 * `deno task test:all`, which sets `SHEAF_TEST_TIER`.
 *
 * @module
 */

import { commitSeed } from "./commit_seed.ts";

/** Is this `deno task test:all`? */
export const isAll: boolean = Deno.env.get("SHEAF_TEST_TIER") === "all";

/** The size of a suite that runs in both tiers. */
export function sized<T>(quick: T, all: T): T {
  return isAll ? all : quick;
}

let seed: number | undefined;

/**
 * Is this one of those that are tried? In the quick tier one of `every`, others
 * for every commit; in the other tier each.
 */
export function isTried(number: number, every: number): boolean {
  if (isAll) return true;
  seed ??= commitSeed();
  return (number + seed) % every === 0;
}
