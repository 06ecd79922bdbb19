/**
 * A short run of the fuzzer: pinned seeds, and in `deno task test:all` fresh ones
 * that follow from the commit; `deno task fuzz` runs it for as long as you like.
 */

import { deepEqual, equal, match, ok } from "node:assert/strict";
import { fuzz } from "./fuzz/fuzzer.ts";
import { fuzzing } from "./fuzz/suite.ts";
import { commitSeed } from "./kit/commit_seed.ts";
import { isAll, sized } from "./kit/tier.ts";
import { tellSeeds } from "./seeds/command.ts";
import { playSeeds } from "./seeds/pool.ts";

const SEEDS = sized(4, 100);

Deno.test(`a database behaves like a Map over writes, power cuts, faults, damage and repairs (${SEEDS} seeds)`, async () => {
  const taken: Record<string, number> = {};
  for (let seed = 1; seed <= SEEDS; seed++) {
    try {
      const report = await fuzz(seed);
      for (const [step, count] of Object.entries(report.taken)) {
        taken[step] = (taken[step] ?? 0) + count;
      }
    } catch (cause) {
      const replay = `deno task fuzz --seed ${seed}`;
      throw new Error(`Seed ${seed} failed: ${replay}`, { cause });
    }
  }
  equal(Object.keys(taken).length, 9);
  for (const [step, count] of Object.entries(taken)) {
    ok(count > SEEDS / 2, `${step}: ${count}`);
  }
});

Deno.test({
  name: "a database behaves like a Map over seeds that differ by commit",
  ignore: !isAll,
  async fn() {
    const errors: string[] = [];
    await tellSeeds(fuzzing, { first: commitSeed(), runs: 200 }, true, {
      print: () => {},
      printError: (line) => errors.push(line),
    });
    equal(errors.join("\n"), "");
  },
});

Deno.test("a seed replays a run byte for byte", async () => {
  for (const seed of sized([3], [3, 4, 5, 7, 8, 9])) {
    deepEqual(await fuzz(seed), await fuzz(seed));
  }
  const [one, other] = [await fuzz(3), await fuzz(6)];
  ok(one.digest !== other.digest);
});

Deno.test("a seed of the fuzzer is the same in every process", async () => {
  const lines: string[] = [];
  const played = await playSeeds(fuzzing, {
    first: 3,
    runs: 2,
    jobs: 2,
    heard: ({ line }) => lines.push(line),
  });
  deepEqual(played.failed, []);
  const here = [await fuzz(3), await fuzz(4)];
  equal(played.counts.commits, here[0]!.commits + here[1]!.commits);
  here.forEach(({ digest }, i) => {
    const line = lines.find((line) => line.startsWith(`seed ${3 + i}: `));
    match(line ?? "", new RegExp(` all is well ${digest.slice(0, 16)}$`));
  });
});
