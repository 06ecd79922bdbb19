/**
 * Some time of the simulation as a task: fresh seeds for every commit, the same
 * ones for one commit.
 *
 * @module
 */

import { commitSeed } from "../../tests/kit/commit_seed.ts";
import { playSeeds } from "../../tests/seeds/pool.ts";
import { simulation } from "../../tests/simulation/suite.ts";
import type { Task } from "./suite.ts";

/** Plays seeds for so many seconds; `heard` is told how far it is. */
export function simulationTask(
  seconds: number,
  heard: (at: string) => void,
): Task {
  return {
    name: "simulation",
    async run() {
      const reasons: string[] = [];
      let seeds = 0;
      const said = () => heard(`seed ${++seeds} of the simulation`);
      said();
      const { failed } = await playSeeds(simulation, {
        first: commitSeed(),
        seconds,
        jobs: 1,
        heard({ seed, line, failure }) {
          if (failure === undefined) return said();
          const replay = `deno task simulate --seed ${seed}`;
          reasons.push(`${line}\n${failure}\nReplay it: ${replay}`);
        },
      });
      return {
        passed: failed.length === 0 ? 1 : 0,
        ignored: [],
        failed: failed.map((seed) => ({
          file: "tests/simulation/main.ts",
          name: `seed ${seed}`,
        })),
        reasons: reasons.join("\n\n"),
      };
    },
  };
}
