/**
 * The stress suite: a game's players, from one thousand to a hundred thousand.
 *
 * A list as such suites have it (insert, CRUD, 27 questions with indexes,
 * 1,001 updates, 101 deletes), one operation at a time and in transactions,
 * then what they leave out: single operations, each question again, eight tasks
 * at once, versions, memory. All engines get the same players, the same
 * indexes and the same checks.
 *
 * @module
 */

import {
  type CaseSpec,
  isAsked,
  type Order,
  type Outcome,
  type Stage,
  type Suite,
} from "../harness/suite.ts";
import { runInBrowser } from "./browser.ts";
import { denoPlace, peakBytes } from "./deno_place.ts";
import { engineNamed, engines, type StressEngine } from "./engines.ts";
import { playersMax } from "./players.ts";
import { runPart } from "./part.ts";
import { Findings, type Part, rowNames, rows, tables } from "./rows.ts";

const repetitions = 3;
const msMax = 120_000;
const sizesFull = [1_000, 10_000, 100_000];
const sizesQuick = [1_000];
const sizeMiddle = 10_000;
const sizeLarge = 100_000;
/** One of each durability, ours and SQLite's: at every size, in batches. */
const curve = ["sheaf-default", "sheaf-fast", "sqlite-full", "sqlite-off"];
/** Of these, who does at the least and the greatest size what takes long. */
const ends = ["sheaf-default", "sqlite-full"];
/** The smallest size at which every question has rows, and a bulk read its ids. */
const sizeMin = 500;

/** So many players are inserted one at a time, and the others before them. */
function singlesOf(size: number, { isSlowToWrite }: StressEngine): number {
  if (isSlowToWrite) return Math.min(size, 500);
  // The whole list is known for 10,000; of more, the last ones tell as much.
  return size <= 10_000 ? size : 2_000;
}

/** Pages have tables of their own: other clocks, and nobody there to compare with. */
function tableIn({ isInBrowser }: StressEngine, table: string): string {
  return isInBrowser ? `${table}, in Chromium` : table;
}

/**
 * Which engines do which part at which size. Whoever is named does what it can;
 * when nobody is, the curve is drawn by those that stand for the others, and
 * everybody is there at the middle size, so that all of it takes six minutes.
 */
function takesPart(
  engine: StressEngine,
  part: Part,
  size: number,
  { isQuick, engines }: Order,
): boolean {
  if (!canDo(engine, part, size)) return false;
  if (engines.length > 0) return true;
  const { name, isInBrowser, durability } = engine;
  const isMiddle = size >= sizeMiddle && size < sizeLarge;
  if (isInBrowser) {
    // Chromium starts anew for each.
    return part === "batch"
      ? isMiddle || isQuick
      : name === "sheaf-opfs" && !isQuick;
  }
  const isOfCurve = curve.includes(name);
  if (part === "batch") {
    return isQuick || isMiddle || isOfCurve ||
      durability === "memory" && size >= sizeLarge;
  }
  if (isMiddle) return isOfCurve;
  // Of more players one operation at a time is what "save one" tells.
  return ends.includes(name) && !(part === "single" && size >= sizeLarge);
}

/** What tells something, and ends in time. */
function canDo(
  { isInBrowser, durability }: StressEngine,
  part: Part,
  size: number,
): boolean {
  if (isInBrowser) {
    return part !== "versions" &&
      size <= (part === "batch" ? sizeMiddle : 1_000);
  }
  // In memory it would be the same question again.
  return part === "batch" || durability !== "memory";
}

function specOf(
  engine: StressEngine,
  part: Part,
  size: number,
  { filter, isQuick }: Order,
): CaseSpec {
  return {
    suite: "stress",
    name: `${part}, ${size}`,
    table: tableIn(engine, tables[part]),
    operation: part === "versions" ? "versions" : rows.list,
    engine: engine.name,
    durability: engine.durability,
    size,
    repetitions: isQuick && engine.isInBrowser ? 1 : repetitions,
    msMax,
    params: { part, singles: singlesOf(size, engine), filter },
  };
}

function cases(order: Order): CaseSpec[] {
  const ownSizes = order.isQuick ? sizesQuick : sizesFull;
  const sizes = order.sizes.length === 0 ? ownSizes : order.sizes;
  const specs: CaseSpec[] = [];
  for (const size of sizes) {
    if (size < sizeMin || size > playersMax - 1_000) {
      throw new RangeError(
        `stress: sizes are ${sizeMin} to ${playersMax - 1_000}, not ${size}`,
      );
    }
    for (const part of ["single", "batch", "versions"] as const) {
      for (const engine of engines) {
        if (!takesPart(engine, part, size, order)) continue;
        const isWanted = rowNames(part).some(({ table, operation }) =>
          isAsked(order, {
            suite: "stress",
            table: tableIn(engine, table),
            operation,
            engine: engine.name,
          })
        );
        if (isWanted) specs.push(specOf(engine, part, size, order));
      }
    }
  }
  return specs;
}

function partOf(value: unknown): Part {
  if (value === "single" || value === "batch" || value === "versions") {
    return value;
  }
  throw new RangeError(`the stress suite has no part ${value}`);
}

async function run(spec: CaseSpec, stage: Stage): Promise<Outcome[]> {
  const { engine: name, size, params } = spec;
  const part = partOf(params["part"]);
  const { isQuick, folder } = stage;
  const order = { part, size, singles: Number(params["singles"]), isQuick };
  const engine = engineNamed(name);
  const outcomes = engine.isInBrowser
    ? await runInBrowser(name, order, folder)
    : await runHere(name, order, folder);
  const asked = { engines: [], filter: String(params["filter"]) };
  return outcomes
    .map((outcome) => ({
      ...outcome,
      table: tableIn(engine, outcome.table ?? spec.table),
    }))
    .filter(({ table, operation = spec.operation }) =>
      isAsked(asked, { ...spec, table, operation })
    );
}

async function runHere(
  engine: string,
  order: Parameters<typeof runPart>[1],
  folder: string,
): Promise<Outcome[]> {
  const place = await denoPlace(engine, folder, order.part);
  const outcomes = await runPart(place, order);
  const peak = peakBytes();
  if (order.part === "batch" && peak !== undefined) {
    new Findings("memory", outcomes).bytes(rows.peak, peak);
  }
  return outcomes;
}

/** The players. */
export const suite: Suite = { name: "stress", peers: [], cases, run };
