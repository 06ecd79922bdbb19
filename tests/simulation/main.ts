/**
 * `deno task simulate`: plays seed after seed in parallel processes, see
 * `tests/seeds/command.ts`; with `--trace` one by one in this process, and
 * every line of what happens.
 *
 * @module
 */

import { runSeeds } from "../seeds/command.ts";
import { simulation } from "./suite.ts";

const trace = async (seed: number) => {
  const { play } = await import("./play.ts");
  return await play(seed, (line) => console.log(line));
};

Deno.exit(await runSeeds(simulation, Deno.args, { trace }));
