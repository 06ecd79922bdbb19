/**
 * Runs courses in processes of their own, each until a moment at which nobody
 * waits for it any more.
 *
 * @module
 */

import type { Figure } from "../harness/figure.ts";
import { makeRunFolder, removeFolder } from "../harness/folders.ts";
import type { Course } from "./choice.ts";
import type { Measure } from "./gate.ts";
import type { Assignment } from "./measure.ts";

/** A course that gave nothing to judge, though it had its time. */
export class GateFailure extends Error {
  override name = "GateFailure";
}

/** How courses are run. */
export interface ProcessOptions {
  /** Databases are made in here, and removed. */
  readonly parent: string;
  /** No course takes so long, on any machine that the gate is for. */
  readonly courseMsMax: number;
  /** Milliseconds until all must be done; a course that still runs then is ended. */
  readonly msLeft: () => number;
  /** What runs a course: the module of `measure.ts`. */
  readonly module?: URL;
}

/** From the end of its input to its end a process has so long to clean up. */
const goodbyeMs = 3_000;
const complaintLines = 6;

/** Measures a course in a process, which is ended when its time is up. */
export function measureIn(options: ProcessOptions): Measure {
  return async (course) => {
    const folder = makeRunFolder(options.parent);
    const answer = `${folder}/figures.json`;
    try {
      const ending = await run({ course, folder, answer }, options);
      return ending === "late" ? ending : read(course, answer, ending);
    } finally {
      await removeFolder(folder);
    }
  };
}

interface Ending {
  readonly code: number;
  readonly complaint: string;
}

async function run(
  assignment: Assignment,
  { courseMsMax, msLeft, module }: ProcessOptions,
): Promise<Ending | "late"> {
  const child = new Deno.Command(Deno.execPath(), {
    args: [
      "run",
      "--no-check",
      "--quiet",
      "--allow-all",
      (module ?? new URL("measure.ts", import.meta.url)).href,
      JSON.stringify(assignment),
    ],
    // It ends, with all that it started, when this ends: by us, or with us.
    stdin: "piped",
    stdout: "null",
    stderr: "piped",
    env: { NO_COLOR: "1" },
  }).spawn();
  let isLate = false;
  const timers = [setTimeout(() => {
    isLate = true;
    child.stdin.abort().catch(() => {});
    timers.push(setTimeout(() => child.kill("SIGKILL"), goodbyeMs));
  }, Math.max(0, Math.min(courseMsMax, msLeft())))];
  try {
    const { code, stderr } = await child.output();
    if (isLate) return "late";
    const lines = new TextDecoder().decode(stderr).trim().split("\n");
    return { code, complaint: lines.slice(-complaintLines).join("\n") };
  } finally {
    for (const timer of timers) clearTimeout(timer);
    await child.stdin.abort().catch(() => {});
  }
}

/** The figures that a process left, or why there are none. */
function read(
  { suite, size }: Course,
  answer: string,
  { code, complaint }: Ending,
): readonly Figure[] {
  try {
    return JSON.parse(Deno.readTextFileSync(answer));
  } catch (error) {
    const isExpected = error instanceof Deno.errors.NotFound ||
      error instanceof SyntaxError;
    if (!isExpected) throw error;
    throw new GateFailure(
      `${suite}, ${size} gave no figures (it ended with ${code}): ${complaint}`,
    );
  }
}
