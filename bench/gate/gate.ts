/**
 * The gate: measures every watched row, holds it against its mark, and
 * measures again what looks worse.
 *
 * A busy machine must not cry wolf: a row fails only when the first
 * measurement and two more all say that it is worse, and ratios of one run are
 * compared, never times. All is measured once before anything is measured
 * again: no row takes another's time, and what disturbed one may be over. When
 * the time is up, what was not measured, or could not be measured again, is
 * said and not held against anybody.
 *
 * @module
 */

import type { Figure } from "../harness/figure.ts";
import { percentile } from "../harness/stats.ts";
import { noiseMax } from "../report/standing.ts";
import { type Baseline, type Mark, nameOf } from "./baseline.ts";
import {
  type Course,
  isOfGathered,
  type Watched,
  watchedOf,
} from "./choice.ts";
import {
  bestOf,
  type Finding,
  judge,
  type Reading,
  readingOf,
  slackElsewhere,
} from "./judge.ts";

/** Runs a course and gives its figures, or ends it when its time is up; the world comes in here. */
export type Measure = (course: Course) => Promise<readonly Figure[] | "late">;

/** What came out for a row. */
export interface Result {
  readonly row: Watched;
  readonly finding: Finding;
  /** How often it was measured. */
  readonly tries: number;
}

/** Further measurements of a row that looks worse. */
const retries = 2;

/** What is run, and what it is held against. */
export interface GateOrder {
  readonly baseline: Baseline;
  readonly courses: readonly Course[];
  readonly measure: Measure;
  /** May a course begin? */
  readonly hasTime?: () => boolean;
  /** Where it runs, as a baseline names it; without it, where the baseline is from. */
  readonly machine?: string;
  /** Are the databases on a disk? Then what goes by the length of a sync is not measured. */
  readonly isOnDisk?: boolean;
}

/** The same with what is not said, and marks by name. */
interface Held {
  readonly marks: ReadonlyMap<string, Mark>;
  readonly slack: number;
  readonly measure: Measure;
  readonly hasTime: () => boolean;
  readonly isOnDisk: boolean;
}

/** Measures all courses and judges all marks. */
export async function runGate(order: GateOrder): Promise<Result[]> {
  const { baseline, courses, machine = baseline.machine } = order;
  const held: Held = {
    marks: new Map(baseline.marks.map((mark) => [nameOf(mark), mark])),
    slack: machine === baseline.machine ? 1 : slackElsewhere,
    measure: order.measure,
    hasTime: order.hasTime ?? (() => true),
    isOnDisk: order.isOnDisk ?? false,
  };
  const standing: { course: Course; results: Result[] }[] = [];
  for (const course of courses) {
    standing.push({ course, results: await measureOnce(course, held) });
  }
  for (let turn = 0; turn < retries; turn++) {
    for (const one of standing) {
      if (!one.results.some(isWorthARetry)) continue;
      one.results = await measureAgain(one.course, one.results, held);
    }
  }
  // A row that nobody watches any more must leave the baseline, not pass in silence.
  const watched = new Set(watchedOf(courses).map(nameOf));
  const stale = baseline.marks.filter((mark) => !watched.has(nameOf(mark)));
  return [
    ...standing.flatMap(({ results }) => results),
    ...stale.map((row) => ({ row, finding: unwatched, tries: 0 })),
  ];
}

type Unheld = Extract<Finding, { is: "unheld" }>;

const unmarked: Finding = {
  is: "broken",
  why: "it has no mark in the baseline: run with --update",
};
const unwatched: Finding = {
  is: "broken",
  why: "it has a mark but is measured no more: run with --update",
};

const onDisk: Unheld = {
  is: "unheld",
  why: "no folder in memory is here, and a disk's syncs would decide",
};
const late: Unheld = { is: "unheld", why: "no time was left to measure it" };
const lateAgain: Unheld = {
  is: "unheld",
  why: "it looked worse, and no time was left to measure it again",
};

async function measureOnce(course: Course, held: Held): Promise<Result[]> {
  const notHeld = (finding: Unheld) =>
    course.rows.map((row) => ({ row, finding, tries: 0 }));
  if (held.isOnDisk && isOfGathered(course)) {
    return notHeld(onDisk);
  }
  const figures = held.hasTime() ? await held.measure(course) : "late";
  return figures === "late" ? notHeld(late) : judgeAll(course, held, figures);
}

/** Measures a course again as a whole; only its bad rows can change. */
async function measureAgain(
  course: Course,
  results: readonly Result[],
  held: Held,
): Promise<Result[]> {
  const figures = held.hasTime() ? await held.measure(course) : "late";
  if (figures === "late") {
    return results.map((result) =>
      result.finding.is === "worse" ? { ...result, finding: lateAgain } : result
    );
  }
  const again = judgeAll(course, held, figures);
  return results.map((result, at) => better(result, again[at]));
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
    const runs: (readonly Figure[] | "late")[] = [];
    for (let turn = 0; turn < markTurns; turn++) {
      runs.push(await measure(course));
    }
    for (const row of course.rows) {
      const readings = runs.map((figures) =>
        figures === "late" ? late : readingOf(row, figures)
      );
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
