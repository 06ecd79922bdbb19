/**
 * A page that writes all the time, and finds out itself how long it waited for
 * an owner. Its tab says what tabs say, and nothing else (`tests/kit/raw_tab.ts`).
 *
 * @module
 */

import { limits } from "../../src/base/limits.ts";
import { system } from "../../src/base/system.ts";
import { ownerLock, webLocks } from "../../src/browser/locks.ts";
import type { Wire } from "../../src/browser/route.ts";
import { pause } from "../kit/patience.ts";
import { type RawRepository, RawTab } from "../kit/raw_tab.ts";

interface WorkerClass {
  new (address: string, options: { readonly type: "module" }): Wire;
}

/** How often it writes, and asks whether its owner is alive. */
const EVERY_MS = 5;
/** After so much silence it has its worker take the files, as tabs do. */
const SILENCE_MS = limits.tabSilenceMsMax;

let tab: RawTab;
let tree: RawRepository;
let count = 0;
let isWriting = false;
let writing = Promise.resolve();
/** The owner that it has the repository open with. */
let term = 0;
/** When each write was acknowledged, in the order of writing: in turns of the timer, and by the clock, which is for people alone. */
const acknowledged: { readonly turn: number; readonly ms: number }[] = [];
let turn = 0;
setInterval(() => turn++, EVERY_MS);

/** Opens the tab and the repository; says how long the latter took, in milliseconds. */
export async function open(name: string): Promise<number> {
  const Worker = Reflect.get(globalThis, "Worker") as WorkerClass;
  const port = new Worker("/worker.js", { type: "module" });
  const channel = () =>
    new BroadcastChannel(ownerLock(name)) as unknown as Wire;
  const place = { port, channel, locks: webLocks()!, world: system };
  tab = await RawTab.open(name, place);
  const welcome = await tab.next("welcome");
  const began = performance.now();
  tree = await tab.openWith(welcome);
  term = tab.term;
  return performance.now() - began;
}

interface Document {
  addEventListener(type: "freeze" | "resume", listener: () => void): void;
}

/** From now on it gives the files away before it is frozen, as tabs do. */
export function beKind(): void {
  const document = Reflect.get(globalThis, "document") as Document;
  document.addEventListener("freeze", () => tab.tell({ kind: "freeze" }));
  document.addEventListener("resume", () => tab.tell({ kind: "resume" }));
}

/** Writes many items, in batches. */
export async function fill(items: number): Promise<void> {
  for (let i = 0; i < items; i++) {
    tree.put(`fill-${i}`, `An item of some length, the ${i}th of them`, false);
    if (i % 1_000 === 999) await tree.settle();
  }
  await tree.settle();
}

/** Writes from now on, and follows whoever is the owner. */
export function begin(prefix: string): void {
  isWriting = true;
  writing = writeOn(prefix);
}

async function writeOn(prefix: string): Promise<void> {
  let heardAt = performance.now();
  let hasStolen = false;
  while (isWriting) {
    await pause(EVERY_MS);
    const now = performance.now();
    if (tab.term !== term) {
      hasStolen = false;
      await goOn();
      if (!isWriting) return;
      heardAt = performance.now();
    }
    tree.put(`${prefix}${++count}`, "written");
    tree.ship();
    tab.say({ kind: "ping", ping: count });
    if (tab.heard.length > 0) heardAt = now;
    look();
    if (now - heardAt < SILENCE_MS || hasStolen) continue;
    hasStolen = true;
    tab.tell({ kind: "steal" });
  }
}

async function goOn(): Promise<void> {
  term = tab.term;
  await tab.next("welcome");
  await tree.again();
}

/** Waits for another owner than it had, and goes on with that one. */
export async function follow(): Promise<void> {
  // What was said while it was frozen, a browser may have dropped: it asks, as tabs do.
  while (tab.term === term) {
    tab.sayToAll(tab.hello);
    await pause(SILENCE_MS);
  }
  await goOn();
}

/** Once in a while: goes on with another owner, if there is one, and looks at what it said. */
async function lookLater(): Promise<void> {
  await pause(EVERY_MS);
  if (tab.term !== term) await goOn();
  look();
}

/** Looks at what its owner said. */
function look(): void {
  for (const message of tab.heard.splice(0)) {
    if (message.kind === "records") tree.take(message);
    if (message.kind === "declined") throw new Error(message.message);
    if (message.kind !== "acknowledged") {
      if (message.kind === "welcome") tab.heard.push(message);
      continue;
    }
    const upTo = tree.acknowledged(message.seq);
    const now = { turn, ms: performance.now() };
    while (acknowledged.length < upTo) acknowledged.push(now);
  }
}

/** Writes no more; resolves when everything was acknowledged. */
export async function end(): Promise<void> {
  isWriting = false;
  await writing;
  while (acknowledged.length < count) {
    tree.ship();
    await lookLater();
  }
}

/** Looks at what came, until it holds so many commits; whoever calls gives up some time. */
export async function catchUp(commits: number): Promise<void> {
  while (tree.replica.graph.commits < commits) await lookLater();
}

/** How many writes were acknowledged, and the longest time without one. */
export function report(): {
  written: number;
  gapTurns: number;
  gapMs: number;
} {
  let [gapTurns, gapMs] = [0, 0];
  for (let i = 1; i < acknowledged.length; i++) {
    const [before, after] = [acknowledged[i - 1]!, acknowledged[i]!];
    gapTurns = Math.max(gapTurns, after.turn - before.turn);
    gapMs = Math.max(gapMs, after.ms - before.ms);
  }
  return { written: acknowledged.length, gapTurns, gapMs };
}

/** Titles by id of what it holds, for the ids that begin so, and how many commits there are. */
export function found(prefix: string): { items: number; commits: number } {
  return { items: tree.count(prefix), commits: tree.replica.graph.commits };
}
