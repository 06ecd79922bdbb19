/**
 * `deno task simulate --seed N --seconds S --runs N`: runs seed after seed,
 * until the time is up or so many have run. A seed that fails is printed with
 * the last things that happened and the command that replays it.
 *
 * @module
 */

import { parseArgs } from "node:util";
import { summaryOf } from "./report.ts";
import { simulate } from "./simulation.ts";

/** How many of the last lines of a failed run are printed. */
const TAIL = 60;

const { values } = parseArgs({
  options: {
    seed: { type: "string" },
    seconds: { type: "string" },
    runs: { type: "string" },
    trace: { type: "boolean" },
  },
});
const first = toNumber("seed", values.seed ?? `${Date.now() % 1_000_000}`);
const seconds = values.seconds === undefined
  ? undefined
  : toNumber("seconds", values.seconds);
const runs = values.runs === undefined
  ? (seconds === undefined ? 1 : Infinity)
  : toNumber("runs", values.runs);
const end = seconds === undefined
  ? Infinity
  : performance.now() + seconds * 1_000;

let strayed: unknown;
globalThis.addEventListener("unhandledrejection", (event) => {
  event.preventDefault();
  strayed ??= event.reason;
});

globalThis.addEventListener("error", (event) => {
  event.preventDefault();
  strayed ??= event.error;
});

let seed = first;
let failed = 0;
do {
  const began = performance.now();
  const report = await simulate(
    seed,
    values.trace ? { hear: (line) => console.log(line) } : {},
  );
  const took = Math.round(performance.now() - began);
  console.log(`${summaryOf(report)} in ${took} ms`);
  if (report.failure !== undefined || strayed !== undefined) {
    failed++;
    tell(
      report.failure?.stack ??
        (strayed instanceof Error ? strayed.stack! : String(strayed)),
      values.trace ? [] : report.tail,
    );
    strayed = undefined;
  }
  seed++;
} while (seed - first < runs && performance.now() < end);
if (failed > 0) Deno.exit(1);
console.log(`Seeds ${first} to ${seed - 1}: all is well`);

function tell(message: string, tail: readonly string[]): void {
  for (const line of tail.slice(-TAIL)) console.error(line);
  console.error(message);
  console.error(
    `Seed ${seed} failed. Replay it: deno task simulate --seed ${seed}`,
  );
}

function toNumber(name: string, text: string): number {
  const value = Number(text);
  if (Number.isSafeInteger(value) && value >= 0) return value;
  console.error(
    `--${name} must be a whole number, not ${JSON.stringify(text)}`,
  );
  Deno.exit(2);
}
