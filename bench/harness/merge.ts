/**
 * From what single processes found to figures.
 *
 * Architecture invariant: one wrong answer in one repetition makes the figure
 * wrong, and one broken repetition makes it failed; nothing is measured around.
 *
 * @module
 */

import {
  type Beside,
  distributionPoints,
  type Figure,
  type Unit,
} from "./figure.ts";
import { percentile } from "./stats.ts";
import type { CaseSpec, Outcome } from "./suite.ts";

/** What the repetitions of one engine at one case came to. */
export interface Turns {
  readonly spec: CaseSpec;
  /** One entry a repetition. */
  readonly repetitions: readonly (readonly Outcome[])[];
  readonly failed?: string;
  readonly skipped?: string;
}

/** Below so many samples a percentile would only repeat the greatest. */
const samplesMin = { p75: 4, p99: 20, p995: 40 } as const;

/** The figures of one engine at one case: one a row that its outcomes name. */
export function mergeTurns(turns: Turns): Figure[] {
  const rows = new Map<string, Outcome[]>();
  for (const outcomes of turns.repetitions) {
    for (const outcome of outcomes) {
      const { table, operation } = { ...turns.spec, ...outcome };
      const key = JSON.stringify([table, operation]);
      const row = rows.get(key);
      if (row === undefined) rows.set(key, [outcome]);
      else row.push(outcome);
    }
  }
  if (rows.size > 0) {
    return [...rows.values()].map((row) => figureOf(turns, row));
  }
  const isEmpty = turns.failed === undefined && turns.skipped === undefined;
  return [
    figureOf(
      isEmpty ? { ...turns, failed: "the case gave no outcome" } : turns,
      [],
    ),
  ];
}

/** Median, tail, spread and distribution of samples, grouped by repetition. */
export type Statistics = Pick<
  Figure,
  | "median"
  | "p75"
  | "p99"
  | "p995"
  | "max"
  | "samples"
  | "repetitions"
  | "spread"
  | "distribution"
>;

/** What is said of samples; a rate has no slow tail, so only latencies and sizes get one. */
export function statisticsOf(
  groups: readonly (readonly number[])[],
  isMoreBetter = false,
): Statistics {
  const sorted = Float64Array.from(groups.flat()).sort();
  const samples = sorted.length;
  const at = (share: number): number => percentile(sorted, share);
  const tail = (name: keyof typeof samplesMin, share: number): number | null =>
    samples < samplesMin[name] || isMoreBetter ? null : at(share);
  return {
    median: samples === 0 ? null : at(0.5),
    p75: tail("p75", 0.75),
    p99: tail("p99", 0.99),
    p995: tail("p995", 0.995),
    max: samples === 0 ? null : at(1),
    samples,
    repetitions: groups.length,
    spread: spreadOf(groups),
    distribution: samples < distributionPoints.length
      ? []
      : distributionPoints.map(at),
  };
}

/**
 * Samples of one process in three stretches of time, so that what wandered
 * between them is seen; fewer than six stand each alone.
 */
export function thirdsOf(samples: readonly number[]): number[][] {
  if (samples.length < 6) return samples.map((sample) => [sample]);
  const cut = (part: number): number => Math.round(samples.length * part / 3);
  return [0, 1, 2].map((part) => samples.slice(cut(part), cut(part + 1)));
}

/** Greatest less least median of the repetitions, divided by the median of medians. */
export function spreadOf(
  groups: readonly (readonly number[])[],
): number | null {
  const medians = groups.filter((group) => group.length > 0)
    .map(medianOf).sort((a, b) => a - b);
  if (medians.length < 2) return null;
  const middle = medianOf(medians);
  const range = (medians.at(-1) ?? 0) - (medians[0] ?? 0);
  return middle === 0 ? (range === 0 ? 0 : 1) : Math.abs(range / middle);
}

/** The figure of one row; `outcomes` has one entry a repetition. */
function figureOf(turns: Turns, outcomes: readonly Outcome[]): Figure {
  const { spec, skipped } = turns;
  const [first] = outcomes;
  const unit: Unit = first?.unit ?? "ms";
  const isMoreBetter = first?.isMoreBetter ?? unit === "per s";
  const failed = skipped === undefined
    ? turns.failed ?? faultOf(outcomes, spec, unit)
    : undefined;
  const wrong = outcomes.find((outcome) => outcome.wrong !== undefined)?.wrong;
  const groups = failed === undefined && skipped === undefined
    ? outcomes.map(({ samples }) => samples.filter(Number.isFinite))
    : [];
  return {
    suite: spec.suite,
    table: first?.table ?? spec.table,
    operation: first?.operation ?? spec.operation,
    engine: spec.engine,
    durability: first?.durability ?? spec.durability,
    size: spec.size,
    unit,
    isMoreBetter,
    ...statisticsOf(groups, isMoreBetter),
    beside: groups.length === 0 ? {} : besideOf(outcomes, unit),
    ...(wrong === undefined ? {} : { wrong }),
    ...(failed === undefined ? {} : { failed }),
    ...(skipped === undefined ? {} : { skipped }),
  };
}

/** What makes a row's outcomes useless, if anything. */
function faultOf(
  outcomes: readonly Outcome[],
  spec: CaseSpec,
  unit: Unit,
): string | undefined {
  if (outcomes.some((outcome) => outcome.unit !== unit)) {
    return "the repetitions do not agree on the unit";
  }
  if (outcomes.length !== spec.repetitions) {
    return `${outcomes.length} of ${spec.repetitions} repetitions gave this row`;
  }
  const isSound = outcomes.every(({ samples }) =>
    samples.length > 0 && samples.every(Number.isFinite)
  );
  // A wrong answer may have ended the measuring before it began.
  const isWrong = outcomes.some(({ wrong }) => wrong !== undefined);
  return isSound || isWrong ? undefined : "a sample is missing or no number";
}

/** Middle of the repetitions; of memory the greatest; the mean of all samples. */
function besideOf(outcomes: readonly Outcome[], unit: Unit): Beside {
  const of = (name: keyof Beside): number[] =>
    outcomes.map(({ beside }) => beside?.[name])
      .filter((value) => value !== undefined);
  const means = of("mean");
  const samples = outcomes.flatMap((outcome) => outcome.samples);
  const mean = means.length > 0
    ? medianOf(means)
    : unit === "ms" && samples.length > 0
    ? sumOf(samples) / samples.length
    : undefined;
  const beside: { -readonly [name in keyof Beside]: Beside[name] } = {};
  if (mean !== undefined) beside.mean = mean;
  for (const name of ["perSecond", "cpuSeconds", "perCpuSecond"] as const) {
    const values = of(name);
    if (values.length > 0) beside[name] = medianOf(values);
  }
  const peaks = of("peakBytes");
  if (peaks.length > 0) beside.peakBytes = Math.max(...peaks);
  return beside;
}

function medianOf(values: readonly number[]): number {
  return percentile(Float64Array.from(values).sort(), 0.5);
}

function sumOf(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0);
}
