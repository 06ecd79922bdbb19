/**
 * The fuzzer as seeds that parallel processes play.
 *
 * @module
 */

import type { SeedSuite } from "../seeds/pool.ts";

/** `deno task fuzz`. */
export const fuzzing: SeedSuite = {
  task: "fuzz",
  player: new URL("./player.ts", import.meta.url),
};
