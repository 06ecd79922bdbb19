/**
 * From measurements to figures: what the table, the files and the page show.
 *
 * @module
 */

import type { Durability, Figure } from "../harness/figure.ts";
import { statisticsOf, thirdsOf } from "../harness/merge.ts";
import { figuresOf } from "../harness/stats.ts";
import type { Contestant, Mode } from "./engine.ts";
import { isWrite, measureKey, type RowPlan } from "./table1.ts";

/** What one contestant gave for one measure. */
export interface Measurement {
  /** Milliseconds an operation, or megabytes; by turn. */
  readonly turns: readonly (readonly number[])[];
  /** Milliseconds of the least that could be done, taken beside them. */
  readonly floors?: readonly number[];
  readonly wrong?: string;
  readonly failed?: string;
}

/** Measurements of one size: by measure, then by contestant. */
export type Measurements = ReadonlyMap<
  string,
  ReadonlyMap<Contestant, Measurement>
>;

const everyMode: readonly Mode[] = ["default", "trusted", "fast"];
const bytesInMegabyte = 1_000_000;

/** The table that all rows stand in. */
export const title = "Beside tuned SQLite";

/** Which SQLite a mode is held against. */
export function rivalOf(mode: Mode): Contestant {
  return mode === "fast" ? "sqlite-off" : "sqlite-full";
}

/** A contestant's name among the engines of all suites. */
export function engineOf(contestant: Contestant): string {
  return contestant.startsWith("sqlite") ? contestant : `sheaf-${contestant}`;
}

/** All figures of one size, SQLite's before the modes that are held against it. */
export function buildFigures(
  plans: readonly RowPlan[],
  contestants: readonly Contestant[],
  size: number,
  measured: Measurements,
): Figure[] {
  const figures: Figure[] = [];
  for (const plan of plans) {
    const measurements = measured.get(measureKey(plan.measure));
    if (measurements === undefined) continue;
    for (const rival of new Set(plan.modes.map(rivalOf))) {
      const modes = everyMode.filter((mode) =>
        plan.modes.includes(mode) && rivalOf(mode) === rival &&
        contestants.includes(mode)
      );
      if (!contestants.includes(rival)) continue;
      const against = figureOf(plan, rival, size, measurements.get(rival));
      figures.push(against);
      for (const mode of modes) {
        const figure = figureOf(plan, mode, size, measurements.get(mode));
        figures.push(heldAgainst(figure, against, plan.target[mode]));
      }
    }
  }
  return figures;
}

/** The figure with its ratio and target. A rival that answers wrongly is no rival, and a wrong answer of ours has no ratio. */
function heldAgainst(figure: Figure, rival: Figure, target: number): Figure {
  const isSound = [figure, rival].every(({ wrong, failed }) =>
    wrong === undefined && failed === undefined
  );
  const { engine, median } = rival;
  const hasRatio = isSound && figure.median !== null && median !== null &&
    median > 0;
  return {
    ...figure,
    ...(target === 0 ? {} : { target: { of: "ratio", value: target } }),
    ...(hasRatio
      ? { against: { engine, ratio: (figure.median ?? 0) / median } }
      : {}),
  };
}

function figureOf(
  plan: RowPlan,
  contestant: Contestant,
  size: number,
  { turns, floors = [], wrong, failed }: Measurement = {
    turns: [],
    failed: "not measured",
  },
): Figure {
  const isSize = plan.unit === "MB";
  const scaled = isSize
    ? turns.map((turn) => turn.map((value) => value * bytesInMegabyte))
    : turns;
  return {
    suite: "sqlite",
    table: title,
    operation: plan.operation,
    engine: engineOf(contestant),
    durability: durabilityOf(plan, contestant),
    size,
    unit: isSize ? "B" : "ms",
    isMoreBetter: false,
    ...statisticsOf(stretchesOf(scaled)),
    repetitions: turns.length,
    beside: {},
    ...(floors.length === 0 ? {} : { floor: figuresOf(floors).median }),
    ...(wrong === undefined ? {} : { wrong }),
    ...(failed === undefined ? {} : { failed }),
  };
}

/** Processes that took one sample each are set side by side in three stretches, or their spread would be that of samples. */
function stretchesOf(
  turns: readonly (readonly number[])[],
): readonly (readonly number[])[] {
  return turns.every((turn) => turn.length < 2)
    ? thirdsOf(turns.flat())
    : turns;
}

/** What stands behind an acknowledged write; reading writes nothing. */
function durabilityOf(plan: RowPlan, contestant: Contestant): Durability {
  if (!isWrite(plan.measure)) return "none";
  switch (contestant) {
    case "default":
    case "trusted":
    case "sqlite-full":
      return "fsync";
    case "sqlite-off":
      return "written";
    case "fast":
      return "queued";
  }
}
