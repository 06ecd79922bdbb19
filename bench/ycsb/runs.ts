/**
 * All workloads of one load, one after the other.
 *
 * @module
 */

import { drive, type RunFigures } from "./drive.ts";
import type { Model } from "./model.ts";
import type { Store } from "./store.ts";
import { operationsOf, type Workload, type WorkloadName } from "./workloads.ts";

/** What is run. */
export interface RunAllOptions {
  readonly store: Store;
  readonly model: Model;
  readonly workloads: readonly Workload[];
  readonly inFlight: number;
  /** Operations of each. */
  readonly operations: number;
}

/** One workload, run. */
export interface Run extends RunFigures {
  readonly workload: WorkloadName;
  readonly inFlight: number;
  /** What was wrong with an answer. */
  readonly wrong: string | undefined;
}

/** Runs them in order. */
export async function runAll(options: RunAllOptions): Promise<Run[]> {
  const { store, model, workloads, inFlight, operations: count } = options;
  const done: Run[] = [];
  for (const workload of workloads) {
    const operations = operationsOf({
      workload,
      records: model.records,
      count,
      lag: inFlight,
      seed: 2 * workload.name.charCodeAt(0),
    });
    model.reserve(operations.recordsAfter);
    const figures = await drive({ store, model, operations, inFlight });
    const wrong = model.wrong();
    done.push({ ...figures, workload: workload.name, inFlight, wrong });
  }
  return done;
}
