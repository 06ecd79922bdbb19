/**
 * A run beside an earlier one.
 *
 * Sheaf's rows are compared by their ratio to SQLite, since whatever slowed or
 * quickened the machine between the runs did so to both engines; SQLite's own
 * rows by their medians, which shows how far the machine itself has drifted.
 *
 * @module
 */

import { alignColumns, showFigure, showRatio, showSize } from "./format.ts";
import type { EarlierRow } from "./report_files.ts";
import type { Row } from "./results.ts";

/** One row then and now. */
export interface Comparison {
  readonly row: Row;
  readonly then: EarlierRow;
  /** What was compared: now ÷ then; 1 is no change. */
  readonly change: number;
  /** Changes below this factor, either way, are noise. */
  readonly noise: number;
  readonly verdict: "better" | "worse" | "noise";
}

/** Even two runs of one program differ by this much on a shared machine. */
const noiseMin = 1.15;

/** Rows that both runs have, with figures. */
export function compareRuns(
  rows: readonly Row[],
  earlier: readonly EarlierRow[],
): Comparison[] {
  const known = new Map(earlier.map((row) => [keyOf(row), row]));
  const comparisons: Comparison[] = [];
  for (const row of rows) {
    const then = known.get(keyOf(row));
    if (then === undefined || then.unit !== row.unit) continue;
    const change = changeOf(row, then);
    if (change === undefined) continue;
    const noise = Math.max(noiseMin, spreadOf(row), spreadOf(then));
    comparisons.push({
      row,
      then,
      change,
      noise,
      verdict: judge(change, noise),
    });
  }
  return comparisons;
}

/** The comparison as lines. */
export function comparisonLines(comparisons: readonly Comparison[]): string[] {
  if (comparisons.length === 0) {
    return ["The earlier run has no row in common with this one."];
  }
  const head = [
    "operation",
    "size",
    "engine",
    "then",
    "now",
    "ratio then",
    "ratio now",
    "change",
    "",
  ];
  const body = comparisons.map(({ row, then, change, verdict }) => [
    row.operation,
    showSize(row.size),
    row.mode,
    showFigure(then.median, row.unit),
    showFigure(row.median, row.unit),
    then.ratio === null ? "" : showRatio(then.ratio),
    row.ratio === null ? "" : showRatio(row.ratio),
    `${change >= 1 ? "+" : ""}${((change - 1) * 100).toFixed(0)} %`,
    verdict === "noise" ? "within noise" : verdict.toUpperCase(),
  ]);
  const count = (verdict: string): number =>
    comparisons.filter((one) => one.verdict === verdict).length;
  return [
    ...alignColumns([head, ...body], 3),
    "",
    `${count("better")} better, ${count("worse")} worse, ${
      count("noise")
    } within noise. ` +
    "Sheaf is compared by its ratio to SQLite, SQLite by its median.",
  ];
}

function keyOf(
  row: { suite: string; operation: string; mode: string; size: number },
): string {
  return [row.suite, row.operation, row.mode, row.size].join("\n");
}

function changeOf(row: Row, then: EarlierRow): number | undefined {
  if (row.wrong !== undefined || row.failed !== undefined) return undefined;
  if (row.ratio !== null || then.ratio !== null) {
    return quotient(row.ratio, then.ratio);
  }
  return row.against === null ? quotient(row.median, then.median) : undefined;
}

function quotient(now: number | null, then: number | null): number | undefined {
  return now === null || then === null || then <= 0 ? undefined : now / then;
}

/** How far the upper quartile lies above the median, as a factor. */
function spreadOf(row: { median: number | null; p75: number | null }): number {
  return row.median === null || row.p75 === null || row.median === 0
    ? 1
    : row.p75 / row.median;
}

function judge(change: number, noise: number): Comparison["verdict"] {
  if (change > noise) return "worse";
  return change < 1 / noise ? "better" : "noise";
}
