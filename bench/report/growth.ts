/**
 * How a figure grows with the number of items: x of n^x, fitted to the medians
 * of three sizes or more. Fewer would fit anything.
 *
 * @module
 */

import type { Figure } from "../harness/figure.ts";
import { isSound } from "./standing.ts";

const sizesMin = 3;

/** One row of one engine, at several sizes. */
export interface Growth {
  readonly table: string;
  readonly operation: string;
  readonly engine: string;
  readonly sizes: readonly number[];
  /** x of n^x, of what one operation takes: 0 stays as it is, 1 grows with the collection. */
  readonly exponent: number;
}

/** The growth of every row that was measured at enough sizes, in their order. */
export function growthsOf(figures: readonly Figure[]): Growth[] {
  const rows = Map.groupBy(
    figures.filter((one) => isSound(one) && one.size > 0 && one.median! > 0),
    ({ table, operation, engine, unit }) =>
      JSON.stringify([table, operation, engine, unit]),
  );
  return [...rows.values()].flatMap((row) => {
    const [{ table, operation, engine, isMoreBetter }] = row as [Figure];
    const sizes = [...new Set(row.map(({ size }) => size))].sort((a, b) =>
      a - b
    );
    if (sizes.length < sizesMin) return [];
    const slope = slopeOf(
      row.map(({ size, median }) =>
        [Math.log(size), Math.log(median!)] as const
      ),
    );
    // A rate falls where what an operation takes grows.
    const exponent = isMoreBetter ? -slope : slope;
    return [{ table, operation, engine, sizes, exponent }];
  });
}

/** `n^0.98`. */
export function showExponent(exponent: number): string {
  return `n^${exponent.toFixed(2).replace("-0.00", "0.00")}`;
}

/** The slope of the line that lies nearest to the points, by least squares. */
function slopeOf(points: readonly (readonly [number, number])[]): number {
  const mean = (of: (point: readonly [number, number]) => number): number =>
    points.reduce((sum, point) => sum + of(point), 0) / points.length;
  const [x, y] = [mean((point) => point[0]), mean((point) => point[1])];
  return mean((point) => (point[0] - x) * (point[1] - y)) /
    mean((point) => (point[0] - x) ** 2);
}
