/**
 * The YCSB suite: core workloads A to F over records of ten fields of 100
 * bytes, with 1 and with 64 operations in flight, in the process and through a
 * server.
 *
 * As the page "Core Workloads" of YCSB asks: one process loads, another one runs
 * A, B, C, F and D, each by a number of operations and nothing before the first
 * is timed; then all is loaded anew for E. (YCSB starts its client anew for each
 * workload; here those of one load share a process.) At the end the table is
 * closed, opened again and read back whole; through a server a second client
 * reads it back.
 *
 * @module
 */

import { durabilityOf, enginesOf, isSheaf } from "../engines/names.ts";
import { modeOf } from "../engines/sheaf_open.ts";
import { startServer } from "../sync/process.ts";
import {
  type CaseSpec,
  isAsked,
  type Order,
  type Outcome,
  type Stage,
  type Suite,
} from "../harness/suite.ts";
import { load, loadElsewhere } from "./load.ts";
import { Model } from "./model.ts";
import { outcomesOf, rowsOf, tableOf } from "./rows.ts";
import { runAll } from "./runs.ts";
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

const recordsUnlessTold = 10_000;
const recordsWhenQuick = 2_000;
const inFlightChoices = [1, 64] as const;
/** Workloads that run on one load. */
const loads: readonly (readonly WorkloadName[])[] = [
  ["A", "B", "C", "F", "D"],
  ["E"],
];
const repetitionsUnlessQuick = 3;
const repetitionsWhenQuick = 2;
/** Loading, five workloads and reading back, on a busy machine. */
const msMaxBase = 120_000;
const msMaxPerRecord = 1.8;
const msMaxPerOperation = 3;

/** The workloads of one load that somebody asked for. */
function askedOf(
  load: readonly WorkloadName[],
  inFlight: number,
  isServed: boolean,
  order: Order,
): WorkloadName[] {
  return load.filter((workload) =>
    rowsOf(workload).some((operation) =>
      isAsked({ engines: [], filter: order.filter }, {
        suite: "ycsb",
        table: tableOf({ workload, inFlight }, isServed),
        operation,
        engine: "",
      })
    )
  );
}

/**
 * They would say little that others do not: LevelDB is there with its durable
 * writes, Trusted beside SQLite in the process.
 */
function onlyWhenNamed(engine: string, isServed: boolean): boolean {
  return engine === (isServed ? "sheaf-trusted" : "level");
}

function casesOf(order: Order, isServed: boolean, size: number): CaseSpec[] {
  return inFlightChoices.flatMap((inFlight) =>
    loads.flatMap((load) => {
      const asked = askedOf(load, inFlight, isServed, order);
      return asked.length === 0
        ? []
        : raceOf(asked, inFlight, isServed, size, order);
    })
  );
}

/** One load and what runs on it, for each engine. */
function raceOf(
  asked: readonly WorkloadName[],
  inFlight: number,
  isServed: boolean,
  size: number,
  order: Order,
): CaseSpec[] {
  const operations = order.operations ?? size;
  const names: readonly (typeof embedded[number] | typeof served[number])[] =
    isServed ? served : embedded;
  const place = isServed ? "YCSB, through a server" : "YCSB";
  const chosen = enginesOf(names, order.engines).filter((name) =>
    order.engines.length > 0 || !onlyWhenNamed(name, isServed)
  );
  return chosen.map((engine) => ({
    suite: "ycsb",
    name: `${place}, ${asked.join("")}, ${inFlight} in flight, ${size}`,
    table: place,
    operation: `workloads ${asked.join(", ")}`,
    engine,
    // Their servers say it when they are asked; see the outcomes.
    durability: engine === "redis" || engine === "postgres"
      ? "none"
      : durabilityOf(engine),
    size,
    repetitions: order.isQuick ? repetitionsWhenQuick : repetitionsUnlessQuick,
    msMax: msMaxBase + size * msMaxPerRecord + operations * msMaxPerOperation,
    params: { isServed, workloads: asked.join(""), inFlight, operations },
  }));
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
  const { params } = spec;
  const isServed = params["isServed"] === true;
  const model = new Model(spec.size);
  const { durability } = store;
  const runs = await runAll({
    store,
    model,
    workloads: workloads.filter(({ name }) =>
      String(params["workloads"]).includes(name)
    ),
    inFlight: Number(params["inFlight"]),
    operations: Number(params["operations"]),
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
    const process = await startServer({ mode: modeOf(engine), folder });
    const { url, rootKey, pid } = process;
    const server = { url, rootKey, process: pid };
    try {
      await loadElsewhere({ engine, peers, folder, records, server });
      const store = await openServedSheaf(`${folder}/client`, engine, server);
      return await measure(spec, store, async (first) => {
        const second = await openServedSheaf(undefined, engine, server);
        await first.close();
        return second;
      });
    } finally {
      await process.stop();
    }
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
