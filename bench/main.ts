/**
 * `deno task bench`: runs, prints, writes.
 *
 * @module
 */

import { compareRuns, comparisonLines } from "./compare.ts";
import { describeMachine, describeVersions, warningOf } from "./machine.ts";
import { budgetOf, commandOf, type Options, parseOptions } from "./options.ts";
import { Progress } from "./progress.ts";
import { docReport } from "./report_doc.ts";
import { parseRows, type RunFile, toCsv, toJson } from "./report_files.ts";
import { textReport } from "./report_text.ts";
import { run } from "./run.ts";
import { killRunners } from "./runner.ts";
import { syncText } from "./sync/report.ts";
import { casesOf, runSync } from "./sync/run.ts";
import { type RowPlan, rowPlans } from "./table1.ts";

const root = new URL("../", import.meta.url);
/** A run that is broken off must not leave its databases behind. */
const breakingOff: readonly Deno.Signal[] = Deno.build.os === "windows"
  ? ["SIGINT"]
  : ["SIGINT", "SIGTERM", "SIGHUP"];
const docPath = new URL("docs/benchmarks.md", root);

async function main(): Promise<number> {
  const options = parseOptions(Deno.args);
  const plans = plansOf(options);
  if (plans.length === 0 && syncCasesOf(options).length === 0) {
    return complain(`No row contains "${options.filter}".`);
  }
  // Read before the long run, so that a wrong file is told at once.
  const earlier = options.compare === undefined
    ? undefined
    : readEarlier(options.compare);
  const result = await runIn(makeFolder(options.folder), options, plans);
  const { machine, versions, rows, sync } = result;
  const lines = textReport(machine, versions, rows);
  if (sync.length > 0) lines.push(...syncText(sync));
  if (earlier !== undefined) {
    lines.push("", ...comparisonLines(compareRuns(result.rows, earlier)));
  }
  console.log(lines.join("\n"));
  writeFiles(options, result);
  const isBroken = [...rows, ...sync].some(({ wrong, failed }) =>
    wrong !== undefined || failed !== undefined
  );
  return isBroken ? 1 : 0;
}

function syncCasesOf(options: Options): ReturnType<typeof casesOf> {
  return options.suites.includes("sync") ? casesOf(options) : [];
}

function plansOf(options: Options): RowPlan[] {
  if (!options.suites.includes("sqlite")) return [];
  const wanted = options.filter.toLowerCase();
  return rowPlans.filter((plan) =>
    `${plan.suite} ${plan.operation}`.toLowerCase().includes(wanted) &&
    plan.modes.some((mode) => options.modes.includes(mode))
  );
}

async function runIn(
  folder: string,
  options: Options,
  plans: readonly RowPlan[],
): Promise<RunFile> {
  const clear = (): void => Deno.removeSync(folder, { recursive: true });
  const interrupt = (): void => {
    killRunners();
    clear();
    Deno.exit(130);
  };
  for (const signal of breakingOff) Deno.addSignalListener(signal, interrupt);
  const progress = new Progress();
  try {
    const machine = describeMachine(folder);
    const versions = describeVersions();
    const warning = warningOf(machine);
    if (warning !== undefined) progress.note(`WARNING: ${warning}`);
    const { sizes, modes } = options;
    const rows = plans.length === 0 ? [] : await run({
      plans,
      modes,
      sizes,
      budget: budgetOf(options),
      folder,
    }, progress);
    const sync = syncCasesOf(options).length === 0
      ? []
      : await runSync({ ...options, folder }, progress);
    return { machine, versions, rows, sync };
  } finally {
    progress.end();
    for (const signal of breakingOff) {
      Deno.removeSignalListener(signal, interrupt);
    }
    clear();
  }
}

/** A folder of this run's own: on the project's disk, since the temporary folder is often in memory. */
function makeFolder(parent: string | undefined): string {
  const dir = parent ?? new URL(".data", root).pathname;
  Deno.mkdirSync(dir, { recursive: true });
  return Deno.realPathSync(Deno.makeTempDirSync({ dir, prefix: "bench-" }));
}

function readEarlier(path: string): ReturnType<typeof parseRows> {
  try {
    return parseRows(Deno.readTextFileSync(path));
  } catch (error) {
    const isExpected = error instanceof SyntaxError ||
      error instanceof Deno.errors.NotFound;
    if (!isExpected) throw error;
    Deno.exit(complain(`Cannot compare with ${path}: ${error.message}`));
  }
}

function writeFiles(options: Options, result: RunFile): void {
  if (options.json !== undefined) {
    Deno.writeTextFileSync(options.json, toJson(result));
  }
  if (options.csv !== undefined) {
    Deno.writeTextFileSync(options.csv, toCsv(result.rows));
  }
  if (options.isDoc) {
    Deno.writeTextFileSync(
      docPath,
      docReport(result, commandOf(options), readPage()),
    );
  }
}

function readPage(): string | undefined {
  try {
    return Deno.readTextFileSync(docPath);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return undefined;
    throw error;
  }
}

function complain(text: string): number {
  console.error(text);
  return 1;
}

if (import.meta.main) Deno.exit(await main());
