/**
 * What runs in the page: timed pieces of work with one engine. Every answer is
 * held against the items it must hold; a wrong one ends the measure.
 *
 * @module
 */

import {
  authorCount,
  authorName,
  authorNumberOf,
  difference,
  doneOf,
  type Item,
  itemAt,
  itemsBetween,
  rankOf,
} from "../harness/items.ts";
import { type PageEngine, pageLimit } from "./engine.ts";

/** How long one measure may take, and how many samples it takes at most. */
export interface Budget {
  readonly ms: number;
  readonly samplesMax: number;
}

/** How opening went. */
export interface Opened {
  readonly ms: number;
  /** Of it, after the engine's worker was up. */
  readonly afterUpMs: number | undefined;
  /** The longest stretch in which the page could do nothing else. */
  readonly longestBlockMs: number;
}

/** What the page offers to the bench. */
export interface BenchPage {
  fill(size: number): Promise<number>;
  openAndAsk(size: number, isWatched: boolean): Promise<Opened>;
  open(): Promise<void>;
  close(): Promise<void>;
  createDurable(from: number, budget: Budget): Promise<number[]>;
  createSoon(from: number, budget: Budget): Promise<number[]>;
  createMany(from: number, count: number): Promise<number>;
  get(size: number, budget: Budget): Promise<number[]>;
  ask(): Promise<number[]>;
  live(budget: Budget): Promise<number[]>;
}

const author = authorName(0);
const samplesMin = 3;
const warmUps = 3;
const burst = 20;
const fillSlice = 10_000;
const liveMsMax = 20_000;
/** So long blocks are looked for behind the first answer. */
const afterOpeningMs = 500;
const warmUpMs = 1_000;

function turn(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve));
}

function expectSame(got: Item | undefined, wanted: Item): void {
  const problem = difference(got, wanted);
  if (problem !== undefined) throw new Error(`WRONG: ${problem}`);
}

/** The answer that {@linkcode PageEngine.open50} must give at first. */
export function expectedPage(size: number): Item[] {
  const found: number[] = [];
  for (let index = 0; index < size; index++) {
    if (authorNumberOf(index) === 0 && !doneOf(index)) found.push(index);
  }
  return found.sort((left, right) => rankOf(left) - rankOf(right))
    .slice(0, pageLimit).map((index) => itemAt(index));
}

/** Samples of `work` until the budget is used up. */
async function sample(
  budget: Budget,
  work: (turn: number) => Promise<number>,
): Promise<number[]> {
  const samples: number[] = [];
  const start = performance.now();
  for (let at = 0; at < budget.samplesMax + warmUps; at++) {
    const isLate = performance.now() - start > budget.ms;
    if (isLate && samples.length >= samplesMin) break;
    const ms = await work(at);
    // What is too slow to warm up within its time counts from the start.
    if (at >= warmUps || ms > budget.ms / 10) samples.push(ms);
  }
  return samples;
}

async function timed(work: () => unknown): Promise<number> {
  const start = performance.now();
  await work();
  return performance.now() - start;
}

/** Measures the longest gap between turns of the page, until told to stop. */
function watchBlocks(): () => number {
  const { port1, port2 } = new MessageChannel();
  let last = performance.now();
  let longest = 0;
  const tick = () => {
    const now = performance.now();
    longest = Math.max(longest, now - last);
    last = now;
  };
  port1.onmessage = () => {
    tick();
    port2.postMessage(0);
  };
  port2.postMessage(0);
  return () => {
    tick();
    port1.close();
    return longest;
  };
}

/** The pieces of work of the bench, with one engine. */
export function benchPage(engine: PageEngine): BenchPage {
  return {
    async fill(size) {
      await engine.open();
      let ms = 0;
      for (let from = 0; from < size; from += fillSlice) {
        const items = itemsBetween(from, Math.min(size, from + fillSlice));
        ms += await timed(() => engine.createMany(items));
      }
      await engine.close();
      return ms;
    },
    openAndAsk: (size, isWatched) => openAndAsk(engine, size, isWatched),
    async open() {
      await engine.open();
    },
    async close() {
      await engine.close();
    },
    createDurable: (from, budget) =>
      sample(budget, (at) => timed(() => engine.create(itemAt(from + at)))),
    createSoon: (from, budget) =>
      sample(budget, async (at) => {
        const item = itemAt(from + at);
        const ms = await timed(() => engine.createSoon(item));
        expectSame(await engine.get(item.id), item);
        // Writes behind are given a moment, so that they are not measured here.
        await turn();
        return ms;
      }),
    createMany: (from, count) =>
      timed(() => engine.createMany(itemsBetween(from, from + count))),
    get: (size, budget) => sample(budget, (at) => getBurst(engine, size, at)),
    async ask() {
      const samples: number[] = [];
      // Indexes that are built behind the first questions are there then.
      for (let number = 0; number < warmUps; number++) {
        await engine.open50(authorName(number));
        await turn();
      }
      await new Promise((resolve) => setTimeout(resolve, warmUpMs));
      // Each author once: some keep answers that were asked for before.
      for (let number = warmUps; number < authorCount; number++) {
        const name = authorName(number);
        samples.push(await timed(() => engine.open50(name)));
        await turn(); // As an app asks: not all in one turn.
      }
      return samples;
    },
    live: (budget) => live(engine, budget),
  };
}

async function openAndAsk(
  engine: PageEngine,
  size: number,
  isWatched: boolean,
): Promise<Opened> {
  const wanted = expectedPage(size);
  const stop = isWatched ? watchBlocks() : () => 0;
  if (isWatched) await turn();
  const start = performance.now();
  const up = await engine.open();
  const items = await engine.open50(author);
  const end = performance.now();
  if (isWatched) await askOn(engine);
  const longestBlockMs = stop();
  wanted.forEach((item, at) => expectSame(items[at], item));
  if (items.length !== wanted.length) throw new Error("WRONG: too many items");
  await engine.close();
  const afterUpMs = up === undefined ? undefined : end - up;
  return { ms: end - start, afterUpMs, longestBlockMs };
}

/** What opening left for later, indexes for one, is seen by who watches. */
async function askOn(engine: PageEngine): Promise<void> {
  const end = performance.now() + afterOpeningMs;
  for (let number = 1; performance.now() < end; number++) {
    await turn();
    if (number < authorCount) await engine.open50(authorName(number));
  }
}

/** Reads that were asked for one after the other; milliseconds of one. */
async function getBurst(
  engine: PageEngine,
  size: number,
  at: number,
): Promise<number> {
  const wanted = Array.from(
    { length: burst },
    (_, place) => itemAt((at * burst + place) * 7919 % size),
  );
  const got: (Item | undefined)[] = [];
  const ms = await timed(async () => {
    for (const { id } of wanted) {
      const found = engine.get(id);
      got.push(found instanceof Promise ? await found : found);
    }
  });
  // Some have moved by now: ranks are not compared.
  wanted.forEach((item, place) => {
    const found = got[place];
    expectSame(found && { ...found, rank: item.rank }, item);
  });
  return ms / burst;
}

/** From a change until the listener has the answer that it makes. */
async function live(engine: PageEngine, budget: Budget): Promise<number[]> {
  let items: readonly Item[] = [];
  let wake: () => void = () => {};
  const end = await engine.watch(author, (answer) => {
    items = answer;
    wake();
  });
  const until = (isThere: () => boolean) =>
    new Promise<void>((resolve, reject) => {
      const late = setTimeout(
        () => reject(new Error("WRONG: the live query did not hear of it")),
        liveMsMax,
      );
      wake = () => {
        if (!isThere()) return;
        clearTimeout(late);
        resolve();
      };
      wake();
    });
  if (items.length === 0) items = await engine.open50(author);
  let rank = items[0]?.rank ?? 0;
  try {
    return await sample(budget, async () => {
      const moved = items[items.length >> 1];
      if (moved === undefined) throw new Error("WRONG: nothing to watch");
      rank--;
      const start = performance.now();
      const heard = until(() => items[0]?.id === moved.id);
      await engine.move(moved.id, rank);
      await heard;
      const ms = performance.now() - start;
      await turn();
      return ms;
    });
  } finally {
    end();
  }
}
