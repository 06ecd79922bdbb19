/**
 * The YCSB suite: core workloads A to F over records of ten fields of 100
 * bytes, with 1 and with 64 operations in flight, in the process and through a
 * server.
 *
 * One process loads, another one reads all records once and then runs all
 * workloads in the order that YCSB asks for (A, B, C, F, D, E; E follows D's inserts here, for each engine
 * alike, in place of a second load). Then the table is closed, opened again and
 * read back whole; through a server a second client reads it back.
 *
 * @module
 */

import { durabilityOf, enginesOf, isSheaf } from "../engines/names.ts";
import type {
  CaseSpec,
  Order,
  Outcome,
  Stage,
  Suite,
} from "../harness/suite.ts";
import { load, loadElsewhere } from "./load.ts";
import { Model } from "./model.ts";
import { outcomesOf, rowsOf, tableOf } from "./rows.ts";
import { runAll } from "./runs.ts";
import { withServer } from "./server.ts";
import type { Store } from "./store.ts";
import {
  embedded,
  foreign,
  openEmbedded,
  openForeign,
  openServedSheaf,
  served,
} from "./stores.ts";
import { type WorkloadName, workloads } from "./workloads.ts";

const recordsUnlessTold = 100_000;
const recordsWhenQuick = 2_000;
/** So long does one workload run. */
const runMs = 250;
const runMsWhenQuick = 60;
/** Of more records than usual more operations are asked. */
const runMsWhenLarge = 4_000;
const inFlightChoices = [1, 64] as const;
const repetitionsUnlessQuick = 3;
const repetitionsWhenQuick = 2;
/** Loading, twelve workloads and reading back, on a busy machine. */
const msMaxBase = 180_000;
const msMaxPerRecord = 2;

/** One workload with so many in flight. */
export interface RunChoice {
  readonly workload: WorkloadName;
  readonly inFlight: number;
}

function runsOf(order: Order, isServed: boolean): RunChoice[] {
  const choices = inFlightChoices.flatMap((inFlight) =>
    workloads.map(({ name }) => ({ workload: name, inFlight }))
  );
  return choices.filter((choice) => {
    const table = tableOf(choice, isServed);
    return rowsOf(choice.workload).some((row) =>
      `${table} ${row}`.includes(order.filter)
    );
  });
}

/**
 * A whole run must take six minutes, and each of these would take one: LevelDB
 * is there with its durable writes, Trusted beside SQLite in the process.
 */
function onlyWhenNamed(engine: string, isServed: boolean): boolean {
  return engine === (isServed ? "sheaf-trusted" : "level");
}

function casesOf(order: Order, isServed: boolean, size: number): CaseSpec[] {
  const runs = runsOf(order, isServed);
  if (runs.length === 0) return [];
  const names: readonly (typeof embedded[number] | typeof served[number])[] =
    isServed ? served : embedded;
  const place = isServed ? "YCSB, through a server" : "YCSB";
  const chosen = enginesOf(names, order.engines).filter((name) =>
    order.engines.length > 0 || !onlyWhenNamed(name, isServed)
  );
  return chosen.map((engine) => ({
    suite: "ycsb",
    name: `${place}, ${size}`,
    table: place,
    operation: "all workloads",
    engine,
    // Their servers say it when they are asked; see the outcomes.
    durability: engine === "redis" || engine === "postgres"
      ? "none"
      : durabilityOf(engine),
    size,
    repetitions: order.isQuick ? repetitionsWhenQuick : repetitionsUnlessQuick,
    msMax: msMaxBase + size * msMaxPerRecord,
    params: {
      isServed,
      runs: runs.map((run) => `${run.workload}${run.inFlight}`).join(" "),
      runMs: order.isQuick
        ? runMsWhenQuick
        : size > recordsUnlessTold
        ? runMsWhenLarge
        : runMs,
    },
  }));
}

function parseRuns(text: string): RunChoice[] {
  return text.split(" ").map((run) => {
    const workload = workloads.find(({ name }) => run.startsWith(name));
    if (workload === undefined) throw new SyntaxError(`No workload: ${run}`);
    return { workload: workload.name, inFlight: Number(run.slice(1)) };
  });
}

/** The engine of that name among those that can be meant. */
function oneOf<Name extends string>(
  names: readonly Name[],
  engine: string,
): Name {
  const found = names.find((name) => name === engine);
  if (found === undefined) throw new RangeError(`no engine is named ${engine}`);
  return found;
}

/** Runs the workloads, then reads everything back through `reopened`. */
async function measure(
  spec: CaseSpec,
  store: Store,
  reopened: (store: Store) => Promise<Store>,
): Promise<Outcome[]> {
  const isServed = spec.params["isServed"] === true;
  const model = new Model(spec.size);
  const { durability } = store;
  const runs = await runAll({
    store,
    model,
    runs: parseRuns(String(spec.params["runs"])),
    operations: spec.size,
    msMax: Number(spec.params["runMs"]),
  });
  const later = await reopened(store);
  const wrong = await model.verify(later);
  await later.close();
  return runs.flatMap((run) =>
    outcomesOf(run, tableOf(run, isServed), durability, wrong)
  );
}

async function runEmbedded(spec: CaseSpec, stage: Stage): Promise<Outcome[]> {
  const engine = oneOf(embedded, spec.engine);
  const { folder, peers } = stage;
  const open = () => openEmbedded(engine, peers, folder);
  // Here first, so that an engine that is not to be had says so by itself.
  await (await open()).close();
  await loadElsewhere({ engine, peers, folder, records: spec.size });
  return await measure(spec, await open(), async (store) => {
    await store.close();
    return await open();
  });
}

async function runServed(spec: CaseSpec, stage: Stage): Promise<Outcome[]> {
  const { engine, size: records } = spec;
  const { folder, peers } = stage;
  if (isSheaf(engine)) {
    return await withServer(folder, engine, async (server) => {
      await loadElsewhere({ engine, peers, folder, records, server });
      const store = await openServedSheaf(`${folder}/client`, engine, server);
      return await measure(spec, store, async (first) => {
        const second = await openServedSheaf(undefined, engine, server);
        await first.close();
        return second;
      });
    });
  }
  const store = await openForeign(oneOf(foreign, engine), stage);
  await load(store, records);
  return await measure(spec, store, () => Promise.resolve(store));
}

/** Core workloads A to F of YCSB. */
export const suite: Suite = {
  name: "ycsb",
  peers: ["lmdb", "classic-level", "ioredis", "pg"],
  cases(order: Order): CaseSpec[] {
    const unlessTold = order.isQuick ? recordsWhenQuick : recordsUnlessTold;
    const sizes = order.sizes.length > 0 ? order.sizes : [unlessTold];
    return sizes.flatMap((size) => [
      ...casesOf(order, false, size),
      ...casesOf(order, true, size),
    ]);
  },
  run(spec: CaseSpec, stage: Stage): Promise<Outcome[]> {
    return spec.params["isServed"] === true
      ? runServed(spec, stage)
      : runEmbedded(spec, stage);
  },
};
