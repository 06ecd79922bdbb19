/**
 * `deno task fuzz --seed N --seconds S`: runs seed after seed until the time is
 * up. A seed that fails is printed with the command that replays it.
 *
 * @module
 */

import { parseArgs } from "node:util";
import { fuzz } from "./fuzzer.ts";

const SECONDS = 60;

const { values } = parseArgs({
  options: { seed: { type: "string" }, seconds: { type: "string" } },
});
const first = toNumber("seed", values.seed ?? `${Date.now() % 1_000_000}`);
const seconds = toNumber("seconds", values.seconds ?? `${SECONDS}`);
const end = performance.now() + seconds * 1_000;

let seed = first;
let commits = 0;
do {
  try {
    commits += (await fuzz(seed)).commits;
  } catch (error) {
    console.error(error);
    console.error(
      `Seed ${seed} failed. Replay it: deno task fuzz --seed ${seed} --seconds 0`,
    );
    Deno.exit(1);
  }
  seed++;
} while (performance.now() < end);
console.log(`Seeds ${first} to ${seed - 1}, ${commits} commits: all is well`);

function toNumber(name: string, text: string): number {
  const value = Number(text);
  if (Number.isSafeInteger(value) && value >= 0) return value;
  console.error(
    `--${name} must be a whole number, not ${JSON.stringify(text)}`,
  );
  Deno.exit(2);
}
