import { doesNotReject } from "node:assert/strict";
import { eachSeed, seedsOf } from "./kit/commit_seed.ts";
import { TabLife } from "./kit/tab_life.ts";

const MODES = ["default", "trusted", "fast"] as const;

/** Lives in which a promise was broken once. */
const LIVES = [
  { mode: "fast", seed: 1301, hasServer: false, hasEvictions: false },
  { mode: "default", seed: 582, hasServer: true, hasEvictions: true },
  { mode: "default", seed: 1230, hasServer: true, hasEvictions: true },
  { mode: "default", seed: 8145, hasServer: true, hasEvictions: true },
  { mode: "default", seed: 201930573, hasServer: true, hasEvictions: false },
] as const;

Deno.test("tabs keep every promise through lives that broke one once", async () => {
  for (const life of LIVES) {
    await doesNotReject(new TabLife({ ...life, steps: 60 }).run());
  }
});

for (const mode of MODES) {
  for (const hasServer of [false, true]) {
    const where = hasServer ? "with a server" : "offline";
    Deno.test(`tabs keep every promise through what a seed brings, ${where}, in ${mode} mode`, async () => {
      await eachSeed(seedsOf(4, 8), async (seed) => {
        const hasEvictions = seed % 2 === 0;
        const options = { mode, seed, steps: 60, hasServer, hasEvictions };
        await doesNotReject(new TabLife(options).run());
      });
    });
  }
}
