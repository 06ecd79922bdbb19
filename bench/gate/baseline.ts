/**
 * What the gate holds a run against: ratios, and how far each wandered when it
 * was written.
 *
 * @module
 */

import type { Watched } from "./choice.ts";

/** One watched row as it was. */
export interface Mark extends Watched {
  /** Ours by the rival's in one run, below is better, for rates too; without a rival what was counted. */
  readonly ratio: number;
  /** The factor within which both runs of then were level. */
  readonly noise: number;
}

/** The stored file. */
export interface Baseline {
  readonly format: 1;
  readonly commit: string;
  readonly date: string;
  /** The processor and how many cores of it: on another one ratios are others. */
  readonly machine: string;
  readonly marks: readonly Mark[];
}

/** Which row is meant, in one line. */
export function nameOf(row: Watched): string {
  return `${row.suite}: ${row.table}, ${row.operation}, ${row.size}: ` +
    (row.rival === undefined ? row.engine : `${row.engine} by ${row.rival}`);
}

/** The file's text; ratios are rounded to what they say. */
export function formatBaseline(baseline: Baseline): string {
  const marks = baseline.marks.map((mark) => ({
    ...mark,
    ratio: Number(mark.ratio.toPrecision(4)),
    noise: Number(mark.noise.toPrecision(4)),
  }));
  return JSON.stringify({ ...baseline, marks }, undefined, 2) + "\n";
}

/** The baseline in a text; throws `SyntaxError` if it is something else. */
export function parseBaseline(text: string): Baseline {
  const file: unknown = JSON.parse(text);
  if (!isFields(file) || file.format !== 1 || !Array.isArray(file.marks)) {
    throw new SyntaxError("This is not a baseline of the gate (format 1)");
  }
  const { commit, date, machine, marks } = file;
  if (
    typeof commit !== "string" || typeof date !== "string" ||
    typeof machine !== "string"
  ) {
    throw new SyntaxError("The baseline lacks its commit, date or machine");
  }
  marks.forEach(checkMark);
  // Every field that the type has was checked above.
  return { format: 1, commit, date, machine, marks: marks as Mark[] };
}

function checkMark(mark: unknown, at: number): void {
  if (!isFields(mark)) throw new SyntaxError(`marks[${at}] is not an object`);
  for (const name of ["suite", "table", "operation", "engine", "rival"]) {
    const isAbsent = name === "rival" && mark[name] === undefined;
    if (typeof mark[name] !== "string" && !isAbsent) {
      throw new SyntaxError(`marks[${at}].${name} is not a text`);
    }
  }
  for (const name of ["size", "ratio", "noise"]) {
    const value = mark[name];
    // Where nothing is stored, or it is counted in the operation, a size is 0.
    const isZero = name === "size" && value === 0;
    const isSound = typeof value === "number" && value > 0 &&
      Number.isFinite(value);
    if (!isSound && !isZero) {
      throw new SyntaxError(`marks[${at}].${name} is not a number above 0`);
    }
  }
}

function isFields(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
