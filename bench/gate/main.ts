/**
 * `deno task bench:gate`: fails when a row has become worse than the stored
 * baseline by more than a quarter and the noise.
 *
 * @module
 */

import { Command } from "commander";
import type { Figure } from "../harness/figure.ts";
import { describeMachine } from "../harness/machine.ts";
import { parseRun } from "../report/read.ts";
import { type Baseline, formatBaseline, parseBaseline } from "./baseline.ts";
import { type Course, courses } from "./choice.ts";
import { gateText, isOpen, type Measure, runGate, takeMarks } from "./gate.ts";

const root = new URL("../../", import.meta.url);
const baselinePath = new URL("baseline.json", import.meta.url);
const benchPath = new URL("bench/main.ts", root);
/** No course takes so long, on any machine that the gate is for. */
const courseMsMax = 60_000;
/** No course begins after so long: all is done in less than three minutes. */
const gateMs = 115_000;

/** A row that could not be measured at all: said in one line. */
class GateFailure extends Error {
  override name = "GateFailure";
}

function program(): Command {
  return new Command("deno task bench:gate")
    .description(
      "Measures a few rows and fails if one is worse than the baseline by more than 25 % and the noise.",
    )
    .option("--update", "write what was measured as the new baseline")
    .showHelpAfterError("(--help shows the options)");
}

async function main(): Promise<number> {
  const { update } = program().parse([...Deno.args], { from: "user" })
    .opts<{ update?: true }>();
  const folder = Deno.makeTempDirSync({ prefix: "bench-gate-" });
  try {
    const measure = measureIn(folder);
    const { cpu, cores } = describeMachine(folder);
    const machine = `${cpu}, ${cores} cores`;
    return update === true
      ? await write(measure, machine)
      : await check(measure, machine);
  } catch (error) {
    if (!(error instanceof GateFailure)) throw error;
    console.error(error.message);
    return 1;
  } finally {
    Deno.removeSync(folder, { recursive: true });
  }
}

async function check(measure: Measure, machine: string): Promise<number> {
  const baseline = readBaseline();
  const hasTime = (): boolean => performance.now() < gateMs;
  const results = await runGate(
    baseline,
    courses,
    measure,
    hasTime,
    machine,
  );
  console.log(gateText(results).join("\n"));
  console.log(
    `Baseline: ${baseline.commit}, ${baseline.date}, ${
      machine === baseline.machine
        ? "on such a machine"
        : `on another machine (${baseline.machine}): limits are wider`
    }.`,
  );
  if (isOpen(results)) return 0;
  console.error(
    "The gate is closed. Where this is meant, say so in a commit with --update.",
  );
  return 1;
}

async function write(measure: Measure, machine: string): Promise<number> {
  const { marks, missing } = await takeMarks(courses, measure);
  if (missing.length > 0) {
    throw new GateFailure(
      `No baseline was written:\n${missing.join("\n")}`,
    );
  }
  const baseline: Baseline = { format: 1, ...current, machine, marks };
  Deno.writeTextFileSync(baselinePath, formatBaseline(baseline));
  console.log(`${marks.length} rows are the new baseline.`);
  return 0;
}

/** Commit and date of the last measurement. */
let current = { commit: "unknown", date: "unknown" };

/** Runs a course as the bench itself, in a process of its own, and reads what it wrote. */
function measureIn(folder: string): Measure {
  return async (course) => {
    const json = `${folder}/run.json`;
    const child = new Deno.Command(Deno.execPath(), {
      args: ["run", "--allow-all", benchPath.pathname, ...argsOf(course, json)],
      cwd: root,
      stdin: "null",
      stdout: "null",
      stderr: "piped",
      signal: AbortSignal.timeout(courseMsMax),
    });
    console.log(
      `${course.suite}, ${course.size}${
        course.filter === "" ? "" : `, only "${course.filter}"`
      }`,
    );
    const { code, stderr } = await child.output();
    return figuresOf(course, json, code, new TextDecoder().decode(stderr));
  };
}

function argsOf(course: Course, json: string): string[] {
  const engines = new Set(
    course.rows.flatMap(({ engine, rival }) => [engine, rival]),
  );
  return [
    course.suite,
    "--quick",
    "--size",
    `${course.size}`,
    "--engines",
    [...engines].join(),
    ...course.filter === "" ? [] : ["--filter", course.filter],
    "--json",
    json,
  ];
}

/** A bench that found a wrong answer ends with 1 and has still written its run: the row says what was wrong. */
function figuresOf(
  course: Course,
  json: string,
  code: number,
  complaint: string,
): readonly Figure[] {
  try {
    const { suites } = parseRun(Deno.readTextFileSync(json));
    Deno.removeSync(json);
    const [first] = suites;
    if (first !== undefined) {
      const { commit, date } = first.versions;
      current = { commit, date };
    }
    return suites.flatMap(({ figures }) => [...figures]);
  } catch (error) {
    const isExpected = error instanceof Deno.errors.NotFound ||
      error instanceof SyntaxError;
    if (!isExpected) throw error;
    throw new GateFailure(
      `The bench gave no run of ${course.suite} (it ended with ${code}): ${
        complaint.trim().split("\n").slice(-6).join("\n")
      }`,
    );
  }
}

function readBaseline(): Baseline {
  try {
    return parseBaseline(Deno.readTextFileSync(baselinePath));
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
