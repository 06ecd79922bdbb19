/**
 * The rows of the suite, by the part that gives them; and from timings to
 * outcomes.
 *
 * @module
 */

import type { Order, Outcome } from "../harness/suite.ts";
import type { Durability } from "../harness/figure.ts";
import { isAsked } from "../harness/suite.ts";
import type { Timing } from "./timing.ts";

/** What one process does; with the name of its table. */
export const tables = {
  single: "one at a time",
  flight: "16 in flight",
  scan: "prefix scans",
  values: "value sizes",
  plain: "expiry",
  expiring: "expiry",
  beside: "stores side by side",
} as const;

/** One of them. */
export type Part = keyof typeof tables;

/** Names as the command line has them. */
export const parts: readonly Part[] = [
  "single",
  "flight",
  "scan",
  "values",
  "plain",
  "expiring",
  "beside",
];

/** Operations that the second table keeps in flight. */
export const flightMax = 16;

const operations = [
  "get",
  "exists",
  "set",
  "mixed 80/20",
  "mixed 80/20, a get",
  "mixed 80/20, a set",
  "delete",
];

/** A size of value, and how people write it. */
export interface ValueSize {
  readonly bytes: number;
  readonly name: string;
}

const valueSizes: readonly ValueSize[] = [
  { bytes: 64, name: "64 B" },
  { bytes: 1_000, name: "1 KB" },
  { bytes: 10_000, name: "10 KB" },
  { bytes: 100_000, name: "100 KB" },
];
const scanSizes = [100, 1_000, 10_000];
const storeCounts = [1, 2, 4, 8];

/** The sizes of value that are measured. */
export function valueSizesOf(isQuick: boolean): readonly ValueSize[] {
  return isQuick ? valueSizes.filter((_, at) => at % 2 === 0) : valueSizes;
}

/** How many entries the scans give. */
export function scanSizesOf(isQuick: boolean): readonly number[] {
  return isQuick ? scanSizes.slice(0, 2) : scanSizes;
}

/** How many stores stand side by side. */
export function storeCountsOf(isQuick: boolean): readonly number[] {
  return isQuick ? [1, 4] : storeCounts;
}

/** The operations that a part measures. */
export function operationsOf(part: Part, isQuick: boolean): string[] {
  switch (part) {
    case "single":
    case "flight":
      return [...operations];
    case "scan":
      return scanSizesOf(isQuick).flatMap(scanNames);
    case "values":
      return valueSizesOf(isQuick).flatMap(({ name }) => [
        `get, ${name}`,
        `set, ${name}`,
      ]);
    case "plain":
      return ["set without expiry"];
    case "expiring":
      return ["set with expiry", "get with expiry"];
    case "beside":
      return storeCountsOf(isQuick).map(besideName);
  }
}

/** The two rows of a scan. */
export function scanNames(count: number): [list: string, keys: string] {
  const shown = count.toLocaleString("en");
  return [`list ${shown}`, `keys ${shown}`];
}

/** The row of writes to so many stores. */
export function besideName(count: number): string {
  return `set in each of ${count}`;
}

/** The rows of a part that an order wants, of one engine. */
export function askedOf(
  order: Pick<Order, "engines" | "filter" | "isQuick">,
  part: Part,
  engine: string,
): string[] {
  const row = { suite: "kv" as const, table: tables[part], engine };
  return operationsOf(part, order.isQuick).filter((operation) =>
    isAsked(order, { ...row, operation })
  );
}

/** Latencies of one kind as a row. */
export function latencyRow(
  operation: string,
  kind: string,
  durability: Durability,
  timing: Timing,
): Outcome {
  const samples = timing.samples.get(kind) ?? [];
  const isAlone = timing.samples.size === 1;
  return {
    operation,
    durability,
    unit: "ms",
    samples,
    ...(isAlone ? { beside: { perSecond: rateOf(timing) } } : {}),
    ...wrongOf(timing),
  };
}

/** Operations of all kinds in a second as a row. */
export function rateRow(
  operation: string,
  durability: Durability,
  timing: Timing,
): Outcome {
  return {
    operation,
    durability,
    unit: "per s",
    isMoreBetter: true,
    samples: timing.count === 0 ? [] : [rateOf(timing)],
    ...wrongOf(timing),
  };
}

function rateOf({ count, busyMs }: Timing): number {
  return count / busyMs * 1_000;
}

function wrongOf({ wrong }: Timing): { wrong?: string } {
  return wrong === undefined ? {} : { wrong };
}
