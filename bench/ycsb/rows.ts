/**
 * From runs to rows: for each workload its rate, with CPU and memory beside it,
 * and the latency of each kind of operation.
 *
 * @module
 */

import type { Beside, Durability } from "../harness/figure.ts";
import type { Outcome } from "../harness/suite.ts";
import type { Run } from "./runs.ts";
import {
  type Action,
  actionNames,
  actions,
  type WorkloadName,
  workloads,
} from "./workloads.ts";

/** More single latencies of a run are not told; the greatest always is. */
const samplesMax = 3_000;
/** Nanoseconds are told, nothing below. */
const roundTo = 1e6;
const rateName = "all operations";

/** The table that a run's rows stand in. */
export function tableOf(
  run: { readonly workload: WorkloadName; readonly inFlight: number },
  isServed: boolean,
): string {
  const place = isServed ? ", through a server" : "";
  return `YCSB ${run.workload}${place}, ${run.inFlight} in flight`;
}

/** The rows of a workload's table. */
export function rowsOf(name: WorkloadName): string[] {
  return [rateName, ...actionsOf(name).map((action) => actionNames[action])];
}

function actionsOf(name: WorkloadName): Action[] {
  const shares = workloads.find((one) => one.name === name)?.shares ?? {};
  return actions.filter((action) => shares[action] !== undefined);
}

/** The rows of one run; `wrong` is what reading back found at the end. */
export function outcomesOf(
  run: Run,
  table: string,
  durability: Durability,
  wrong: string | undefined,
): Outcome[] {
  const found = run.wrong ?? wrong;
  const flaw = found === undefined ? {} : { wrong: found };
  // Where nothing is written, nobody is more durable than another.
  const isReadOnly = actionsOf(run.workload).every(isReading);
  const outcomes: Outcome[] = [{
    table,
    operation: rateName,
    durability: isReadOnly ? "none" : durability,
    unit: "per s",
    isMoreBetter: true,
    samples: [run.operations / run.seconds],
    beside: besideOf(run),
    ...flaw,
  }];
  for (const action of actionsOf(run.workload)) {
    const latencies = run.latencies.get(action) ?? new Float64Array();
    if (latencies.length === 0) continue;
    outcomes.push({
      table,
      operation: actionNames[action],
      durability: isReading(action) ? "none" : durability,
      unit: "ms",
      samples: thin(latencies),
      beside: { mean: meanOf(latencies) },
      ...flaw,
    });
  }
  return outcomes;
}

function isReading(action: Action): boolean {
  return action === "read" || action === "scan";
}

function besideOf({ operations, cpuSeconds, peakBytes }: Run): Beside {
  return {
    ...cpuSeconds === undefined
      ? {}
      : { cpuSeconds, perCpuSecond: operations / cpuSeconds },
    ...peakBytes === undefined ? {} : { peakBytes },
  };
}

function meanOf(values: Float64Array): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

/** Evenly chosen ones of all that there are, in order of size, the last among them. */
export function thin(values: Float64Array): number[] {
  const sorted = values.toSorted();
  const count = Math.min(samplesMax, sorted.length);
  return Array.from({ length: count }, (_, at) => {
    const place = count === 1
      ? sorted.length - 1
      : Math.round(at * (sorted.length - 1) / (count - 1));
    return Math.round(sorted[place]! * roundTo) / roundTo;
  });
}
