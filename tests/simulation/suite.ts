/**
 * The simulation as seeds that parallel processes play.
 *
 * @module
 */

import type { SeedSuite } from "../seeds/pool.ts";

/** `deno task simulate`. */
export const simulation: SeedSuite = {
  task: "simulate",
  player: new URL("./player.ts", import.meta.url),
};
