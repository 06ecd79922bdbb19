/**
 * A short run of the fuzzer with fixed seeds; `deno task fuzz` runs it for as
 * long as you like.
 */

import { deepEqual, equal, match, ok } from "node:assert/strict";
import { fuzz } from "./fuzz/fuzzer.ts";

const SEEDS = 100;

Deno.test(`a database behaves like a Map over writes, power cuts, faults, damage and repairs (${SEEDS} seeds)`, async () => {
  const taken: Record<string, number> = {};
  for (let seed = 1; seed <= SEEDS; seed++) {
    try {
      const report = await fuzz(seed);
      for (const [step, count] of Object.entries(report.taken)) {
        taken[step] = (taken[step] ?? 0) + count;
      }
    } catch (cause) {
      const replay = `deno task fuzz --seed ${seed} --seconds 0`;
      throw new Error(`Seed ${seed} failed: ${replay}`, { cause });
    }
  }
  equal(Object.keys(taken).length, 9);
  for (const [step, count] of Object.entries(taken)) {
    ok(count > SEEDS / 2, `${step}: ${count}`);
  }
});

Deno.test("a seed replays a run byte for byte", async () => {
  for (const seed of [3, 4, 5, 7, 8, 9]) {
    deepEqual(await fuzz(seed), await fuzz(seed));
  }
  const [one, other] = [await fuzz(3), await fuzz(6)];
  ok(one.digest !== other.digest);
});

Deno.test("the fuzzer's command line runs a seed, and refuses what is no number", async () => {
  const script = new URL("./fuzz/main.ts", import.meta.url).pathname;
  const run = async (...args: string[]) => {
    const { code, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
      args: ["run", "--no-check", "-A", script, ...args],
    }).output();
    const text = new TextDecoder();
    return { code, out: text.decode(stdout), err: text.decode(stderr) };
  };
  const sound = await run("--seed", "12", "--seconds", "0");
  equal(sound.code, 0, sound.err);
  match(sound.out, /^Seeds 12 to 12, \d+ commits: all is well\n$/);
  const wrong = await run("--seed", "many");
  equal(wrong.code, 2);
  match(wrong.err, /--seed must be a whole number/);
});
