/**
 * Seeds of the toy player, by what becomes of them; any other is fine.
 *
 * @module
 */

import type { SeedSuite } from "./pool.ts";

/** See the file's header. */
export const toy = {
  fails: 101,
  dies: 201,
  hangs: 301,
  throws: 401,
  strays: 501,
  /** Waits for the seed that frees it. */
  waits: 601,
  frees: 605,
} as const;

/** What `deno task toy` would play. */
export const toys: SeedSuite = {
  task: "toy",
  player: new URL("./toy_player.ts", import.meta.url),
};
