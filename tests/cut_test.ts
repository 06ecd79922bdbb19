/**
 * The log of a whole database cut at its bytes: opened five times, with writes
 * in between, nothing before the cut is lost and no transaction is half there.
 */

import { deepEqual, equal, ok } from "node:assert/strict";
import {
  type Database,
  defineSchema,
  field,
  memoryStorage,
  type Mode,
  openDatabase,
  type Repository,
  type Storage,
} from "../mod.ts";
import { type Files, filesOf, restored, withFile } from "./kit/mod.ts";
import { steadyWorld } from "./kit/small_database.ts";
import { isTried, sized } from "./kit/tier.ts";

const Page = defineSchema("page", { text: field.string() });
const Total = defineSchema("total", { pages: field.number() });

const TRANSACTIONS = 24;
const PAGES_EACH = 3;
const REPOSITORY = "book";

function open(storage: Storage, mode: Mode): Promise<Database> {
  const world = steadyWorld(9);
  return openDatabase({ storage, mode, schemas: [Page, Total], world });
}

/** One transaction over two collections: three pages, and how many there are. */
function addPages(repo: Repository, number: number, textBytes: number): void {
  repo.transact((tx) => {
    const pages = tx.collection(Page);
    for (let i = 0; i < PAGES_EACH; i++) {
      pages.create({ id: `${number}-${i}`, text: "x".repeat(textBytes) });
    }
    tx.collection(Total).upsert({
      id: "all",
      pages: (number + 1) * PAGES_EACH,
    });
  });
}

/** A log in use, and where each transaction ends in it. */
interface Sample {
  readonly files: Files;
  readonly log: string;
  readonly bytes: Uint8Array;
  readonly ends: readonly number[];
}

async function sample(mode: Mode): Promise<Sample> {
  const storage = memoryStorage();
  const repo = await (await open(storage, mode)).repository(REPOSITORY);
  const ends: number[] = [];
  for (let number = 0; number < TRANSACTIONS; number++) {
    addPages(repo, number, 400 + number * 40);
    // Some share a batch with the next one.
    if (number % 4 === 0) continue;
    await repo.durable();
    while (ends.length <= number) ends.push(repo.status().logBytes);
  }
  // The place is told once, so that every cut image opens with these keys.
  const files = filesOf(restored(filesOf(storage)));
  const [log, bytes] = files.find(([name]) => name.includes("/log-"))!;
  return { files, log, bytes: bytes.slice(0, ends.at(-1)), ends };
}

/** All of the first `number` transactions is there, and nothing of the next. */
function check(repo: Repository, number: number, more: string[], what: string) {
  const pages = repo.collection(Page);
  const wanted = [...more];
  for (let n = 0; n < number; n++) {
    for (let i = 0; i < PAGES_EACH; i++) wanted.push(`${n}-${i}`);
  }
  deepEqual(pages.keys().sort(), wanted.sort(), what);
  const total = repo.collection(Total).get("all")?.pages;
  equal(total, number === 0 ? undefined : number * PAGES_EACH, what);
}

/** Opens five times, writes each time, and closes every other time only. */
async function liveOn(
  files: Files,
  mode: Mode,
  number: number,
  what: string,
): Promise<void> {
  const more: string[] = [];
  let storage = restored(files);
  for (let round = 0; round < 5; round++) {
    const db = await open(storage, mode);
    const repo = await db.repository(REPOSITORY);
    check(repo, number, more, `${what}, round ${round}`);
    if (round > 0) equal(repo.status().recovery.droppedBytes, 0, what);
    more.push(`round-${round}`);
    repo.collection(Page).create({ id: more.at(-1)!, text: "on" });
    await repo.durable();
    if (round % 2 === 1) await db.close();
    else storage = restored(filesOf(storage)); // The process dies here.
  }
}

const EDGE = sized(1, 24);
const STRIDE = sized(4_093, 61);
/** Of the first bytes every so manieth. */
const FIRST = sized(61, 1);

/** Every byte of the first records and around the end of each batch that is tried, and one of `STRIDE` between. */
function cutsOf({ bytes, ends }: Sample): number[] {
  const cuts = new Set<number>();
  for (let at = 0; at < ends[0]! && at < 400; at += FIRST) cuts.add(at);
  for (const [i, end] of [...new Set(ends)].entries()) {
    if (!isTried(i, 5)) continue;
    for (let at = end - EDGE; at <= end + EDGE; at++) cuts.add(at);
  }
  for (let at = 0; at < bytes.length; at += STRIDE) cuts.add(at);
  return [...cuts].filter((cut) => cut <= bytes.length);
}

for (const mode of ["default", "trusted", "fast"] as const) {
  Deno.test(`a ${mode} database keeps every transaction before a cut of its 64 KB log and no half one (${2 * EDGE + 1} bytes around the ends of batches, one of ${STRIDE} between)`, async () => {
    const made = await sample(mode);
    const { files, log, bytes, ends } = made;
    ok(bytes.length > 60_000 && bytes.length < 70_000);
    ok(new Set(ends).size >= 18, "several batches");
    for (const cut of cutsOf(made)) {
      const number = ends.filter((end) => end <= cut).length;
      const image = withFile(files, log, bytes.subarray(0, cut));
      await liveOn(image, mode, number, `cut at ${cut}`);
    }
  });
}
