/**
 * What the bench of the browser found: rows, each with a figure for every
 * contestant. Pure.
 *
 * @module
 */

import { figuresOf } from "../harness/stats.ts";

/** A row of the table. */
export interface RowPlan {
  readonly id: RowId;
  readonly operation: string;
  readonly unit: "ms" | "KB";
  /** What Sheaf's figure should be at most, where the issue says it. */
  readonly target?: (rows: readonly Row[]) => number | undefined;
  readonly targetText?: string;
}

export type RowId =
  | "open"
  | "openAfterUp"
  | "block"
  | "get"
  | "ask"
  | "durable"
  | "soon"
  | "many"
  | "live"
  | "size";

/** What no database can be quicker than: in a worker, and asked for by a page. */
export type FloorId = "floor" | "floorAsked";

/** What a contestant showed. */
export interface Figure {
  readonly contestant: string;
  readonly median: number;
  readonly p99: number;
  readonly samples: number;
}

/** A row with its figures; who has none could not be measured. */
export interface Row {
  readonly id: RowId | FloorId;
  readonly operation: string;
  readonly unit: "ms" | "KB";
  readonly figures: readonly Figure[];
  readonly target: number | undefined;
}

/** Ours. */
export const ours = "Sheaf";

/** What failed, and where. */
export interface Failure {
  readonly contestant: string;
  readonly message: string;
}

function floorOf(rows: readonly Row[]): number | undefined {
  return rows.find(({ id }) => id === "floor")?.figures[0]?.median;
}

/** All rows, in the table's order; figures are asked for in this order, too. */
export function rowPlans(size: string): RowPlan[] {
  return [
    {
      id: "open",
      operation: `open ${size} items until the first query is answered`,
      unit: "ms",
    },
    {
      id: "openAfterUp",
      operation: "of it, after the worker's script was up",
      unit: "ms",
      target: () => 60,
    },
    {
      id: "block",
      operation: "longest block of the page while opening and asking on",
      unit: "ms",
      target: () => 16,
    },
    { id: "ask", operation: "indexed query, first 50, sorted", unit: "ms" },
    { id: "get", operation: "read by id", unit: "ms" },
    {
      id: "durable",
      operation: "write until durable",
      unit: "ms",
      target: (rows) => {
        const floor = floorOf(rows);
        return floor && 2 * floor;
      },
    },
    { id: "soon", operation: "write until readable, not durable", unit: "ms" },
    {
      id: "many",
      operation: "1,000 writes at once until durable, each",
      unit: "ms",
    },
    {
      id: "live",
      operation: "change until the live query has heard",
      unit: "ms",
    },
    { id: "size", operation: "what a page loads, gzip", unit: "KB" },
  ];
}

/** Samples by row and contestant, as they come in. */
export class Collected {
  readonly #samples = new Map<string, number[]>();
  readonly failures: Failure[] = [];

  add(row: RowId | FloorId, contestant: string, ...samples: number[]): void {
    const key = `${row} ${contestant}`;
    const known = this.#samples.get(key) ?? [];
    this.#samples.set(key, [...known, ...samples]);
  }

  figure(row: RowId | FloorId, contestant: string): Figure | undefined {
    const samples = this.#samples.get(`${row} ${contestant}`) ?? [];
    if (samples.length === 0) return;
    const { median, p99 } = figuresOf(samples);
    return { contestant, median, p99, samples: samples.length };
  }
}

/** The table of what was collected. */
export function rowsOf(
  collected: Collected,
  contestants: readonly string[],
  size: string,
): Row[] {
  const floor = (id: FloorId, operation: string): Row => {
    const figure = collected.figure(id, "OPFS");
    const figures = figure === undefined ? [] : [figure];
    return { id, operation, unit: "ms", figures, target: undefined };
  };
  const rows = [
    floor("floor", "floor: one OPFS append and flush"),
    floor("floorAsked", "the same, asked for by a page"),
  ];
  for (const { id, operation, unit, target } of rowPlans(size)) {
    const figures = contestants.map((name) => collected.figure(id, name))
      .filter((figure) => figure !== undefined);
    rows.push({ id, operation, unit, figures, target: target?.(rows) });
  }
  return rows;
}

/** Sheaf's figure by another's; below 1 Sheaf is quicker or smaller. */
export function ratioTo(row: Row, contestant: string): number | undefined {
  const [own, other] = [ours, contestant].map((name) =>
    row.figures.find((figure) => figure.contestant === name)?.median
  );
  if (own === undefined || other === undefined || other === 0) return;
  return own / other;
}

/** What must be said of a row: its target, and who is ahead of us. */
export function verdictsOf(row: Row): string[] {
  const own = row.figures.find(({ contestant }) => contestant === ours);
  if (own === undefined) return [];
  const verdicts: string[] = [];
  if (row.target !== undefined) {
    verdicts.push(own.median <= row.target ? "met" : "MISSED");
  }
  for (const { contestant, median } of row.figures) {
    if (median < own.median) verdicts.push(`${contestant} is ahead`);
  }
  return verdicts;
}
