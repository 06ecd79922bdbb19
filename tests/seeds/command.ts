/**
 * The command line of everything that plays seeds: `--seed N|commit`, `--runs
 * N`, `--seconds S`, `--jobs N`, `--quiet`.
 *
 * It prints a line for every seed, or where nobody looks on only how far it is,
 * now and then; what a failing seed says, with the command that replays it; and
 * a summary. Exit codes: 0 when all is well, 1 when a seed failed, 2 when it
 * was called in a wrong way.
 *
 * @module
 */

import { parseArgs } from "node:util";
import { commitSeed } from "../kit/commit_seed.ts";
import type { Outcome } from "./outcome.ts";
import { guard } from "./player.ts";
import {
  type Played,
  type PlayOptions,
  playSeeds,
  type SeedSuite,
} from "./pool.ts";

/** How long fresh seeds are played when nobody says. */
const SECONDS = 60;

/** Progress is told after these seconds, and whenever twice as many have passed. */
const PROGRESS_S = 15;

/** Where the lines go. */
export interface Output {
  readonly print: (line: string) => void;
  readonly printError: (line: string) => void;
}

/** How a command line is run. */
export interface CommandOptions {
  /** Plays one seed in this process, and prints every line of it. */
  readonly trace?: (seed: number) => Promise<Outcome>;
  /** Where the lines go (default: the process's own). */
  readonly output?: Output;
}

const ours: Output = {
  print: (line) => console.log(line),
  printError: (line) => console.error(line),
};

/** Runs the command line; the result is the exit code. */
export async function runSeeds(
  suite: SeedSuite,
  args: readonly string[] = Deno.args,
  { trace, output = ours }: CommandOptions = {},
): Promise<number> {
  let asked: Asked;
  try {
    asked = readArguments(args, trace !== undefined);
  } catch (cause) {
    output.printError((cause as Error).message);
    return 2;
  }
  if (asked.isTraced) {
    return await traceSeeds(suite, asked, guard(trace!), output);
  }
  const played = await tellSeeds(suite, asked, asked.isQuiet, output);
  return played.failed.length === 0 ? 0 : 1;
}

/** Plays seeds and prints what there is to be said. */
export async function tellSeeds(
  suite: SeedSuite,
  options: PlayOptions,
  isQuiet: boolean,
  { print, printError }: Output = ours,
): Promise<Played> {
  const progress = new Progress(print);
  const played = await playSeeds(suite, {
    ...options,
    heard(outcome) {
      options.heard?.(outcome);
      if (outcome.failure !== undefined) {
        printError(failureOf(suite, outcome));
      } else if (!isQuiet) print(outcome.line);
      if (isQuiet) progress.hear(outcome);
    },
  });
  print(summaryOf(played));
  return played;
}

/** In one process, whose every line is shown. */
async function traceSeeds(
  suite: SeedSuite,
  { first, runs = 1 }: Asked,
  trace: (seed: number) => Promise<Outcome>,
  { print, printError }: Output,
): Promise<number> {
  let code = 0;
  for (let seed = first; seed < first + runs; seed++) {
    const outcome = await trace(seed);
    print(outcome.line);
    if (outcome.failure === undefined) continue;
    code = 1;
    printError(failureOf(suite, outcome));
  }
  return code;
}

/** What failed, and how it is seen again. */
function failureOf(
  { task }: SeedSuite,
  { seed, line, failure }: Outcome,
): string {
  return `${line}\n${failure}\n` +
    `Seed ${seed} failed. Replay it: deno task ${task} --seed ${seed}`;
}

/** All seeds in one line. */
function summaryOf({ first, seeds, counts, seconds, failed }: Played): string {
  const sums = Object.entries(counts).map(([name, sum]) => `${sum} ${name}`);
  const verdict = failed.length === 0
    ? "all is well"
    : `${failed.length} FAILED: ${failed.join(", ")}`;
  return `Seeds ${first} to ${first + seeds - 1}: ` +
    [`${seeds} seeds`, ...sums].join(", ") + ` in ${seconds.toFixed(1)} s, ` +
    `${(seeds / seconds).toFixed(2)} seeds a second: ${verdict}`;
}

/** Says how far it is, ever more seldom. */
class Progress {
  readonly #print: (line: string) => void;
  readonly #beganMs = performance.now();
  #nextS = PROGRESS_S;
  #seeds = 0;
  #failed = 0;

  constructor(print: (line: string) => void) {
    this.#print = print;
  }

  hear({ failure }: Outcome): void {
    this.#seeds++;
    if (failure !== undefined) this.#failed++;
    const seconds = (performance.now() - this.#beganMs) / 1_000;
    if (seconds < this.#nextS) return;
    while (this.#nextS <= seconds) this.#nextS *= 2;
    this.#print(
      `${seconds.toFixed(0)} s: ${this.#seeds} seeds, ${this.#failed} failed`,
    );
  }
}

/** What a command line asks for. */
interface Asked extends PlayOptions {
  readonly isQuiet: boolean;
  readonly isTraced: boolean;
}

function readArguments(args: readonly string[], mayTrace: boolean): Asked {
  const { values } = parseArgs({
    args: [...args],
    allowNegative: true,
    options: {
      seed: { type: "string" },
      runs: { type: "string" },
      seconds: { type: "string" },
      jobs: { type: "string" },
      quiet: { type: "boolean" },
      ...(mayTrace && { trace: { type: "boolean" } }),
    },
  });
  const { seed, runs, seconds, jobs } = values;
  const isBounded = runs !== undefined || seconds !== undefined;
  const isOne = !isBounded && seed !== undefined;
  return {
    first: readSeed(seed),
    ...(runs !== undefined && { runs: toNumber("runs", runs) }),
    ...(seconds !== undefined && { seconds: toNumber("seconds", seconds) }),
    ...(isOne && { runs: 1 }),
    ...(!isBounded && !isOne && { seconds: SECONDS }),
    ...(jobs !== undefined && { jobs: toNumber("jobs", jobs) }),
    isQuiet: values.quiet ?? !(isOne || Deno.stdout.isTerminal()),
    isTraced: "trace" in values && values.trace === true,
  };
}

function readSeed(seed: string | undefined): number {
  if (seed === undefined) return Date.now() % 1_000_000;
  return seed === "commit" ? commitSeed() : toNumber("seed", seed);
}

function toNumber(name: string, text: string): number {
  const value = Number(text);
  if (Number.isSafeInteger(value) && value >= 0) return value;
  throw new TypeError(
    `--${name} must be a whole number, not ${JSON.stringify(text)}`,
  );
}
