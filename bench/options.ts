/**
 * The command line of the bench.
 *
 * @module
 */

import { Argument, Command, InvalidArgumentError, Option } from "commander";
import type { Mode } from "./engine.ts";
import { showSize } from "./format.ts";
import type { Budget } from "./run.ts";

/** A part of the bench that can run alone. */
export type SuiteName = "sqlite" | "sync";

/** What was asked for. */
export interface Options {
  readonly suites: readonly SuiteName[];
  readonly sizes: readonly number[];
  readonly modes: readonly Mode[];
  /** Only rows whose suite and operation contain this. */
  readonly filter: string;
  readonly isQuick: boolean;
  readonly json: string | undefined;
  readonly csv: string | undefined;
  readonly compare: string | undefined;
  readonly isDoc: boolean;
  readonly folder: string | undefined;
}

const everyMode: readonly Mode[] = ["default", "trusted", "fast"];
const everySuite: readonly SuiteName[] = ["sqlite", "sync"];
const sizeMin = 1_000;
const sizeMax = 10_000_000;

const fullBudget: Budget = {
  rounds: 5,
  sliceMs: 200,
  samplesMax: 300,
  warmMs: 150,
  freshRuns: 9,
  valueRuns: 3,
};
const quickBudget: Budget = {
  rounds: 3,
  sliceMs: 30,
  samplesMax: 100,
  warmMs: 60,
  freshRuns: 3,
  valueRuns: 1,
};

/** How much time each measure gets. */
export function budgetOf(options: Options): Budget {
  return options.isQuick ? quickBudget : fullBudget;
}

/** Reads the arguments; with `--help` or wrong ones it says so and ends the process. */
export function parseOptions(args: readonly string[]): Options {
  const command = program();
  command.parse([...args], { from: "user" });
  const given = command.opts<Given>();
  const [named = []] = command.processedArgs as [SuiteName[]?];
  return {
    suites: named.length === 0 ? everySuite : named,
    sizes: given.size ?? [100_000],
    modes: given.mode ?? everyMode,
    filter: given.filter ?? "",
    isQuick: given.quick === true,
    json: given.json,
    csv: given.csv,
    compare: given.compare,
    isDoc: given.doc === true,
    folder: given.dir,
  };
}

/** The command that measures the same again; what it writes where is left out. */
export function commandOf(options: Options): string {
  const parts = ["deno task bench"];
  if (options.suites.length < everySuite.length) parts.push(...options.suites);
  parts.push("--size", options.sizes.map(showSize).join());
  if (options.modes.length < everyMode.length) {
    parts.push("--mode", options.modes.join());
  }
  if (options.filter !== "") {
    parts.push("--filter", JSON.stringify(options.filter));
  }
  if (options.isQuick) parts.push("--quick");
  return parts.join(" ");
}

/** What commander collects, by the options below. */
interface Given {
  readonly size?: number[];
  readonly mode?: Mode[];
  readonly filter?: string;
  readonly quick?: true;
  readonly json?: string;
  readonly csv?: string;
  readonly compare?: string;
  readonly doc?: true;
  readonly dir?: string;
}

function program(): Command {
  return new Command("deno task bench")
    .description(
      "Sheaf beside tuned node:sqlite, in one run, with the same items and the same durability; and sync over a real server.",
    )
    .addArgument(
      new Argument("[suite...]", "which part (default: all)").choices(
        everySuite,
      ),
    )
    .addOption(
      new Option(
        "-s, --size <size...>",
        "items: 1k, 10k, 100k, 1m or a number; several with commas (default: 100k)",
      )
        .argParser(parseSizes),
    )
    .addOption(
      new Option(
        "-m, --mode <mode...>",
        "default, trusted, fast; several with commas (default: all)",
      ).argParser(parseModes),
    )
    .option(
      "-f, --filter <text>",
      "only rows whose suite or operation contains this",
    )
    .option("-q, --quick", "few samples: to see that it runs, not to believe")
    .option("--json <file>", "write machine, versions and rows as JSON")
    .option("--csv <file>", "write the rows as CSV")
    .option("--compare <file>", "set the run beside an earlier one's JSON")
    .option("--doc", "write docs/benchmarks.md")
    .option(
      "--dir <folder>",
      "where the databases are made (default: .data of the project, which is on a real disk)",
    )
    .addHelpText(
      "after",
      "\nA full run at 100k items takes some minutes. Missed targets do not make it fail; wrong answers do.",
    )
    .showHelpAfterError("(--help shows the options)");
}

/** `1k,10k` and repetitions, in the order given. */
export function parseSizes(
  text: string,
  before: number[] | undefined,
): number[] {
  const sizes = [...before ?? []];
  for (const part of text.toLowerCase().split(",")) {
    const [, digits, letter] = /^(\d+)([km]?)$/.exec(part.trim()) ?? [];
    const size = Number(digits) *
      (letter === "k" ? 1_000 : letter === "m" ? 1_000_000 : 1);
    if (!(size >= sizeMin && size <= sizeMax)) {
      throw new InvalidArgumentError(`"${part}" is not a size from 1k to 10m.`);
    }
    if (!sizes.includes(size)) sizes.push(size);
  }
  return sizes;
}

/** `default,fast` and repetitions, in the usual order. */
export function parseModes(text: string, before: Mode[] | undefined): Mode[] {
  const names = text.toLowerCase().split(",").map((part) => part.trim());
  const unknown = names.find((name) =>
    !everyMode.some((mode) => mode === name)
  );
  if (unknown !== undefined) {
    throw new InvalidArgumentError(
      `"${unknown}" is not one of ${everyMode.join(", ")}.`,
    );
  }
  return everyMode.filter((mode) =>
    names.includes(mode) || before?.includes(mode) === true
  );
}
