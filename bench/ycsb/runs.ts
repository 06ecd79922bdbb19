/**
 * All workloads of one process, one after the other, each warmed up first.
 *
 * @module
 */

import { drive, type RunFigures } from "./drive.ts";
import { isPromise, type Model } from "./model.ts";
import type { Store } from "./store.ts";
import { operationsOf, type WorkloadName, workloads } from "./workloads.ts";

/** What is run. */
export interface RunAllOptions {
  readonly store: Store;
  readonly model: Model;
  readonly runs: readonly {
    readonly workload: WorkloadName;
    readonly inFlight: number;
  }[];
  /** Operations of each, at most. */
  readonly operations: number;
  /** Milliseconds of each, at most. */
  readonly msMax: number;
}

/** One workload, run. */
export interface Run extends RunFigures {
  readonly workload: WorkloadName;
  readonly inFlight: number;
  /** What was wrong with an answer. */
  readonly wrong: string | undefined;
}

/** The share of a run that it is warmed up by. */
const warmUpShare = 0.15;

/**
 * After a warm-up with scans every engine gets this long, in milliseconds per
 * record, for what it does when nobody asks: compactions, or building an index
 * that the scans showed to be worth it.
 */
const restMsPerRecord = 1 / 400;

/** Runs them in order. */
export async function runAll(options: RunAllOptions): Promise<Run[]> {
  await readAll(options);
  const done: Run[] = [];
  for (const [place, { workload, inFlight }] of options.runs.entries()) {
    const seed = 2 * place + 1;
    await runOne(options, workload, inFlight, 1_000 + seed, warmUpShare);
    if (workload === "E") await rest(options.model.records * restMsPerRecord);
    const figures = await runOne(options, workload, inFlight, seed, 1);
    const wrong = options.model.wrong();
    done.push({ ...figures, workload, inFlight, wrong });
  }
  return done;
}

/**
 * Reads every record once: YCSB's runs take minutes and so measure a warm
 * database, ours take less than a second. What opening and first reads cost is
 * the business of other suites.
 */
async function readAll({ store, model }: RunAllOptions): Promise<void> {
  for (let index = 0; index < model.records; index++) {
    const answer = store.read(model.keys.of(index));
    if (isPromise(answer)) await answer;
  }
}

function rest(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

function runOne(
  { store, model, operations, msMax }: RunAllOptions,
  name: WorkloadName,
  inFlight: number,
  seed: number,
  share: number,
): Promise<RunFigures> {
  const workload = workloads.find((one) => one.name === name);
  if (workload === undefined) throw new RangeError(`No workload ${name}`);
  const stream = operationsOf({
    workload,
    records: model.records,
    count: Math.ceil(operations * share),
    lag: inFlight,
    seed,
  });
  model.reserve(stream.recordsAfter);
  return drive({
    store,
    model,
    operations: stream,
    inFlight,
    msMax: msMax * share,
  });
}
