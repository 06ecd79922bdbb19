/**
 * A process that plays seeds of the fuzzer.
 *
 * @module
 */

import { playFromInput } from "../seeds/player.ts";
import { fuzz } from "./fuzzer.ts";

await playFromInput(async (seed) => {
  const { commits, digest } = await fuzz(seed);
  const line = `seed ${seed}: ${commits} commits: ` +
    `all is well ${digest.slice(0, 16)}`;
  return { seed, line, counts: { commits } };
});
