/**
 * What one process does: opens the stores of one engine, loads them, measures
 * the rows that were asked for, and looks at the end whether all that was
 * acknowledged is there.
 *
 * @module
 */

import type { Durability } from "../harness/figure.ts";
import type { Outcome, Stage } from "../harness/suite.ts";
import { keyOf, valueOf } from "./entries.ts";
import { Model } from "./model.ts";
import { type EngineName, lacksExpiry, openStores } from "./open.ts";
import {
  besideName,
  flightMax,
  latencyRow,
  type Part,
  rateRow,
  scanSizesOf,
  storeCountsOf,
  valueSizesOf,
} from "./rows.ts";
import { measureScans } from "./scan.ts";
import type { Store } from "./store.ts";
import { type Budget, type Step, type Steps, timeSteps } from "./timing.ts";

/** One process's work. */
export interface Task {
  readonly part: Part;
  readonly engine: EngineName;
  /** Entries before the first measurement. */
  readonly size: number;
  readonly stage: Stage;
  /** The operations to measure. */
  readonly asked: readonly string[];
}

const usualBytes = 1_000;
/** All entries of one value size together. */
const sizedBytesMax = 5_000_000;
/** Entries of each of several stores, which only take writes. */
const besideSize = 1_000;
/** Entries that are read one by one at the end. */
const verified = 1_000;
const shortTtlMs = 30;
const shortTtlEntries = 20;

const warmRead = { warmMs: 40, warmOperations: 5_000 };
const warmReadQuick = { warmMs: 15, warmOperations: 1_250 };
/**
 * The first writes of a process are run by an interpreter, of every engine: the
 * first row that writes warms up until a compiler has seen enough of them, the
 * others profit.
 */
const warmFirstWrite = { warmMs: 400, warmOperations: 3_000 };
const warmFirstWriteQuick = { warmMs: 120, warmOperations: 1_000 };

/** How long a row is measured that reads, or whose writes are warm. */
export function budgetOf(isQuick: boolean, isReading = false): Budget {
  const operationsMin = 40;
  return isQuick
    ? { ms: 40, operationsMax: 5_000, operationsMin, ...warmReadQuick }
    : {
      ms: isReading ? 60 : 100, // Reads are many in a short time.
      operationsMax: 20_000,
      operationsMin,
      ...warmRead,
    };
}

/** The same of the first row of a process that writes. */
export function firstWriteBudgetOf(isQuick: boolean): Budget {
  const warm = isQuick ? warmFirstWriteQuick : warmFirstWrite;
  return { ...budgetOf(isQuick), ...warm };
}

/** Runs it. Throws `NotHere` where the engine is not to be had, or lacks what the part is about. */
export async function runTask(
  task: Task,
  open: Open = openStores,
): Promise<Outcome[]> {
  switch (task.part) {
    case "single":
      return await measureOperations(task, 1, open);
    case "flight":
      return await measureOperations(task, flightMax, open);
    case "scan":
      return await runScans(task);
    case "values":
      return await runValues(task);
    case "plain":
      return await runPlain(task);
    case "expiring":
      return await runExpiring(task);
    case "beside":
      return await runBeside(task);
  }
}

/** How stores come to be; another way in tests. */
export type Open = typeof openStores;

type Rows = (
  name: string,
  steps: Steps,
  durability: Durability,
  operationsMax?: number,
) => Promise<void>;

/** The operations on one store, then everything once more after it was opened again. */
async function measureOperations(
  task: Task,
  inFlight: number,
  open: Open,
): Promise<Outcome[]> {
  const { engine, stage, size } = task;
  const use = { inFlight };
  const stores = await open(engine, stage, use);
  const store = firstOf(stores.all);
  const model = new Model(store, size, usualBytes);
  await model.load();
  const outcomes: Outcome[] = [];
  const measure = rowsInto(outcomes, task, inFlight);
  await measure("get", model.gets, "none");
  await measure("exists", model.asks, "none");
  await measure("set", model.sets, store.durability);
  await measureMixed(outcomes, task, inFlight, model, store);
  // Half of the entries, of which the warm-up may not take all.
  const deletes = Math.floor(size / 2 * 0.8);
  await measure("delete", model.deletes, store.durability, deletes);
  // A server's store is dropped when it is closed.
  const isServed = engine === "redis" || engine === "postgres";
  if (isServed) {
    const wrong = await model.verify(store, verified);
    await stores.close();
    return withWrong(outcomes, wrong);
  }
  await stores.close();
  const again = await open(engine, stage, use);
  const wrong = await model.verify(firstOf(again.all), verified);
  await again.close();
  return withWrong(outcomes, wrong);
}

function rowsInto(
  outcomes: Outcome[],
  { asked, stage }: Task,
  inFlight: number,
  writes: { isWarm: boolean } = { isWarm: false },
): Rows {
  return async (name, steps, durability, operationsMax = Infinity) => {
    if (!asked.includes(name)) return;
    const isReading = durability === "none";
    const usual = isReading || writes.isWarm
      ? budgetOf(stage.isQuick, isReading)
      : firstWriteBudgetOf(stage.isQuick);
    writes.isWarm ||= !isReading;
    const most = Math.min(operationsMax, usual.operationsMax);
    const budget = { ...usual, operationsMax: most };
    const timing = await timeSteps(steps, inFlight, budget);
    const kind = timing.samples.keys().next().value ?? name;
    outcomes.push(latencyRow(name, kind, durability, timing));
  };
}

async function measureMixed(
  outcomes: Outcome[],
  { asked, stage }: Task,
  inFlight: number,
  model: Model,
  { durability }: Store,
): Promise<void> {
  const name = "mixed 80/20";
  if (!asked.some((operation) => operation.startsWith(name))) return;
  const budget = budgetOf(stage.isQuick);
  const timing = await timeSteps(model.mixed, inFlight, budget);
  const rows = [
    rateRow(name, durability, timing),
    latencyRow(`${name}, a get`, "get", "none", timing),
    latencyRow(`${name}, a set`, "set", durability, timing),
  ];
  for (const row of rows) {
    if (asked.includes(row.operation ?? "")) outcomes.push(row);
  }
}

async function runScans(task: Task): Promise<Outcome[]> {
  const { engine, stage, asked } = task;
  const stores = await openStores(engine, stage, { inFlight: 1 });
  const outcomes = await measureScans(
    firstOf(stores.all),
    scanSizesOf(stage.isQuick),
    asked,
    budgetOf(stage.isQuick, true),
  );
  await stores.close();
  return outcomes;
}

/** Reads and writes by size of value, each size in a store of its own. */
async function runValues(task: Task): Promise<Outcome[]> {
  const { engine, stage, size } = task;
  const outcomes: Outcome[] = [];
  const measure = rowsInto(outcomes, task, 1);
  for (const { bytes, name } of valueSizesOf(stage.isQuick)) {
    const names = [`get, ${name}`, `set, ${name}`];
    if (!names.some((one) => task.asked.includes(one))) continue;
    const folder = `${stage.folder}/${bytes}`;
    Deno.mkdirSync(folder);
    const stores = await openStores(engine, { ...stage, folder }, {
      inFlight: 1,
    });
    const store = firstOf(stores.all);
    if ((store.valueBytesMax ?? Infinity) >= bytes) {
      const count = Math.min(size, Math.floor(sizedBytesMax / bytes));
      const model = new Model(store, count, bytes);
      await model.load();
      await measure(`get, ${name}`, model.gets, "none");
      await measure(`set, ${name}`, model.sets, store.durability);
    }
    await stores.close();
  }
  return outcomes;
}

async function runPlain(task: Task): Promise<Outcome[]> {
  const { engine, stage, size } = task;
  const stores = await openStores(engine, stage, { inFlight: 1 });
  const store = firstOf(stores.all);
  const model = new Model(store, size, usualBytes);
  await model.load();
  const outcomes: Outcome[] = [];
  const measure = rowsInto(outcomes, task, 1);
  await measure("set without expiry", model.setsNew, store.durability);
  const wrong = await model.verify(store, verified);
  await stores.close();
  return withWrong(outcomes, wrong);
}

async function runExpiring(task: Task): Promise<Outcome[]> {
  const { engine, stage, size } = task;
  const stores = await openStores(engine, stage, { inFlight: 1 });
  const store = firstOf(stores.all);
  if (store.expiry === "none") {
    await stores.close();
    throw lacksExpiry(engine);
  }
  const model = new Model(store, size, usualBytes);
  await model.loadExpiring();
  const outcomes: Outcome[] = [];
  const measure = rowsInto(outcomes, task, 1);
  await measure("set with expiry", model.setsExpiring, store.durability);
  await measure("get with expiry", model.gets, "none");
  const wrong = await model.verify(store, verified) ??
    await wrongExpiry(store);
  await stores.close();
  return withWrong(outcomes, wrong);
}

/** What an engine with an exact expiry still gives of entries whose moment has come. */
async function wrongExpiry(store: Store): Promise<string | undefined> {
  const keys: string[] = [];
  for (let index = 0; index < shortTtlEntries; index++) {
    const key = `short-${keyOf(index)}`;
    await store.setExpiring(key, valueOf(index, 0, usualBytes), shortTtlMs);
    keys.push(key);
  }
  await new Promise((resolve) => setTimeout(resolve, shortTtlMs * 2));
  if (store.expiry === "lazy") return undefined;
  for (const key of keys) {
    const answer = await store.get(key);
    if (answer !== undefined || await store.exists(key)) {
      return `${key} has expired and is there`;
    }
  }
  return undefined;
}

/** One write to each of several stores, asked for together. */
async function runBeside(task: Task): Promise<Outcome[]> {
  const { engine, stage, asked } = task;
  const outcomes: Outcome[] = [];
  const writes = { isWarm: false };
  for (const count of storeCountsOf(stage.isQuick)) {
    const name = besideName(count);
    if (!asked.includes(name)) continue;
    const folder = `${stage.folder}/${count}`;
    Deno.mkdirSync(folder);
    const use = { inFlight: count };
    const stores = await openStores(engine, { ...stage, folder }, use, count);
    const models = stores.all.map((store) =>
      new Model(store, besideSize, usualBytes)
    );
    for (const model of models) await model.load();
    const { durability } = firstOf(stores.all);
    const measure = rowsInto(outcomes, task, count, writes);
    await measure(name, inTurn(models), durability);
    for (const [at, model] of models.entries()) {
      const wrong = await model.verify(
        stores.all[at] ?? firstOf(stores.all),
        verified / count,
      );
      outcomes.push(...withWrong(outcomes.splice(-1), wrong));
    }
    await stores.close();
  }
  return outcomes;
}

/** A write to the first, to the second, and so on. */
function inTurn(models: readonly Model[]): Steps {
  const sets = models.map((model) => model.sets);
  let at = 0;
  return (): Step | undefined => sets[at++ % sets.length]?.();
}

/** What was found wrong at the end is said of every row with writes. */
function withWrong(
  outcomes: readonly Outcome[],
  wrong: string | undefined,
): Outcome[] {
  if (wrong === undefined) return [...outcomes];
  return outcomes.map((outcome) =>
    outcome.durability === "none" ? outcome : { wrong, ...outcome }
  );
}

function firstOf(stores: readonly Store[]): Store {
  const [first] = stores;
  if (first === undefined) throw new RangeError("no store was opened");
  return first;
}
