/**
 * `deno task test [PATH…]` and `deno task test:all [PATH…]`: runs the tests in
 * parallel processes, says how far it is, and ends with what it left out and
 * `N passed, N failed`.
 *
 * @module
 */

import { parseArgs } from "node:util";
import { browserOfRun } from "../browser/find.ts";
import { hasTwoSizes, testFilesBelow } from "./files.ts";
import { Progress } from "./report.ts";
import { simulationTask } from "./simulation_task.ts";
import { filesTask, runTasks, type Task } from "./suite.ts";
import { leftOut, tierOf } from "./tiers.ts";

const USAGE =
  `deno task test [PATH…]: the quick tests, below some paths or all of them
deno task test:all [PATH…]: all tests, in their whole sizes

  --rest         what \`deno task test\` leaves out, and nothing else
  --filter TEXT  only tests whose names have this
  --fail-fast    begin nothing more once a test failed
  --jobs N       so many processes; as many as there are processors, one more for
                 the quick tests, but at most 8
  --seconds N    begin nothing more after so long, and say what was not run
  --list         say what would run, and run nothing`;

/** Files that share an isolate: to load the database costs as much as many small files. */
const BATCH = 24;
const JOBS_MAX = 8;
const SIMULATION_SECONDS = 60;
const WHOLE_SIMULATION_SECONDS = 180;
/** More names than this are no news. */
const SKIPPED_SHOWN = 6;

const { values, positionals } = parseArguments();
const isAll = values.all === true || values.rest === true;
const files = testFilesBelow().filter((file) =>
  isAsked(file) && isInTier(file)
);
if (files.length === 0) {
  refuse(`There are no tests below ${positionals.join(", ")}`);
}
const progress = new Progress();
const tasks = tasksOf(files);
if (values.list) {
  progress.stop();
  for (const { name } of tasks) console.log(name);
  Deno.exit(0);
}
// All processes are told by it which browser there is.
if (files.some((file) => file.startsWith("tests/browser/"))) {
  await browserOfRun();
}
const left = await runTasks(tasks, {
  jobs: values.jobs,
  endMs: performance.now() + values.seconds * 1_000,
  isFailingFast: values["fail-fast"] === true,
  ended: (task, outcome) => progress.end(task.name, outcome),
});
progress.stop();
tell();
Deno.exit(progress.failed.length === 0 ? 0 : 1);

function parseArguments() {
  const whole = (name: string, text: string | undefined, otherwise: number) => {
    if (text === undefined) return otherwise;
    const value = Number(text);
    if (Number.isSafeInteger(value) && value >= 1) return value;
    return refuse(`--${name} must be a whole number from 1, not "${text}"`);
  };
  try {
    const { values, positionals } = parseArgs({
      allowPositionals: true,
      options: {
        all: { type: "boolean" },
        rest: { type: "boolean" },
        filter: { type: "string" },
        "fail-fast": { type: "boolean" },
        jobs: { type: "string" },
        seconds: { type: "string" },
        list: { type: "boolean" },
        help: { type: "boolean" },
      },
    });
    if (values.help) {
      console.log(USAGE);
      Deno.exit(0);
    }
    const cores = navigator.hardwareConcurrency;
    // Small tests wait for sockets and processes as often as they compute.
    const most = values.all || values.rest ? cores : cores + 1;
    const jobs = whole("jobs", values.jobs, Math.min(most, JOBS_MAX));
    const seconds = whole("seconds", values.seconds, Infinity);
    const paths = positionals.map((path) => path.replace(/^\.\/|\/+$/g, ""));
    return { values: { ...values, jobs, seconds }, positionals: paths };
  } catch (cause) {
    if (!(cause instanceof TypeError)) throw cause;
    return refuse(cause.message);
  }
}

function refuse(why: string): never {
  console.error(`${why}\n\n${USAGE}`);
  Deno.exit(2);
}

function isAsked(file: string): boolean {
  return positionals.length === 0 ||
    positionals.some((path) => file === path || file.startsWith(`${path}/`));
}

function isInTier(file: string): boolean {
  if (values.rest) return tierOf(file) === "all" || hasTwoSizes(file);
  return isAll || tierOf(file) === "quick";
}

/** What takes longest comes first, so that the processes end together. */
function tasksOf(files: readonly string[]): Task[] {
  const isAlone = (file: string) => tierOf(file) === "all" || isSlow(file);
  const alone = files.filter(isAlone)
    .toSorted((a, b) => rankOf(a) - rankOf(b)).map((file) => [file]);
  const batches = batchesOf(files.filter((file) => !isAlone(file)));
  const tasks = [...alone, ...batches].map((batch) => {
    const task: Task = filesTask(batch, {
      isWhole: isAll,
      filter: values.filter,
      heard: ({ file, passed }) => progress.hear(task.name, file, passed),
    });
    return task;
  });
  const isWhole = positionals.length === 0 && values.filter === undefined;
  if (isWhole && !values.rest) {
    const seconds = isAll ? WHOLE_SIMULATION_SECONDS : SIMULATION_SECONDS;
    tasks.unshift(
      simulationTask(seconds, (at) => progress.hear("simulation", at)),
    );
  }
  return tasks;
}

/** Suites of whole databases, servers, pages and packages. */
function isSlow(file: string): boolean {
  return /^(tests\/browser|tools\/release)\//.test(file) || hasTwoSizes(file);
}

/** Its part of what is left out; what has run small already comes last. */
function rankOf(file: string): number {
  const part = leftOut.findIndex(({ files }) => files.test(file));
  return part < 0 ? leftOut.length : part;
}

/** What waits for processes, servers and wires first: the small units at the end fill what is left. */
function batchesOf(files: readonly string[]): string[][] {
  const rank = (
    file: string,
  ) => (/^(?:tests|tools|bench|sync|server|src\/storage)\//.test(file) ? 0 : 1);
  const sorted = files.toSorted((a, b) => rank(a) - rank(b));
  const batches: string[][] = [];
  for (let at = 0; at < sorted.length; at += BATCH) {
    batches.push(sorted.slice(at, at + BATCH));
  }
  return batches;
}

function tell(): void {
  console.log(`\n${files.length} test files in ${progress.time}.`);
  for (const { file, name } of progress.failed) {
    console.log(`FAILED ${file}: ${name}`);
  }
  const { ignored } = progress;
  for (const name of ignored.slice(0, SKIPPED_SHOWN)) {
    console.log(`skipped: ${name}`);
  }
  if (ignored.length > SKIPPED_SHOWN) {
    console.log(`skipped: ${ignored.length - SKIPPED_SHOWN} more`);
  }
  if (left.length > 0) {
    const names = left.map(({ name }) => name).join(", ");
    console.log(`Not run, for want of time: ${names}.`);
  }
  if (!isAll && positionals.length === 0) console.log(leftOutLine());
  console.log(`\n${progress.count}`);
}

function leftOutLine(): string {
  const all = testFilesBelow();
  const parts = leftOut.map(({ name, files }) =>
    `${name} (${all.filter((file) => files.test(file)).length} files)`
  );
  const sizes = files.filter(hasTwoSizes).length;
  return `Left to \`deno task test:all\`: ${
    parts.join(", ")
  }, and the whole sizes of ${sizes} suites that ran small.`;
}
