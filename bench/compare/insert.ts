/**
 * Inserting: one at a time, by hundreds, all at once.
 *
 * A store of its own that is thrown away warms the engine up. What was
 * inserted is read again after the store was closed and opened (where it keeps
 * anything), outside of the timed part; after all at once by two new
 * processes, one after the other, which measure how they read.
 *
 * @module
 */

import { type Item, itemsBetween } from "../harness/items.ts";
import type { CaseSpec, Outcome, Stage } from "../harness/suite.ts";
import { hundred, rows, type Work } from "./cases.ts";
import { wrongWith } from "./check.ts";
import type { Entry } from "./engines.ts";
import { readElsewhere } from "./reader.ts";
import { readBoth } from "./read.ts";
import { bytesIn, hasFiles } from "./space.ts";
import type { Engine, Place, Soon, Store } from "./store.ts";

/** Slow engines stop here; what they did by then is the sample. */
const budgets = { one: 500, hundreds: 700 };
const quickBudgets = { one: 80, hundreds: 150 };
/** The row of bytes wants all items, also of slow engines: so long they may go on, untimed. */
const restMs = 40_000;
const warmItems = 300;
const warmSingles = 30;

/** A store that is being measured. */
interface Trial {
  readonly spec: CaseSpec;
  readonly entry: Entry;
  readonly stage: Stage;
  readonly place: Place;
  readonly engine: Engine;
  readonly store: Store;
}

interface Timed {
  readonly samples: readonly number[];
  readonly inserted: number;
}

/** Runs one case: inserts, and for `all` reads. */
export async function insert(
  spec: CaseSpec,
  entry: Entry,
  work: Work,
  stage: Stage,
): Promise<Outcome[]> {
  const load = await entry.load();
  const { peers, addresses } = stage;
  const placeAt = (name: string): Place => {
    const folder = `${stage.folder}/${name}`;
    Deno.mkdirSync(folder, { recursive: true });
    return { folder, peers, addresses };
  };
  await warmUp(await load(placeAt("warm")));
  const place = placeAt("store");
  const engine = await load(place);
  const store = await engine.open();
  const timed = await time(store, spec.size, work, stage.isQuick);
  const trial = { spec, entry, stage, place, engine, store };
  const rest = await (work === "all" ? readAfter(trial) : verify(trial, timed));
  const wrong = rest.find((outcome) => outcome.wrong !== undefined)?.wrong;
  const own: Outcome = {
    unit: "ms",
    samples: timed.samples,
    ...store.durability === undefined ? {} : { durability: store.durability },
    ...wrong === undefined ? {} : { wrong },
  };
  // A row without samples carried the verdict only.
  return [own, ...rest.filter(({ samples }) => samples.length > 0)];
}

/** Closes the store, looks what it left, and has it read by new processes; what forgets is read as it is. */
async function readAfter(trial: Trial): Promise<Outcome[]> {
  const { spec, entry, stage, place, engine, store } = trial;
  if (!entry.isKept) {
    const outcomes = await readBoth(store, spec.size, stage.isQuick);
    await store.close();
    return outcomes;
  }
  await store.close();
  const bytes = hasFiles(entry) ? [bytesIn(place.folder)] : [];
  try {
    const outcomes: Outcome[] = [];
    for (const isCold of [true, false]) {
      outcomes.push(
        ...await readElsewhere({
          engine: entry.name,
          place,
          size: spec.size,
          isQuick: stage.isQuick,
          isCold,
        }, spec.msMax),
      );
    }
    return [...outcomes, diskOutcome(rows.disk, bytes)];
  } finally {
    if (entry.isServer) await forget(engine);
  }
}

/** Closes the store, opens it again and reads everything. */
async function verify(
  { spec, entry, place, engine, store }: Trial,
  { inserted }: Timed,
): Promise<Outcome[]> {
  if (!entry.isKept) {
    const wrong = await wrongWith(store, inserted);
    await store.close();
    return [diskOutcome(rows.diskHundreds, [], wrong)];
  }
  await store.close();
  // Who ran out of time even so has fewer items than a row of bytes would say.
  const isWhole = inserted === spec.size && hasFiles(entry);
  const bytes = isWhole && spec.operation === rows.hundreds
    ? [bytesIn(place.folder)]
    : [];
  const again = await engine.open();
  const wrong = await wrongWith(again, inserted);
  await again.remove?.();
  await again.close();
  return [diskOutcome(rows.diskHundreds, bytes, wrong)];
}

function diskOutcome(
  operation: string,
  samples: readonly number[],
  wrong?: string,
): Outcome {
  return {
    table: rows.space,
    operation,
    durability: "none",
    unit: "B",
    samples,
    ...wrong === undefined ? {} : { wrong },
  };
}

/** Everything that will be timed, some times, in a store that is then forgotten. */
async function warmUp(engine: Engine): Promise<void> {
  const store = await engine.open();
  const items = itemsBetween(0, warmItems);
  for (const item of items.slice(0, warmSingles)) await store.insert(item);
  for (let at = warmSingles; at < warmItems; at += hundred) {
    await store.insertMany(items.slice(at, at + hundred));
  }
  await store.remove?.();
  await store.close();
}

async function forget(engine: Engine): Promise<void> {
  const store = await engine.open();
  await store.remove?.();
  await store.close();
}

async function time(
  store: Store,
  size: number,
  work: Work,
  isQuick: boolean,
): Promise<Timed> {
  const items = itemsBetween(0, size);
  const budget = isQuick ? quickBudgets : budgets;
  const many = (part: readonly Item[]) => store.insertMany(part);
  switch (work) {
    case "one": {
      const samples = await timeEach(
        items,
        budget.one,
        (item) => store.insert(item),
      );
      return { samples, inserted: samples.length };
    }
    case "hundreds": {
      const parts = chunks(items, hundred);
      const samples = await timeEach(parts, budget.hundreds, many);
      const rest = await timeEach(parts.slice(samples.length), restMs, many);
      const done = samples.length + rest.length;
      return { samples, inserted: Math.min(size, done * hundred) };
    }
    case "all":
      return {
        samples: await timeEach([items], Infinity, many),
        inserted: size,
      };
  }
}

/** Times one call after the other, for so long. */
async function timeEach<T>(
  parts: readonly T[],
  msMax: number,
  insert: (part: T) => Soon<unknown>,
): Promise<number[]> {
  const samples: number[] = [];
  const end = performance.now() + msMax;
  for (const part of parts) {
    const start = performance.now();
    if (start > end) break;
    const soon = insert(part);
    if (soon instanceof Promise) await soon;
    samples.push(performance.now() - start);
  }
  return samples;
}

function chunks(items: readonly Item[], length: number): Item[][] {
  const parts: Item[][] = [];
  for (let at = 0; at < items.length; at += length) {
    parts.push(items.slice(at, at + length));
  }
  return parts;
}
