/**
 * A process that plays seeds whose numbers say what becomes of them: for the
 * tests of those who play seeds.
 *
 * @module
 */

import { until } from "../kit/patience.ts";
import type { Outcome } from "./outcome.ts";
import { playFromInput } from "./player.ts";
import { toy } from "./toy.ts";

const kinds: Readonly<Record<number, (seed: number) => unknown>> = {
  [toy.dies]: () => {
    console.error("a word before the end");
    Deno.exit(7);
  },
  [toy.hangs]: () => {
    console.error("round and round");
    for (;;);
  },
  [toy.throws]: () => {
    throw new Error("thrown");
  },
  [toy.strays]: () => void Promise.reject(new Error("nobody caught it")),
  [toy.waits]: async () => {
    const path = Deno.env.get("SHEAF_TOY_FILE")!;
    await until(() => exists(path), "the other one frees it");
  },
  [toy.frees]: () => Deno.writeTextFile(Deno.env.get("SHEAF_TOY_FILE")!, ""),
};

async function exists(path: string): Promise<boolean> {
  return await Deno.stat(path).then(() => true, () => false);
}

await playFromInput(async (seed): Promise<Outcome> => {
  console.log("not meant for the pool");
  await kinds[seed]?.(seed);
  const outcome = { seed, line: `seed ${seed}: fine`, counts: { steps: seed } };
  if (seed !== toy.fails) return outcome;
  return { ...outcome, line: `seed ${seed}: FAILED`, failure: "the reason" };
});
