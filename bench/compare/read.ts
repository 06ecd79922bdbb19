/**
 * Reading: many items by their ids at random, then all, again and again. Each
 * item is touched in every field inside of the timed part, so that promises of
 * values must be kept; answers are compared with the right ones outside of it.
 * From the second time on an engine may give what it has made before, and some
 * do (Sheaf among them): what the first time costs is a row of its own, of a
 * process that has just opened.
 *
 * One read is shorter than what a clock can tell, so a sample is the mean of
 * {@linkcode together} reads.
 *
 * @module
 */

import { idOf, itemAt, touch, touchAll } from "../harness/items.ts";
import { numbers } from "../harness/scramble.ts";
import type { Outcome } from "../harness/suite.ts";
import { rows } from "./cases.ts";
import { sumOf, wrongAll } from "./check.ts";
import type { Engine, Store } from "./store.ts";

const together = 10;
const warmReads = 500;
const readsMax = 20_000;
const scansMax = 12;
const budgets = { reads: 400, scans: 500 };
const quickBudgets = { reads: 60, scans: 60 };
const seed = 0x5eaf;

/** Both ways to read, of a store that holds the first `size` items. */
export async function readBoth(
  store: Store,
  size: number,
  isQuick: boolean,
): Promise<Outcome[]> {
  const budget = isQuick ? quickBudgets : budgets;
  const byId = await readAtRandom(store, size, budget.reads);
  const every = await readAll(store, size, budget.scans);
  return [
    readOutcome(rows.byId, byId.samples, byId.wrong),
    readOutcome(rows.every, every.samples, every.wrong),
  ];
}

/** Opens and reads all at once: one sample, of a process that has done nothing else. */
export async function readCold(engine: Engine, size: number): Promise<Outcome> {
  const start = performance.now();
  const store = await engine.open();
  const soon = store.all();
  const all = soon instanceof Promise ? await soon : soon;
  const sum = touchAll(all);
  const ms = performance.now() - start;
  const wrong = sum === sumOf(size)
    ? wrongAll(all, size)
    : "all items are not those that were inserted";
  await store.close();
  return readOutcome(rows.coldEvery, [ms], wrong);
}

/** A row of the table of reads. */
export function readOutcome(
  operation: string,
  samples: readonly number[],
  wrong: string | undefined,
): Outcome {
  return {
    table: rows.read,
    operation,
    durability: "none",
    unit: "ms",
    samples,
    ...wrong === undefined ? {} : { wrong },
  };
}

interface Read {
  readonly samples: readonly number[];
  readonly wrong: string | undefined;
}

async function readAtRandom(
  store: Store,
  size: number,
  msMax: number,
): Promise<Read> {
  const order = indexesAtRandom(readsMax + warmReads, size);
  const warmEnd = performance.now() + msMax;
  for (const index of order.slice(0, warmReads)) {
    await store.get(idOf(index));
    if (performance.now() > warmEnd) break;
  }
  const samples: number[] = [];
  const end = performance.now() + msMax;
  let wrong: string | undefined;
  for (
    let at = warmReads;
    at < order.length && performance.now() < end;
    at += together
  ) {
    const indexes = order.slice(at, at + together);
    const ids = indexes.map(idOf);
    const wanted = indexes.reduce((sum, i) => sum + touch(itemAt(i)), 0);
    const start = performance.now();
    let sum = 0;
    for (const id of ids) {
      const soon = store.get(id);
      const item = soon instanceof Promise ? await soon : soon;
      if (item !== undefined) sum += touch(item);
    }
    samples.push((performance.now() - start) / together);
    if (sum !== wanted) wrong ??= "items read by id are not those that were";
  }
  return { samples, wrong };
}

async function readAll(
  store: Store,
  size: number,
  msMax: number,
): Promise<Read> {
  const wanted = sumOf(size);
  const samples: number[] = [];
  const end = performance.now() + msMax;
  let wrong: string | undefined;
  while (
    samples.length === 0 ||
    (samples.length < scansMax && performance.now() < end)
  ) {
    const start = performance.now();
    const soon = store.all();
    const all = soon instanceof Promise ? await soon : soon;
    const sum = touchAll(all);
    samples.push(performance.now() - start);
    if (sum !== wanted) wrong ??= "all items are not those that were inserted";
    if (samples.length === 1) wrong ??= wrongAll(all, size);
  }
  return { samples, wrong };
}

/** The same for every engine. */
function indexesAtRandom(count: number, size: number): number[] {
  const next = numbers(seed);
  return Array.from({ length: count }, () => next(size));
}
