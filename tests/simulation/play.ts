/**
 * One seed of the simulation, as those who run many of them want to hear of it.
 *
 * @module
 */

import type { Outcome } from "../seeds/outcome.ts";
import { summaryOf } from "./report.ts";
import { simulate } from "./simulation.ts";

/** How many of the last lines of a failed run are told. */
const TAIL = 60;

/** Plays one seed; `hear` is told every line of it at once. */
export async function play(
  seed: number,
  hear?: (line: string) => void,
): Promise<Outcome> {
  const beganMs = performance.now();
  const report = await simulate(seed, hear === undefined ? {} : { hear });
  const tookMs = Math.round(performance.now() - beganMs);
  const { events, writes, failure, tail } = report;
  return {
    seed,
    line: `${summaryOf(report)} in ${tookMs} ms`,
    counts: { events, writes },
    ...(failure !== undefined && {
      failure: [
        ...(hear === undefined ? tail.slice(-TAIL) : []),
        failure.stack,
      ].join("\n"),
    }),
  };
}
