/**
 * The browser is killed with SIGKILL fifty times, ten in each test, while its pages write to
 * databases of every mode, and opened again: nothing that was acknowledged is
 * lost, nothing is doubled, nothing is there in part.
 *
 * Chromium that is killed on a busy machine now and then removes the whole folder
 * `IndexedDB` of its profile. That is an eviction and no loss of ours, where it
 * can be proved: the database is another one, under new keys, and nothing that
 * any life wrote is left in it. Of OPFS it is never believed, and drops are told.
 *
 * @module
 */

import { deepEqual, equal, ok } from "node:assert/strict";
import type { Teller } from "./proof_page.ts";
import { type BrowserPlace, browserTest, until } from "./kit/mod.ts";
import {
  type Acknowledged,
  check,
  entries,
  plainWorker,
  type ProofTab,
} from "./proof_place.ts";

const TESTS = 5;
const LIVES = 10;
/** More drops in so many lives are no accident of the browser's. */
const DROPS_MAX = 2;
/** Each life writes to the first one, every second life to one of the others, too. */
const databases = [
  { name: "default", mode: "default" },
  { name: "trusted", mode: "trusted" },
  { name: "fast", mode: "fast" },
  { name: "indexeddb", mode: "default", worker: plainWorker },
] as const;

/** What is known of one database. */
interface KnownDatabase {
  /** Whose database it is: made with it, and kept in it. */
  rootKey: string | undefined;
  readonly acknowledged: Acknowledged;
  /** What was acknowledged before the browser dropped it. */
  readonly dropped: number[];
}

type Known = Map<string, KnownDatabase>;

function knownOf(known: Known, name: string): KnownDatabase {
  let database = known.get(name);
  if (database === undefined) {
    database = { rootKey: undefined, acknowledged: new Map(), dropped: [] };
    known.set(name, database);
  }
  return database;
}

function sumOf(acknowledged: Acknowledged): number {
  return acknowledged.values().reduce((sum, n) => sum + n, 0);
}

function ofLife(life: number): readonly (typeof databases)[number][] {
  if (life % 2 === 0) return [databases[0]];
  return [databases[0], databases[1 + (life >> 1) % 3]!];
}

/** Opens what a life has, and checks what the last one left. */
async function openAll(
  tab: ProofTab,
  opened: readonly (typeof databases)[number][],
  known: Known,
): Promise<void> {
  for (const opening of opened) {
    const { backend, rootKey } = await tab.call("open", opening);
    equal(backend, "worker" in opening ? "indexeddb" : "opfs");
    const database = knownOf(known, opening.name);
    // One that nothing was acknowledged of may never have been on the disk.
    const isAnother = rootKey !== database.rootKey &&
      sumOf(database.acknowledged) > 0;
    database.rootKey = rootKey;
    if (isAnother) await checkDropped(tab, opening.name, backend, database);
    await check(tab, opening.name, database.acknowledged);
  }
}

/** It is another database: the browser has dropped the one that was there, whole. */
async function checkDropped(
  tab: ProofTab,
  name: string,
  backend: string,
  { acknowledged, dropped }: KnownDatabase,
): Promise<void> {
  equal(backend, "indexeddb", `${name}: OPFS is never dropped`);
  const { runs } = await tab.call("found", name);
  deepEqual(runs, {}, `${name}: another database, and yet a part of the old`);
  dropped.push(sumOf(acknowledged));
  acknowledged.clear();
  console.log(`  the browser dropped ${name}, with ${dropped.at(-1)} writes`);
  ok(dropped.length <= DROPS_MAX, `${name}: dropped ${dropped.length} times`);
}

/** One life: opens, checks, writes, and is killed in the midst of it. */
async function live(
  place: BrowserPlace,
  life: number,
  known: Known,
): Promise<void> {
  const opened = ofLife(life);
  const tabs = [await place.open<PageOf>("page")];
  await openAll(tabs[0]!, opened, known);
  // Every fifth life has two pages, whose writes go through one owner.
  if (life % 5 === 4) {
    tabs.push(await place.open<PageOf>("page"));
    await openAll(tabs[1]!, opened, known);
  }
  const run = (i: number) => `life${life}${"ab"[i]}`;
  // What is asked for before the kill is old by then: pages say each one by themselves.
  const tell: Teller = (name, run, durable) => {
    knownOf(known, name).acknowledged.set(run, durable);
  };
  for (const { page } of tabs) {
    await page.exposeFunction("tellAcknowledged", tell);
  }
  for (const [i, tab] of tabs.entries()) {
    for (const { name } of opened) await tab.call("begin", name, run(i));
  }
  // It is killed after another write each time.
  const wanted = 1 + (life * 7) % 40;
  const durable = () => knownOf(known, "default").acknowledged.get(run(0)) ?? 0;
  await until(
    () => Promise.resolve(durable() >= wanted),
    `${wanted} acknowledged writes of life ${life}`,
  );
  // A write in Fast mode is acknowledged before it is durable: that is asked for.
  const settled: number[] = [];
  for (const tab of tabs) {
    const hasFast = opened.some(({ name }) => name === "fast");
    settled.push(hasFast ? await tab.call("settle", "fast") : 0);
  }
  for (const [i, tab] of tabs.entries()) {
    for (const { name } of opened) {
      const { failures } = await tab.call("told", name);
      deepEqual(failures, []);
      if (name !== "fast") continue;
      knownOf(known, name).acknowledged.set(run(i), settled[i]!);
    }
  }
  await place.killAndRestart();
}

type PageOf = typeof import("./proof_page.ts");

async function prove(place: BrowserPlace, first: number): Promise<void> {
  const known: Known = new Map();
  for (let life = first; life < first + LIVES; life++) {
    await live(place, life, known);
  }
  const tab = await place.open<PageOf>("page");
  await openAll(tab, databases, known);
  const counts: string[] = [];
  for (const { name } of databases) {
    const { acknowledged, dropped } = knownOf(known, name);
    const runs = await check(tab, name, acknowledged);
    const found = Object.values(runs).reduce((sum, n) => sum + n, 0);
    const durable = sumOf(acknowledged);
    const all = dropped.reduce((sum, n) => sum + n, durable);
    ok(all > 0, `${name}: nothing was acknowledged`);
    const drops = dropped.length;
    counts.push(`${name} ${durable}/${found}, ${drops} times dropped`);
    equal(await tab.call("verify", name), true);
  }
  console.log(`  acknowledged/found: ${counts.join("; ")}`);
}

for (let i = 0; i < TESTS; i++) {
  const [first, last] = [i * LIVES, (i + 1) * LIVES - 1];
  browserTest(
    `a database keeps what it acknowledged when its browser is killed, in every mode, lives ${first} to ${last}`,
    { entries, mayThrow: true },
    (place) => prove(place, first),
  );
}
