/**
 * One figure of the sync suites, with its target.
 *
 * Targets are absolute, stated for a machine like the one in TARGETS; beside
 * each stands the floor of the same run where there is one: what the bare wire
 * and the bare disk take for the same trip.
 *
 * @module
 */

import type { Mode } from "../engine.ts";
import { percentile } from "../stats.ts";

/** The units of the sync suites. */
export type SyncUnit =
  | "ms"
  | "items/s"
  | "writes/s"
  | "B"
  | "KB"
  | "MB"
  | "trips";

/** Which figure must stay on which side of what. */
export interface Goal {
  readonly figure: "median" | "p99" | "max";
  readonly value: number;
  /** Is more better? */
  readonly isFloor?: boolean;
}

/** One row of the report. */
export interface SyncRow {
  readonly suite: "table 2" | "distributed";
  readonly operation: string;
  readonly mode: Mode;
  readonly unit: SyncUnit;
  readonly median: number | null;
  readonly p99: number | null;
  readonly max: number | null;
  readonly samples: number;
  /** The bare wire and disk in the same run. */
  readonly floor: number | null;
  readonly goals: readonly Goal[];
  /** What was wrong with an answer: then the figures count for nothing. */
  readonly wrong?: string;
  /** Why there is no figure. */
  readonly failed?: string;
}

/** What a row is made of, beside its samples. */
export interface RowName
  extends Pick<SyncRow, "suite" | "operation" | "mode" | "unit"> {
  readonly goals?: readonly Goal[];
  readonly floor?: number | undefined;
  readonly wrong?: string | undefined;
}

/** Makes a row of samples in its unit. */
export function rowOfSamples(
  name: RowName,
  samples: readonly number[],
): SyncRow {
  const { wrong, ...rest } = name;
  const sorted = [...samples].sort((a, b) => a - b);
  const at = (share: number): number | null =>
    sorted.length === 0 ? null : percentile(sorted, share);
  return {
    ...rest,
    goals: name.goals ?? [],
    floor: name.floor ?? null,
    median: at(0.5),
    p99: at(0.99),
    max: at(1),
    samples: sorted.length,
    ...(wrong === undefined ? {} : { wrong }),
  };
}

/** Makes the row of a case that broke. */
export function failedRow(name: RowName, failed: string): SyncRow {
  return { ...rowOfSamples(name, []), failed };
}

/** Is the target reached? `undefined` where there is none. */
export function isMet(row: SyncRow): boolean | undefined {
  if (row.goals.length === 0) return undefined;
  if (row.wrong !== undefined || row.failed !== undefined) return false;
  return row.goals.every(({ figure, value, isFloor }) => {
    const actual = row[figure];
    return actual !== null &&
      (isFloor === true ? actual >= value : actual <= value);
  });
}

/** A goal in words. */
export function showGoal({ figure, value, isFloor }: Goal): string {
  return `${figure === "median" ? "" : `${figure} `}${
    isFloor === true ? "≥" : "≤"
  } ${value}`;
}
