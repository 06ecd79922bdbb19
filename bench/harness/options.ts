/**
 * The command line of the bench.
 *
 * @module
 */

import { Argument, Command, InvalidArgumentError, Option } from "commander";
import type { SuiteName } from "./figure.ts";
import { showSize } from "./format.ts";
import type { Order } from "./suite.ts";

/** What was asked for. */
export interface Options {
  readonly suites: readonly SuiteName[];
  /** Empty: each suite's own. */
  readonly sizes: readonly number[];
  /** Only engines whose name contains one of these; empty: all. */
  readonly engines: readonly string[];
  /** Only rows whose suite, table and operation contain this. */
  readonly filter: string;
  readonly isQuick: boolean;
  /** Items of the suites that are counted in records, where no size is given. */
  readonly records: number | undefined;
  readonly operations: number | undefined;
  /** Addresses of servers, by engine. */
  readonly addresses: Readonly<Record<string, string>>;
  readonly json: string | undefined;
  readonly csv: string | undefined;
  readonly html: string | undefined;
  readonly compare: string | undefined;
  readonly isDoc: boolean;
  readonly folder: string | undefined;
}

/** Every suite, in the order in which they run. */
export const everySuite: readonly SuiteName[] = [
  "sqlite",
  "sync",
  "kv",
  "ycsb",
  "stress",
  "compare",
  "text",
];
/** What runs when nothing is named: the two tables of targets. */
const usualSuites: readonly SuiteName[] = ["sqlite", "sync"];
const countMin = 1_000;
const countMax = 10_000_000;

/** Reads the arguments and the environment; with `--help` or wrong ones it says so and ends the process. */
export function parseOptions(
  args: readonly string[],
  environment: (name: string) => string | undefined = () => undefined,
): Options {
  const command = program();
  command.parse([...args], { from: "user" });
  const given = command.opts<Given>();
  const [named = []] = command.processedArgs as [(SuiteName | "all")[]?];
  const suites = suitesOf(named);
  if (given.operations !== undefined && !suites.includes("ycsb")) {
    command.error("error: only the suite ycsb takes --operations");
  }
  if (given.records !== undefined && !suites.some(isCountedInRecords)) {
    command.error("error: only the suites ycsb and compare take --records");
  }
  const narrowed = narrowingOf(given);
  if (given.doc === true && narrowed !== undefined) {
    command.error(
      `error: --doc stores whole runs, and ${narrowed} makes this one a part`,
    );
  }
  return {
    suites,
    sizes: given.size ?? [],
    engines: given.engines ?? [],
    filter: given.filter ?? "",
    isQuick: given.quick === true,
    records: given.records ??
      recordsOf(environment("SHEAF_BENCH_RECORDS"), command),
    operations: given.operations,
    addresses: addressesOf(given),
    json: given.json,
    csv: given.csv,
    html: given.html,
    compare: given.compare,
    isDoc: given.doc === true,
    folder: given.dir,
  };
}

/** What a suite is told of the options. */
export function orderOf(options: Options, suite: SuiteName): Order {
  const { sizes, engines, filter, isQuick, addresses, operations } = options;
  return {
    sizes: sizes.length === 0 && hasRecords(options, suite)
      ? [options.records ?? 0]
      : sizes,
    engines,
    filter,
    isQuick,
    addresses,
    ...(operations === undefined ? {} : { operations }),
  };
}

/** The command that measures one suite again; what it writes where is left out, and so are addresses: they may hold passwords. */
export function commandOf(options: Options, suite: SuiteName): string {
  const parts = ["deno task bench", suite];
  const { sizes } = orderOf(options, suite);
  if (sizes.length > 0) parts.push("--size", sizes.map(showSize).join());
  if (options.operations !== undefined && suite === "ycsb") {
    parts.push("--operations", showSize(options.operations));
  }
  if (options.engines.length > 0) {
    parts.push("--engines", options.engines.join());
  }
  if (options.filter !== "") {
    parts.push("--filter", JSON.stringify(options.filter));
  }
  if (options.isQuick) parts.push("--quick");
  for (const engine of Object.keys(options.addresses)) {
    if (suite !== "sqlite" && suite !== "sync") {
      parts.push(`--${engine} <address>`);
    }
  }
  return parts.join(" ");
}

/** What commander collects, by the options below. */
interface Given {
  readonly size?: number[];
  readonly engines?: string[];
  readonly filter?: string;
  readonly quick?: true;
  readonly records?: number;
  readonly operations?: number;
  readonly postgres?: string;
  readonly redis?: string;
  readonly json?: string;
  readonly csv?: string;
  readonly html?: string;
  readonly compare?: string;
  readonly doc?: true;
  readonly dir?: string;
}

function program(): Command {
  const command = new Command("deno task bench")
    .description(
      "Sheaf beside other databases: in one run, with the same items, the same checks of answers, and durability named.",
    )
    .addArgument(
      new Argument(
        "[suite...]",
        "sqlite and sync, unless named; all: every one",
      )
        .choices([...everySuite, "all"]),
    );
  for (const option of choices()) command.addOption(option);
  return command
    .option("-q, --quick", "few samples: to see that it runs, not to believe")
    .option("--json <file>", "write the run as JSON")
    .option("--csv <file>", "write the figures as CSV")
    .option("--html <file>", "write a report to read, with charts")
    .option("--compare <file>", "set the run beside an earlier one's JSON")
    .option(
      "--doc",
      "keep the run in bench/results and write docs/benchmarks.md",
    )
    .option(
      "--dir <folder>",
      "where the databases are made (default: .data of the project, which is on a real disk)",
    )
    .addHelpText(
      "after",
      `
Suites:
  sqlite   beside tuned SQLite, with targets
  sync     one server, many clients, with targets
  kv       the key-value face beside LMDB, LevelDB, SQLite, Deno KV, Redis
  ycsb     core workloads A to F, in the process and through a server
  stress   players of a game at 1k, 10k and 100k, also in Chromium
  compare  insert and read, beside many kinds of databases
  text     typing into a bound textarea, beside plain Yjs

Examples:
  deno task bench kv --quick                    does it run?
  deno task bench stress --engines sheaf,sqlite --size 10k
  deno task bench all --doc                     all of docs/benchmarks.md
  deno task bench sqlite --json a.json          then: bench sqlite --compare a.json

Each suite takes five to ten minutes (ycsb, which counts operations, by its
size: 10k records and operations unless told), --quick one or two. A whole run
leaves some engines out where they would say nothing new; --engines has them.
Missed targets do not make it fail; wrong answers and broken cases do.`,
    )
    .showHelpAfterError("(--help shows the options)");
}

/** The options that say what runs. */
function choices(): Option[] {
  return [
    new Option(
      "-s, --size <size...>",
      "items: 1k, 10k, 100k, 1m or a number; several with commas (default: the suite's own)",
    ).argParser(parseSizes),
    new Option(
      "-e, --engines <name...>",
      "only engines whose name contains one of these; several with commas",
    ).argParser(parseEngines),
    new Option(
      "-f, --filter <text>",
      "only rows whose suite, table and operation contain this",
    ),
    new Option(
      "--records <count>",
      "items in ycsb and compare, where no size is given (or SHEAF_BENCH_RECORDS)",
    ).argParser(parseCount),
    new Option(
      "--operations <count>",
      "operations of each workload of ycsb (default: as many as records)",
    )
      .argParser(parseCount),
    new Option("--postgres <address>", "a PostgreSQL server to compare with"),
    new Option("--redis <address>", "a Redis server to compare with"),
  ];
}

/** `1k,10k` and repetitions, in the order given. */
export function parseSizes(
  text: string,
  before: number[] | undefined,
): number[] {
  const sizes = [...before ?? []];
  for (const part of text.split(",")) {
    const size = parseCount(part);
    if (!sizes.includes(size)) sizes.push(size);
  }
  return sizes;
}

/** `20k`, `1m` or a number, from 1k to 10m. */
export function parseCount(text: string): number {
  const [, digits, letter] = /^(\d+)([km]?)$/.exec(text.trim().toLowerCase()) ??
    [];
  const count = Number(digits) *
    (letter === "k" ? 1_000 : letter === "m" ? 1_000_000 : 1);
  if (!(count >= countMin && count <= countMax)) {
    throw new InvalidArgumentError(`"${text}" is not a number from 1k to 10m.`);
  }
  return count;
}

/** `sheaf,sqlite-full` and repetitions. */
export function parseEngines(
  text: string,
  before: string[] | undefined,
): string[] {
  const names = text.toLowerCase().split(",").map((part) => part.trim());
  const odd = names.find((name) => !/^[a-z0-9-]+$/.test(name));
  if (odd !== undefined) {
    throw new InvalidArgumentError(`"${odd}" is not the name of an engine.`);
  }
  return [...new Set([...before ?? [], ...names])];
}

function suitesOf(named: readonly (SuiteName | "all")[]): SuiteName[] {
  const wanted: readonly string[] = named.length === 0 ? usualSuites : named;
  return everySuite.filter((suite) =>
    wanted.includes(suite) || wanted.includes("all")
  );
}

function hasRecords(options: Options, suite: SuiteName): boolean {
  return options.records !== undefined && isCountedInRecords(suite);
}

function isCountedInRecords(suite: SuiteName): boolean {
  return suite === "ycsb" || suite === "compare";
}

function recordsOf(
  text: string | undefined,
  command: Command,
): number | undefined {
  if (text === undefined || text === "") return undefined;
  try {
    return parseCount(text);
  } catch (error) {
    if (!(error instanceof InvalidArgumentError)) throw error;
    return command.error(`error: SHEAF_BENCH_RECORDS: ${error.message}`);
  }
}

/** What makes a run less than whole, if anything. */
function narrowingOf(given: Given): string | undefined {
  if (given.quick === true) return "--quick";
  if (given.filter !== undefined) return "--filter";
  return given.engines === undefined ? undefined : "--engines";
}

function addressesOf({ postgres, redis }: Given): Record<string, string> {
  return {
    ...(postgres === undefined ? {} : { postgres }),
    ...(redis === undefined ? {} : { redis }),
  };
}
