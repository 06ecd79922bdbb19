/**
 * The gate: measures, holds every watched row against its mark, and measures
 * again what looks worse.
 *
 * A busy machine must not cry wolf: a row fails only when the first
 * measurement and two more all say that it is worse, and ratios of one run are
 * compared, never times. When the time is up, what was not measured, or could
 * not be measured again, is said and not held against anybody.
 *
 * @module
 */

import type { Figure } from "../harness/figure.ts";
import { percentile } from "../harness/stats.ts";
import { noiseMax } from "../report/standing.ts";
import { type Baseline, type Mark, nameOf } from "./baseline.ts";
import { type Course, type Watched, watchedOf } from "./choice.ts";
import {
  bestOf,
  type Finding,
  judge,
  type Reading,
  readingOf,
  slackElsewhere,
} from "./judge.ts";

/** Runs a course and gives its figures; the world comes in here. */
export type Measure = (course: Course) => Promise<readonly Figure[]>;

/** What came out for a row. */
export interface Result {
  readonly row: Watched;
  readonly finding: Finding;
  /** How often it was measured. */
  readonly tries: number;
}

/** Further measurements of a row that looks worse. */
const retries = 2;

/** What a run is held against, and how. */
interface Held {
  readonly marks: ReadonlyMap<string, Mark>;
  readonly slack: number;
  readonly measure: Measure;
  readonly hasTime: () => boolean;
}

/**
 * Measures all courses and judges all marks.
 *
 * @param machine where it runs, as a baseline names it
 */
export async function runGate(
  baseline: Baseline,
  courses: readonly Course[],
  measure: Measure,
  hasTime: () => boolean = () => true,
  machine: string = baseline.machine,
): Promise<Result[]> {
  const held: Held = {
    marks: new Map(baseline.marks.map((mark) => [nameOf(mark), mark])),
    slack: machine === baseline.machine ? 1 : slackElsewhere,
    measure,
    hasTime,
  };
  const results: Result[] = [];
  for (const course of courses) {
    results.push(
      ...hasTime()
        ? await runCourse(course, held)
        : course.rows.map((row) => ({ row, finding: late, tries: 0 })),
    );
  }
  // A row that nobody watches any more must leave the baseline, not pass in silence.
  const watched = new Set(watchedOf(courses).map(nameOf));
  const stale = baseline.marks.filter((mark) => !watched.has(nameOf(mark)));
  return [
    ...results,
    ...stale.map((row) => ({ row, finding: unwatched, tries: 0 })),
  ];
}

const unmarked: Finding = {
  is: "broken",
  why: "it has no mark in the baseline: run with --update",
};
const unwatched: Finding = {
  is: "broken",
  why: "it has a mark but is measured no more: run with --update",
};

const late: Finding = { is: "unheld", why: "no time was left to measure it" };
const lateAgain: Finding = {
  is: "unheld",
  why: "it looked worse, and no time was left to measure it again",
};

/** Measures a course, and again as a whole while one of its rows looks bad. */
async function runCourse(course: Course, held: Held): Promise<Result[]> {
  const { measure, hasTime } = held;
  let results = judgeAll(course, held, await measure(course));
  for (let turn = 0; turn < retries && results.some(isWorthARetry); turn++) {
    if (!hasTime()) {
      return results.map((result) =>
        result.finding.is === "worse"
          ? { ...result, finding: lateAgain }
          : result
      );
    }
    const again = judgeAll(course, held, await measure(course));
    results = results.map((result, at) => better(result, again[at]));
  }
  return results;
}

function judgeAll(
  course: Course,
  { marks, slack }: Held,
  figures: readonly Figure[],
): Result[] {
  return course.rows.map((row) => {
    const mark = marks.get(nameOf(row));
    const finding = mark === undefined
      ? unmarked
      : judge(mark, figures, row, slack);
    return { row, finding, tries: 1 };
  });
}

/** No measurement gives a row the mark that it lacks. */
function isWorthARetry({ finding }: Result): boolean {
  return isBad(finding) && finding !== unmarked;
}

/** A bad result with a further try; a good one stands. */
function better(result: Result, again: Result | undefined): Result {
  if (again === undefined || !isWorthARetry(result)) return result;
  const finding = bestOf(result.finding, again.finding);
  return { ...result, finding, tries: result.tries + 1 };
}

/** A baseline is the middle of so many measurements. */
const markTurns = 3;

/** The marks of all watched rows; what has no ratio is told. */
export async function takeMarks(
  courses: readonly Course[],
  measure: Measure,
): Promise<{ marks: Mark[]; missing: string[] }> {
  const marks: Mark[] = [];
  const missing: string[] = [];
  for (const course of courses) {
    const runs: (readonly Figure[])[] = [];
    for (let turn = 0; turn < markTurns; turn++) {
      runs.push(await measure(course));
    }
    for (const row of course.rows) {
      const readings = runs.map((figures) => readingOf(row, figures));
      const sound = readings.flatMap((one) => "is" in one ? [] : [one]);
      const bad = readings.flatMap((one) => "is" in one ? [one] : [])[0];
      if (bad === undefined) marks.push({ ...row, ...middleOf(sound) });
      else missing.push(`${nameOf(row)}: ${bad.why}`);
    }
  }
  return { marks, missing };
}

/** The median ratio, and the greatest noise that was seen: within the runs, and between them. */
function middleOf(readings: readonly Reading[]): Reading {
  const ratios = readings.map(({ ratio }) => ratio).sort((a, b) => a - b);
  const ratio = percentile(ratios, 0.5);
  const between = Math.sqrt(percentile(ratios, 1) / percentile(ratios, 0));
  const within = Math.max(...readings.map(({ noise }) => noise));
  return { ratio, noise: Math.min(noiseMax, Math.max(between, within)) };
}

/** Does this close the gate? */
export function isBad(finding: Finding): boolean {
  return finding.is === "worse" || finding.is === "broken";
}

/** Is the gate open? Not where nothing at all could be compared. */
export function isOpen(results: readonly Result[]): boolean {
  return results.some(({ finding }) => finding.is !== "unheld") &&
    !results.some(({ finding }) => isBad(finding));
}

/** What came out, as lines: first what is bad, then what moved, then the rest counted. */
export function gateText(results: readonly Result[]): string[] {
  const lines: string[] = [];
  for (const { row, finding, tries } of results) {
    if (finding.is === "steady") continue;
    lines.push(
      `${finding.is.toUpperCase()} ${nameOf(row)}: ${
        "why" in finding ? finding.why : changeWords(finding)
      }${tries > 1 ? ` (the best of ${tries} measurements)` : ""}`,
    );
  }
  const steady = results.filter(({ finding }) => finding.is === "steady");
  const again = steady.filter(({ tries }) => tries > 1).length;
  lines.push(
    `${steady.length} of ${results.length} rows are as they were${
      again > 0 ? `, ${again} of them only when measured again` : ""
    }.`,
  );
  return lines;
}

function changeWords(
  { change, limit, ratio }: Extract<Finding, { change: number }>,
): string {
  const percent = (factor: number): string =>
    `${factor >= 1 ? "+" : "−"}${Math.abs((factor - 1) * 100).toFixed(0)} %`;
  return `${percent(change)}, ratio now ${ratio.toPrecision(3)} (told from ${
    percent(limit)
  } on)`;
}
