/**
 * Everything that is to be run, in parallel processes: test files in batches,
 * and what is a test without being a test file.
 *
 * A process that dies without having failed a test (Deno itself, out of memory)
 * is no verdict: what it had not finished runs once more, in a process of its
 * own. A test that failed is never tried again.
 *
 * @module
 */

import { type Ended, testFiles, type TestOptions } from "./test_process.ts";
import type { FailedTest } from "./transcript.ts";

/** What came of something that was run. */
export interface Outcome {
  readonly passed: number;
  readonly ignored: readonly string[];
  readonly failed: readonly FailedTest[];
  /** Why, for who has to mend it. */
  readonly reasons: string;
}

/** Something that can be run beside others. */
export interface Task {
  /** What it is, while it is running. */
  readonly name: string;
  run(): Promise<Outcome>;
}

/** How tasks are run. */
export interface SuiteOptions {
  readonly jobs: number;
  /** No task begins after this moment; milliseconds as of `performance.now()`. */
  readonly endMs: number;
  /** Begins nothing more once a test failed. */
  readonly isFailingFast: boolean;
  /** Hears of the end of each task. */
  readonly ended: (task: Task, outcome: Outcome) => void;
}

/** Runs tasks in their order; gives those that were not begun. */
export async function runTasks(
  tasks: readonly Task[],
  { jobs, endMs, isFailingFast, ended }: SuiteOptions,
): Promise<Task[]> {
  const queue = [...tasks];
  let hasFailed = false;
  const isOver = () =>
    performance.now() >= endMs || (hasFailed && isFailingFast);
  const work = async () => {
    while (!isOver()) {
      const task = queue.shift();
      if (task === undefined) return;
      const outcome = await task.run();
      if (outcome.failed.length > 0) hasFailed = true;
      ended(task, outcome);
    }
  };
  await Promise.all(Array.from({ length: jobs }, work));
  return queue;
}

/** The tests of some files as a task. */
export function filesTask(
  files: readonly string[],
  options: TestOptions,
): Task {
  const name = files.length === 1 ? files[0]! : `${files[0]} …`;
  return { name, run: () => runFiles(files, options, true) };
}

async function runFiles(
  files: readonly string[],
  options: TestOptions,
  isFirst: boolean,
): Promise<Outcome> {
  const ended = await testFiles(files, options);
  const { transcript, code, signal, isSilent } = ended;
  const left = code === 0 ? [] : transcript.left;
  const { ignored, failed } = transcript;
  const own: Outcome = {
    passed: transcript.passedWithout(left),
    ignored,
    failed,
    reasons: transcript.reasons(),
  };
  // With a signal and nothing left it had finished, and died on its way out.
  const isExplained = code === 0 || signal !== null || failed.length > 0;
  if (left.length === 0 && isExplained) return own;
  if (!isFirst || isSilent) return joined(own, died(ended));
  let all = own;
  for (const file of left) {
    all = joined(all, await runFiles([file], options, false));
  }
  return all;
}

/** The failure of a process that no test explains. */
function died(ended: Ended): Outcome {
  const { transcript, code, signal, isSilent, stderr } = ended;
  const { file, running: name = "no test in particular" } = transcript;
  const how = isSilent
    ? "said nothing any more and was ended"
    : `died (${signal ?? `exit code ${code}`})`;
  const reasons = [
    `${file}: the process ${how} in: ${name}`,
    ...transcript.tail,
    stderr,
  ].join("\n");
  return { passed: 0, ignored: [], failed: [{ file, name }], reasons };
}

function joined(one: Outcome, other: Outcome): Outcome {
  return {
    passed: one.passed + other.passed,
    ignored: [...one.ignored, ...other.ignored],
    failed: [...one.failed, ...other.failed],
    reasons: [one.reasons, other.reasons].filter((text) => text !== "")
      .join("\n\n"),
  };
}
