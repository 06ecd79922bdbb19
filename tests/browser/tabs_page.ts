/**
 * A page with a database of its own, for `tabs_test.ts`: its exports are called.
 *
 * @module
 */

import {
  type Database,
  defineSchema,
  field,
  openDatabase,
  type Repository,
} from "@sheaf/sheaf/browser";
import { limits } from "../../src/base/limits.ts";

const Card = defineSchema("card", {
  title: field.string(),
  votes: field.counter(),
});

let database: Database;
let repository: Repository;
/** The most cards that came while this thread did nothing else. */
let mostSeen = 0;
/** Titles of writes that were called durable. */
const durable: string[] = [];
const failures: string[] = [];

/** Opens it; says what it is to the others, and where the files are. */
export async function open(): Promise<{ role: string; backend: string }> {
  database = await openDatabase({
    name: "tabs",
    worker: "/worker.js",
    schemas: [Card],
  });
  repository = await database.repository("team/board");
  const { role } = database.tabs.status;
  return { role, backend: database.storage.status().backend };
}

/** Writes cards with this prefix, one every `pauseMs`, until it is told to stop. */
export function write(prefix: string, count: number, pauseMs: number): void {
  const cards = repository.collection(Card);
  let i = 0;
  const timer = setInterval(() => {
    const title = `${prefix}-${++i}`;
    if (i >= count) clearInterval(timer);
    cards.create({ title }).durable.then(
      () => durable.push(title),
      (cause) => failures.push(String(cause)),
    );
  }, pauseMs);
}

/** Writes cards in transactions of so many, one after the other. */
export async function bulk(commits: number, each: number): Promise<void> {
  for (let commit = 0; commit < commits; commit++) {
    await repository.transact((tx) => {
      const cards = tx.collection(Card);
      for (let i = 0; i < each; i++) cards.create({ title: `bulk-${i}` });
    });
  }
}

/** Adds one to the votes of a card, made when it is missing. */
export async function vote(): Promise<void> {
  const cards = repository.collection(Card);
  if (cards.get("votes") === undefined) {
    await cards.create({ id: "votes", title: "votes" });
  } else await cards.update("votes", { votes: { increment: 1 } });
}

/** What this page shows, and what it was told. */
export function report(): {
  titles: string[];
  votes: number;
  durable: string[];
  failures: string[];
  role: string;
  tabs: number;
} {
  const cards = repository.collection(Card);
  return {
    titles: cards.all().map(({ title }) => title).sort(),
    votes: cards.get("votes")?.votes ?? 0,
    durable: [...durable],
    failures: [...failures],
    role: database.tabs.status.role,
    tabs: database.tabs.status.count,
  };
}

/**
 * Begins to count what comes at a stretch, in which this thread cannot draw, on a
 * machine that needs a whole slice for so many cards: its clock says so, however
 * quick it is. Whoever works in slices looks at the clock as it begins.
 */
export function measure(cardsInASlice: number): void {
  const now = performance.now.bind(performance);
  const sliceMs = limits.tabSliceMsMax / cardsInASlice;
  let isBegun = false;
  performance.now = () => {
    const before = count();
    if (!isBegun) {
      isBegun = true;
      queueMicrotask(() => {
        isBegun = false;
        mostSeen = Math.max(mostSeen, count() - before);
      });
    }
    return now() + before * sliceMs;
  };
}

/** The most cards that came at a stretch since. */
export function mostAtAStretch(): number {
  return mostSeen;
}

/** How many cards are live here, by a live query. */
export function count(): number {
  return repository.collection(Card).count();
}
