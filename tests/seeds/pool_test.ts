/**
 * Seeds in parallel processes, some of which end badly.
 */

import { deepEqual, equal, match, ok } from "node:assert/strict";
import { sized } from "../kit/tier.ts";
import type { Outcome } from "./outcome.ts";
import { playSeeds } from "./pool.ts";
import { toy, toys } from "./toy.ts";

Deno.test("playSeeds() plays each seed once, in however many processes", async () => {
  for (const jobs of sized([1, 3], [1, 3, 20])) {
    const heard: number[] = [];
    const played = await playSeeds(toys, {
      first: 7,
      runs: 10,
      jobs,
      heard: ({ seed }) => heard.push(seed),
    });
    deepEqual(heard.sort((a, b) => a - b), [
      7,
      8,
      9,
      10,
      11,
      12,
      13,
      14,
      15,
      16,
    ]);
    const { first, seeds, counts, failed } = played;
    deepEqual({ first, seeds, counts, failed }, {
      first: 7,
      seeds: 10,
      counts: { steps: 115 },
      failed: [],
    });
  }
});

Deno.test("playSeeds() lets a long seed keep nobody else waiting", async () => {
  const folder = await Deno.makeTempDir();
  Deno.env.set("SHEAF_TOY_FILE", `${folder}/free`);
  try {
    const heard: number[] = [];
    await playSeeds(toys, {
      first: toy.waits,
      runs: 5,
      jobs: 2,
      heard: ({ seed }) => heard.push(seed),
    });
    // All but the last had to be over before the first could be.
    deepEqual(heard.slice(0, 3), [602, 603, 604]);
    deepEqual(heard.slice(3).sort(), [toy.waits, toy.frees]);
  } finally {
    Deno.env.delete("SHEAF_TOY_FILE");
    await Deno.remove(folder, { recursive: true });
  }
});

Deno.test("playSeeds() plays one seed at least, and none after its time", async () => {
  const played = await playSeeds(toys, { first: 3, seconds: 0, jobs: 2 });
  deepEqual([played.seeds, played.counts], [1, { steps: 3 }]);
});

/** Plays a seed that ends badly, and the two around it. */
async function around(seed: number): Promise<Outcome> {
  const failures: Outcome[] = [];
  const played = await playSeeds(toys, {
    first: seed - 1,
    runs: 3,
    jobs: 1,
    heard(outcome) {
      if (outcome.failure !== undefined) failures.push(outcome);
    },
  });
  equal(played.seeds, 3);
  deepEqual(played.failed, [seed]);
  deepEqual(failures.map(({ seed }) => seed), [seed]);
  return failures[0]!;
}

Deno.test("playSeeds() names the seed whose process dies, with what it printed, and goes on", async () => {
  const { line, failure } = await around(toy.dies);
  equal(line, `seed ${toy.dies}: FAILED died`);
  match(failure!, /not meant for the pool/);
  match(failure!, /a word before the end\nIts process died: exit code 7$/);
});

Deno.test("playSeeds() ends a seed that hangs, and names it", async () => {
  const heard: Outcome[] = [];
  const played = await playSeeds(toys, {
    first: toy.hangs,
    runs: 1,
    patienceMs: 2_000,
    heard: (outcome) => heard.push(outcome),
  });
  deepEqual(played.failed, [toy.hangs]);
  equal(heard[0]!.line, `seed ${toy.hangs}: FAILED hangs`);
  match(
    heard[0]!.failure!,
    /It was not over after 2 s, so its process was ended$/,
  );
});

Deno.test("playSeeds() fails a seed for what it throws, and for what nobody caught", async () => {
  match((await around(toy.throws)).failure!, /Error: thrown\n/);
  match((await around(toy.strays)).failure!, /Error: nobody caught it\n/);
  equal((await around(toy.fails)).failure, "the reason");
});

Deno.test("playSeeds() says how long it took", async () => {
  const { seconds } = await playSeeds(toys, { first: 1, runs: 1 });
  ok(seconds > 0);
});
