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

const Card = defineSchema("card", {
  title: field.string(),
  votes: field.counter(),
});

let database: Database;
let repository: Repository;
/** The most cards that came between two turns of this thread. */
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

/** Writes many cards in one transaction. */
export async function bulk(count: number): Promise<void> {
  await repository.transact((tx) => {
    const cards = tx.collection(Card);
    for (let i = 0; i < count; i++) cards.create({ title: `bulk-${i}` });
  });
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

/** Begins to count what comes between two turns, in which this thread could draw. */
export function measure(): void {
  let last = count();
  const channel = new MessageChannel();
  channel.port1.onmessage = () => {
    const now = count();
    mostSeen = Math.max(mostSeen, now - last);
    last = now;
    channel.port2.postMessage(0);
  };
  channel.port2.postMessage(0);
}

/** The most cards that came between two turns since. */
export function mostInATurn(): number {
  return mostSeen;
}

/** How many cards are live here, by a live query. */
export function count(): number {
  return repository.collection(Card).count();
}
