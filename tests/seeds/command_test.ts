/**
 * What is printed of seeds, and the exit code.
 */

import { deepEqual, equal, match, ok } from "node:assert/strict";
import { runSeeds } from "./command.ts";
import { toy, toys } from "./toy.ts";

/** Runs a command line, and takes what it prints. */
async function run(...args: string[]) {
  const lines: string[] = [];
  const errors: string[] = [];
  const code = await runSeeds(toys, args, {
    output: {
      print: (line) => lines.push(line),
      printError: (line) => errors.push(line),
    },
  });
  return { code, lines, errors };
}

Deno.test("runSeeds() prints a line for every seed, and a summary", async () => {
  const { code, lines, errors } = await run(
    ..."--seed 4 --runs 3 --jobs 1 --no-quiet".split(" "),
  );
  deepEqual([code, errors], [0, []]);
  deepEqual(lines.slice(0, -1), [
    "seed 4: fine",
    "seed 5: fine",
    "seed 6: fine",
  ]);
  match(
    lines.at(-1)!,
    /^Seeds 4 to 6: 3 seeds, 15 steps in [\d.]+ s, [\d.]+ seeds a second: all is well$/,
  );
});

Deno.test("runSeeds() prints next to nothing when it is quiet and all is well", async () => {
  const { lines } = await run(..."--seed 1 --runs 40 --quiet".split(" "));
  ok(lines.length <= 12, `${lines.length} lines`);
  ok(!lines.some((line) => line.startsWith("seed ")));
  match(
    lines.at(-1)!,
    /^Seeds 1 to 40: 40 seeds, 820 steps in .* all is well$/,
  );
});

Deno.test("runSeeds() prints why a seed failed and how it is replayed, and goes on", async () => {
  const { code, lines, errors } = await run(
    ...`--seed ${toy.fails} --runs 2 --quiet`.split(" "),
  );
  equal(code, 1);
  deepEqual(errors, [
    "seed 101: FAILED\nthe reason\n" +
    "Seed 101 failed. Replay it: deno task toy --seed 101",
  ]);
  match(lines.at(-1)!, /^Seeds 101 to 102: 2 seeds, .*: 1 FAILED: 101$/);
});

Deno.test("runSeeds() plays one seed when only that one is named", async () => {
  const { code, lines } = await run("--seed", "9");
  equal(code, 0);
  equal(lines[0], "seed 9: fine");
  match(lines[1]!, /^Seeds 9 to 9: /);
});

Deno.test("runSeeds() refuses what it cannot read", async () => {
  const wrong = await run("--seed", "many");
  deepEqual([wrong.code, wrong.errors], [
    2,
    ['--seed must be a whole number, not "many"'],
  ]);
  const unknown = await run("--speed", "1");
  equal(unknown.code, 2);
  match(unknown.errors[0]!, /--speed/);
  const untraced = await run("--seed", "1", "--trace");
  equal(untraced.code, 2);
});
