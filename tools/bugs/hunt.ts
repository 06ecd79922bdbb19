/**
 * Making one bug in a private copy of the tree, and looking which test finds it.
 *
 * A test counts that fails with the bug and passes without it; a hang is a
 * failure of the test that hangs.
 *
 * @module
 */

import type { Sandbox } from "../sandbox.ts";
import { type FailedTest, Transcript } from "../test/transcript.ts";
import { applyBug, type Bug } from "./bug.ts";

/** How a bug is looked for. */
export interface HuntOptions {
  /** By all that its tier has, in its own order, as if nobody knew where it is. */
  readonly isBlind: boolean;
  /** So long tests of the quick tier may run. */
  readonly secondsMax: number;
}

/** What became of a bug. */
export interface Hunted {
  readonly bug: Bug;
  readonly seconds: number;
  readonly foundBy?: FailedTest;
  /** Why it was not found. */
  readonly complaint?: string;
}

/** What comes in its whole size takes its time. */
const WHOLE_SECONDS_MAX = 600;
/** A test that waits longer hangs: less than the time that there is for a bug. */
const HANG_MS = 30_000;
const WHOLE_HANG_MS = 300_000;
const FAILED = /^FAILED (\S+): (.+)$/m;

/** Looks for one bug. The sandbox is as it was when this is done. */
export async function hunt(
  bug: Bug,
  sandbox: Sandbox,
  options: HuntOptions,
): Promise<Hunted> {
  const secondsMax = bug.tier === "all"
    ? WHOLE_SECONDS_MAX
    : options.secondsMax;
  return options.isBlind
    ? await blindly(bug, sandbox, secondsMax)
    : await byName(bug, sandbox, secondsMax);
}

/** By the tests that the list names. */
async function byName(
  bug: Bug,
  sandbox: Sandbox,
  secondsMax: number,
): Promise<Hunted> {
  let seconds = 0;
  let complaint = "NOT FOUND";
  for (const file of bug.foundBy) {
    const left = secondsMax - seconds;
    if (left <= 0) break;
    const ran = await withBug(bug, sandbox, () =>
      sandbox.run(
        argumentsFor(sandbox, file),
        { ...environmentOf(bug), secondsMax: left },
      ));
    seconds += ran.seconds;
    const transcript = new Transcript([file]);
    transcript.hear(ran.output);
    const [foundBy] = transcript.failed;
    if (foundBy === undefined) {
      if (ran.isSuccess || ran.isLate) continue;
      complaint = `${file} does not run:\n${ran.output.trim()}`;
    } else if (await passes(foundBy, bug, sandbox, hasHung(transcript))) {
      return { bug, seconds, foundBy };
    } else complaint = unfounded(foundBy);
  }
  return { bug, seconds, complaint };
}

async function withBug<T>(
  bug: Bug,
  sandbox: Sandbox,
  work: () => Promise<T>,
): Promise<T> {
  try {
    await sandbox.change(bug.file, (text) => applyBug(bug, text));
    return await work();
  } finally {
    await sandbox.restore();
  }
}

function hasHung(transcript: Transcript): boolean {
  return transcript.reasons().includes("Test timed out");
}

function unfounded({ file, name }: FailedTest): string {
  return `NOT FOUND: without the bug it fails as well: ${file}: ${name}`;
}

/** By everything, in the order in which it would run. */
async function blindly(
  bug: Bug,
  sandbox: Sandbox,
  secondsMax: number,
): Promise<Hunted> {
  const task = bug.tier === "all" ? "test:all" : "test";
  const { output, seconds } = await withBug(bug, sandbox, () =>
    sandbox.run(
      ["task", "--quiet", task, "--fail-fast"],
      { secondsMax, until: (output) => FAILED.test(output) },
    ));
  const [, file, name] = FAILED.exec(output) ?? [];
  if (file === undefined || name === undefined) {
    return { bug, seconds, complaint: "NOT FOUND" };
  }
  const foundBy = { file, name };
  return await passes(foundBy, bug, sandbox)
    ? { bug, seconds, foundBy }
    : { bug, seconds, complaint: unfounded(foundBy) };
}

function argumentsFor(sandbox: Sandbox, file: string, filter?: string) {
  return [
    "test",
    "--quiet",
    "--allow-all",
    "--no-check",
    "--fail-fast",
    `--preload=${sandbox.path}/tools/test/preload.ts`,
    ...filter === undefined ? [] : [`--filter=${filter}`],
    file,
  ];
}

/** What the bug's tests run with; who is patient only wants to know whether they pass. */
function environmentOf({ tier }: Bug, isPatient = false) {
  const isWhole = tier === "all";
  const limitMs = isWhole || isPatient ? WHOLE_HANG_MS : HANG_MS;
  const env = { SHEAF_TEST_LIMIT_MS: `${limitMs}` };
  return { env: isWhole ? { ...env, SHEAF_TEST_TIER: "all" } : env };
}

/** Does the test that has failed pass without the bug? One that hung, in the same time. */
async function passes(
  { file, name }: FailedTest,
  bug: Bug,
  sandbox: Sandbox,
  hasHung = false,
): Promise<boolean> {
  const args = file.endsWith("_test.ts") || file.endsWith("_test.tsx")
    ? argumentsFor(sandbox, file, isTest(name) ? name : undefined)
    : simulationFrom(file, name);
  const ran = await sandbox.run(args, {
    ...environmentOf(bug, !hasHung),
    secondsMax: 2 * WHOLE_HANG_MS / 1_000,
  });
  return ran.isSuccess;
}

/** The same seeds again, for as long. */
function simulationFrom(file: string, name: string) {
  const seed = name.replace(/\D/g, "");
  const args = ["run", "--quiet", "--allow-all", "--no-check"];
  return [...args, file, `--seed=${seed}`, "--seconds=60"];
}

/** An error that no test caught has no test's name. */
function isTest(name: string): boolean {
  return name !== "an error that no test caught";
}
