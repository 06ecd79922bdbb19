/**
 * How large a suite runs: small in `deno task test`, whole in
 * `deno task test:all`, which sets `SHEAF_TEST_TIER`.
 *
 * @module
 */

/** Is this `deno task test:all`? */
export const isAll: boolean = Deno.env.get("SHEAF_TEST_TIER") === "all";

/** The size of a suite that runs in both tiers. */
export function sized<T>(quick: T, all: T): T {
  return isAll ? all : quick;
}
