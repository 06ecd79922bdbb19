/**
 * From measurements to rows: what the table, the files and the page show.
 *
 * @module
 */

import type { Contestant, Mode } from "./engine.ts";
import { type Figures, figuresOf } from "./stats.ts";
import { measureKey, type RowPlan, type Unit } from "./table1.ts";

/** What one contestant gave for one measure. */
export interface Measurement {
  /** Milliseconds an operation, or megabytes. */
  readonly samples: readonly number[];
  readonly wrong?: string;
  readonly failed?: string;
}

/** Measurements of one size: by measure, then by contestant. */
export type Measurements = ReadonlyMap<
  string,
  ReadonlyMap<Contestant, Measurement>
>;

/** One figure of one engine, as it is written to files. */
export interface Row {
  readonly suite: string;
  readonly operation: string;
  /** A mode of Sheaf, or SQLite with its setting. */
  readonly mode: Contestant;
  readonly size: number;
  readonly unit: Unit;
  readonly median: number | null;
  readonly p75: number | null;
  readonly p99: number | null;
  readonly p995: number | null;
  readonly samples: number;
  /** SQLite's median in the same run, for Sheaf's rows. */
  readonly against: number | null;
  readonly ratio: number | null;
  readonly target: number | null;
  readonly met: boolean | null;
  /** What was wrong with an answer: then the figures count for nothing. */
  readonly wrong?: string;
  /** Why there is no figure. */
  readonly failed?: string;
}

/** Which SQLite a mode is held against. */
export function rivalOf(mode: Mode): Contestant {
  return mode === "fast" ? "sqlite-off" : "sqlite-full";
}

/** All rows of one size, SQLite's beside the modes that are held against it. */
export function buildRows(
  plans: readonly RowPlan[],
  modes: readonly Mode[],
  size: number,
  measured: Measurements,
): Row[] {
  const rows: Row[] = [];
  for (const plan of plans) {
    const measurements = measured.get(measureKey(plan.measure));
    const wanted = plan.modes.filter((mode) => modes.includes(mode));
    if (measurements === undefined || wanted.length === 0) continue;
    for (const rival of new Set(wanted.map(rivalOf))) {
      const against = measurements.get(rival);
      rows.push(rowOf(plan, rival, size, against, undefined));
      for (const mode of wanted.filter((mode) => rivalOf(mode) === rival)) {
        rows.push(
          rowOf(plan, mode, size, measurements.get(mode), {
            against,
            target: plan.target[mode],
          }),
        );
      }
    }
  }
  return rows;
}

interface Held {
  readonly against: Measurement | undefined;
  readonly target: number;
}

function rowOf(
  plan: RowPlan,
  mode: Contestant,
  size: number,
  measurement: Measurement = { samples: [], failed: "not measured" },
  held: Held | undefined,
): Row {
  const figures = scaled(measurement, plan.unit);
  // A rival that answers wrongly is no rival.
  const isRival = held?.against !== undefined &&
    held.against.wrong === undefined;
  const against = isRival
    ? scaled(held.against, plan.unit)?.median ?? null
    : null;
  const isSound = measurement.wrong === undefined &&
    measurement.failed === undefined;
  // No ratio for a wrong answer, however quick.
  const ratio = figures !== undefined && isSound && against !== null &&
      against > 0
    ? figures.median / against
    : null;
  const target = held === undefined || held.target === 0 ? null : held.target;
  const met = target === null ? null : ratio !== null && ratio <= target;
  return {
    suite: plan.suite,
    operation: plan.operation,
    mode,
    size,
    unit: plan.unit,
    median: figures?.median ?? null,
    p75: figures?.p75 ?? null,
    p99: figures?.p99 ?? null,
    p995: figures?.p995 ?? null,
    samples: figures?.samples ?? 0,
    against,
    ratio,
    target,
    met,
    ...(measurement.wrong === undefined ? {} : { wrong: measurement.wrong }),
    ...(measurement.failed === undefined ? {} : { failed: measurement.failed }),
  };
}

function scaled(
  measurement: Measurement | undefined,
  unit: Unit,
): Figures | undefined {
  if (measurement === undefined || measurement.samples.length === 0) {
    return undefined;
  }
  return figuresOf(
    unit === "µs"
      ? measurement.samples.map((ms) => ms * 1_000)
      : measurement.samples,
  );
}
