/**
 * `deno task bench:gate`: fails when a row has become worse than the stored
 * baseline by more than a quarter and the noise.
 *
 * @module
 */

import { statfsSync } from "node:fs";
import { Command } from "commander";
import { describeVersions } from "../harness/machine.ts";
import { type Baseline, formatBaseline, parseBaseline } from "./baseline.ts";
import { type Course, courses, isOfGathered } from "./choice.ts";
import { gateText, isOpen, type Measure, runGate, takeMarks } from "./gate.ts";
import { machineName } from "./machine.ts";
import { GateFailure, measureIn } from "./process.ts";

const root = new URL("../../", import.meta.url).pathname;
const storedPath = `${root}bench/gate/baseline.json`;
/** Where files are memory: a disk that others use would only disturb. */
const memoryFolder = "/dev/shm";
/** Less of it may be full before a course has ended. */
const memoryBytesMin = 2 ** 30;
const courseMsMax = 60_000;
/** No course begins after so long … */
const beginMsMax = 115_000;
/** … and none runs on after so long: CI gives the gate three minutes. */
const endMsMax = 165_000;

interface Given {
  readonly update?: true;
  readonly baseline: string;
}

function program(): Command {
  return new Command("deno task bench:gate")
    .description(
      "Measures a few rows and fails if one is worse than the baseline by more than 25 % and the noise.",
    )
    .option("--update", "write what was measured as the new baseline")
    .option("--baseline <file>", "one of your own machine", storedPath)
    .showHelpAfterError("(--help shows the options)");
}

async function main(): Promise<number> {
  const { update, baseline: path } = program()
    .parse([...Deno.args], { from: "user" }).opts<Given>();
  try {
    return update === true ? await write(path) : await check(path);
  } catch (error) {
    if (!(error instanceof GateFailure)) throw error;
    console.error(error.message);
    return 1;
  }
}

async function check(path: string): Promise<number> {
  const baseline = readBaseline(path);
  const machine = machineName();
  const isOnDisk = !hasMemory();
  const results = await runGate({
    baseline,
    courses,
    measure: measureUntil(endMsMax, isOnDisk),
    hasTime: () => performance.now() < beginMsMax,
    machine,
    isOnDisk,
  });
  console.log(gateText(results).join("\n"));
  console.log(whereText(baseline, machine));
  if (isOpen(results)) return 0;
  console.error(
    "The gate is closed. Where this is meant, say so in a commit with --update.",
  );
  return 1;
}

function whereText(
  { commit, date, machine: then }: Baseline,
  machine: string,
): string {
  const from = `Baseline: ${commit}, ${date}`;
  return machine === then
    ? `${from}, on such a machine.`
    : `${from}, on another machine (${then}; this is ${machine}): limits are twice as wide.\n` +
      "For narrow ones take a baseline here, before your change: --update --baseline .data/gate.json";
}

async function write(path: string): Promise<number> {
  const isOnDisk = !hasMemory();
  const { marks, missing } = await takeMarks(
    courses.filter((course) => !isOnDisk || !isOfGathered(course)),
    measureUntil(Infinity, isOnDisk),
  );
  if (missing.length > 0) {
    throw new GateFailure(
      `No baseline was written:\n${missing.join("\n")}`,
    );
  }
  const { commit, date } = describeVersions();
  const machine = machineName();
  const baseline: Baseline = { format: 1, commit, date, machine, marks };
  Deno.writeTextFileSync(path, formatBaseline(baseline));
  console.log(`${marks.length} rows are the new baseline.`);
  return 0;
}

/** Is there a folder in memory with room enough? */
function hasMemory(): boolean {
  try {
    const { bavail, bsize } = statfsSync(memoryFolder);
    return bavail * bsize >= memoryBytesMin;
  } catch {
    // Other systems have no such folder.
    return false;
  }
}

/** Measures, and says what; `endMs`: since the start of this process. */
function measureUntil(endMs: number, isOnDisk: boolean): Measure {
  const measure = measureIn({
    parent: isOnDisk ? `${root}.data` : memoryFolder,
    courseMsMax,
    msLeft: () => endMs - performance.now(),
  });
  return async (course) => {
    const from = performance.now();
    const figures = await measure(course);
    const seconds = (performance.now() - from) / 1_000;
    console.log(`${textOf(course)}: ${seconds.toFixed(1)} s`);
    return figures;
  };
}

function textOf({ suite, size, filter }: Course): string {
  return `${suite}, ${size}${filter === "" ? "" : `, only "${filter}"`}`;
}

function readBaseline(path: string): Baseline {
  try {
    return parseBaseline(Deno.readTextFileSync(path));
  } catch (error) {
    const isExpected = error instanceof Deno.errors.NotFound ||
      error instanceof SyntaxError;
    if (!isExpected) throw error;
    throw new GateFailure(
      `The baseline cannot be read: ${error.message}. Write one with --update.`,
    );
  }
}

if (import.meta.main) Deno.exit(await main());
