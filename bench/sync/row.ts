/**
 * One figure of the sync suite, with its targets.
 *
 * Targets are absolute, stated for a machine like the one in TARGETS; beside
 * each stands the floor of the same run where there is one: what the bare wire
 * and the bare disk take for the same trip.
 *
 * @module
 */

import type { Durability, Figure, Target, Unit } from "../harness/figure.ts";
import { statisticsOf, thirdsOf } from "../harness/merge.ts";
import { figuresOf } from "../harness/stats.ts";
import type { Mode } from "../sqlite/engine.ts";

/** The units in which cases count and goals are stated. */
export type SyncUnit =
  | "µs"
  | "ms"
  | "items/s"
  | "writes/s"
  | "B"
  | "KB"
  | "MB"
  | "trips";

/** Which figure must stay on the better side of what, in the row's unit. */
export interface Goal {
  readonly figure: "median" | "p99" | "max";
  readonly value: number;
}

/** The tables of the suite. */
export type SyncTable = "table 2" | "distributed";

/** What a row is made of, beside its samples. */
export interface RowName {
  readonly suite: SyncTable;
  readonly operation: string;
  readonly mode: Mode;
  readonly unit: SyncUnit;
  /** Items in the repository. */
  readonly size?: number;
  readonly goals?: readonly Goal[];
  /** The bare wire and disk in the same run. */
  readonly floor?: number | undefined;
  readonly wrong?: string | undefined;
}

const titles: Readonly<Record<SyncTable, string>> = {
  "table 2": "Sync over a real server",
  "distributed": "Distributed scenarios",
};

/** Units of figures, and how many of them one of ours is. */
const unitsOf: Readonly<Record<SyncUnit, readonly [Unit, number]>> = {
  "µs": ["ms", 1e-3],
  "ms": ["ms", 1],
  "items/s": ["per s", 1],
  "writes/s": ["per s", 1],
  "B": ["B", 1],
  "KB": ["B", 1e3],
  "MB": ["B", 1e6],
  "trips": ["trips", 1],
};

/** What one process found for one row. */
export interface SyncRow {
  readonly name: RowName;
  /** In the row's unit. */
  readonly samples: readonly number[];
}

/** Makes a row of samples in its unit. */
export function rowOfSamples(
  name: RowName,
  samples: readonly number[],
): SyncRow {
  return { name, samples };
}

/** The figures of one case in one mode, out of what its processes found, one entry a process. */
export function figuresOfTurns(
  turns: readonly (readonly SyncRow[])[],
): Figure[] {
  const rows = Map.groupBy(turns.flat(), ({ name }) => name.operation);
  return [...rows.values()].flatMap((row) => {
    const [first] = row;
    if (first === undefined) return [];
    const figure = figureOf(first.name, row);
    return row.length === turns.length ? figure : {
      ...figure,
      failed: `${row.length} of ${turns.length} repetitions gave this row`,
    };
  });
}

/** The figure of a case that broke. */
export function failedFigure(name: RowName, failed: string): Figure {
  return { ...figureOf(name, [{ name, samples: [] }]), failed };
}

/** One row's figure; `rows` has one entry a process, each of the same name. */
function figureOf(name: RowName, rows: readonly SyncRow[]): Figure {
  const [unit, factor] = unitsOf[name.unit];
  const isMoreBetter = unit === "per s";
  const [target, ...alsoTargets] = (name.goals ?? []).map(
    ({ figure, value }): Target => ({ of: figure, value: value * factor }),
  );
  const groups = rows.map(({ samples }) =>
    samples.map((value) => value * factor)
  );
  const floors = rows.map((row) => row.name.floor)
    .filter((floor) => floor !== undefined);
  const wrong = rows.find((row) => row.name.wrong !== undefined)?.name.wrong;
  return {
    suite: "sync",
    table: titles[name.suite],
    operation: name.operation,
    engine: `sheaf-${name.mode}`,
    durability: durabilityOf(name.mode, unit),
    size: name.size ?? 0,
    unit,
    isMoreBetter,
    ...statisticsOf(
      groups.length === 1 ? thirdsOf(groups.flat()) : groups,
      isMoreBetter,
    ),
    repetitions: groups.length,
    beside: {},
    ...(target === undefined ? {} : { target }),
    ...(alsoTargets.length === 0 ? {} : { alsoTargets }),
    ...(floors.length === 0
      ? {}
      : { floor: figuresOf(floors).median * factor }),
    ...(wrong === undefined ? {} : { wrong }),
  };
}

/** Times and rates end when a write is as safe as the mode makes it; a size promises nothing. */
function durabilityOf(mode: Mode, unit: Unit): Durability {
  if (unit === "B" || unit === "trips") return "none";
  return mode === "fast" ? "queued" : "fsync";
}
