/**
 * An app's page, for the proofs through the whole database: it opens databases
 * as apps do, writes under load, and says what it was told and what it finds.
 *
 * A run writes its items one by one, and counts them in the same transaction: so
 * it can be seen whether anything is missing, doubled, or there in part.
 *
 * @module
 */

import {
  type BrowserOptions,
  type Database,
  openDatabase,
  type Repository,
} from "../../src/browser/mod.ts";
import { pause } from "../kit/patience.ts";
import { Item } from "./proof_schema.ts";
import { platform } from "../../src/storage/indexeddb_types.ts";

/** What a page opens. */
export interface Opening {
  readonly name: string;
  readonly worker?: string;
  readonly mode?: "default" | "trusted" | "fast";
  readonly rootKey?: string;
  readonly storage?: "durable" | "memory";
}

/** A moment: in turns of the page's timer, and by the clock, which is for people alone. */
interface Moment {
  readonly turn: number;
  readonly ms: number;
}

/** One database of this page, and what it writes. */
interface Place {
  readonly name: string;
  readonly database: Database;
  readonly repository: Repository;
  /** When each write of its run was acknowledged. */
  readonly acknowledged: Moment[];
  readonly failures: string[];
  isWriting: boolean;
  written: number;
  writing: Promise<void>;
}

/** A test that must know at once what was acknowledged gives its pages this function. */
export type Teller = (name: string, run: string, durable: number) => void;

const places = new Map<string, Place>();
/** What a page waits for is counted in turns of a timer: a busy machine gives it fewer. */
const TURN_MS = 5;
/** So many writes of a run may wait to be acknowledged. */
const WAITING_MAX = 64;

function placeOf(name: string): Place {
  const place = places.get(name);
  if (place === undefined) throw new Error(`${name} is not open`);
  return place;
}

let turn = 0;
setInterval(() => turn++, TURN_MS);

/** So many turns its timer has had. */
export function turns(): number {
  return turn;
}

function now(): Moment {
  return { turn, ms: performance.now() };
}

/** Opens a database and its board, and says what it is. */
export async function open(opening: Opening) {
  const { worker = "/worker.js", ...rest } = opening;
  const began = performance.now();
  const options: BrowserOptions = {
    worker,
    schemas: [Item],
    onListenerError: (error) => console.error(String(error)),
    ...rest,
  };
  const database = await openDatabase(options);
  const repository = await database.repository("team/board");
  places.set(opening.name, {
    name: opening.name,
    database,
    repository,
    acknowledged: [],
    failures: [],
    isWriting: false,
    written: 0,
    writing: Promise.resolve(),
  });
  const { role } = database.tabs.status;
  const { backend, persisted } = database.storage.status();
  const tookMs = performance.now() - began;
  const sessionKey = String(database.sessionKey);
  const rootKey = String(database.rootKey);
  return { role, backend, persisted, sessionKey, rootKey, tookMs };
}

/** Opens what cannot be opened; gives the code, or how long nothing was said. */
export async function openCode(opening: Opening): Promise<string> {
  try {
    await open(opening);
    return "opened";
  } catch (error) {
    return codeOf(error);
  }
}

function codeOf(error: unknown): string {
  const { code, message } = error as { code?: string; message?: string };
  if (code === undefined) return `no code: ${message}`;
  return message === undefined || message.length < 10 ? "no message" : code;
}

/** How many items of a run there are. */
export function count(name: string, run: string): number {
  return placeOf(name).repository.collection(Item).where({ run }).count();
}

/** A fixed piece of work such as databases do, so many times at a stretch: keys, objects, order. */
export function reckon(turns = 1): number {
  let first = 0;
  for (let turn = 0; turn < turns; turn++) {
    const items = new Map<string, { n: number; text: string }>();
    for (let n = 0; n < 12_000; n++) {
      items.set(`item-${n}`, { n, text: `${(n * 7_919) % 12_007}` });
    }
    const sorted = [...items.values()].sort((a, b) => a.text < b.text ? -1 : 1);
    first = sorted[0]?.n ?? 0;
  }
  return first;
}

let shown = 0;

/** Shows a list of a run's newest items, as an app does, and how many there are. */
export function show(name: string, run: string): void {
  const items = placeOf(name).repository.collection(Item).where({ run });
  items.orderBy("n", "desc").limit(50).subscribe(({ rows }) =>
    shown = rows.length
  );
}

/** Rows of that list. */
export function rows(): number {
  return shown;
}

/** Begins a run: an item every `everyMs`, of so many characters, until {@linkcode end}. */
export function begin(
  name: string,
  run: string,
  { everyMs = 2, characters = 20 } = {},
): void {
  const place = placeOf(name);
  place.isWriting = true;
  place.writing = writeOn(place, run, everyMs, "x".repeat(characters));
}

async function writeOn(
  place: Place,
  run: string,
  everyMs: number,
  text: string,
): Promise<void> {
  const { acknowledged, failures } = place;
  // In Fast mode that says nothing, and would be a flood.
  const tell = place.repository.mode === "fast"
    ? undefined
    : Reflect.get(globalThis, "tellAcknowledged") as Teller | undefined;
  let ended = 0;
  while (place.isWriting) {
    const n = ++place.written;
    write(place, run, n, text).then(
      () => {
        acknowledged.push(now());
        tell?.(place.name, run, acknowledged.length);
      },
      (error) => failures.push(codeOf(error)),
    ).finally(() => ended++);
    await pause(everyMs);
    while (n - ended >= WAITING_MAX) await pause(everyMs);
  }
}

/** Ends the run; resolves when all of it is durable or refused. */
export async function end(name: string): Promise<void> {
  const place = placeOf(name);
  place.isWriting = false;
  await place.writing;
  await place.repository.durable().catch(() => {});
  await pause(0);
}

/** Writes the nth item of a run; resolves when it is durable. */
async function write(
  { repository }: Place,
  run: string,
  n: number,
  text: string,
): Promise<void> {
  await repository.transact((tx) => {
    const items = tx.collection(Item);
    items.create({ run, n, text });
    if (n === 1) items.create({ id: run, run, n: 0, text: "", count: 1 });
    else items.update(run, { count: { increment: 1 } });
  }).durable;
}

/** Makes durable what was written so far; says how much that is. */
export async function settle(name: string): Promise<number> {
  const { written, repository } = placeOf(name);
  await repository.durable();
  return written;
}

/** What this page's run was told so far; the longest gap is that after the first `since` writes. */
export function told(name: string, since = 1) {
  const { written, acknowledged, failures, database } = placeOf(name);
  let [gapTurns, gapMs] = [0, 0];
  for (let i = Math.max(1, since); i < acknowledged.length; i++) {
    const [before, after] = [acknowledged[i - 1]!, acknowledged[i]!];
    gapTurns = Math.max(gapTurns, after.turn - before.turn);
    gapMs = Math.max(gapMs, after.ms - before.ms);
  }
  const { role, count, reload } = database.tabs.status;
  const durable = acknowledged.length;
  return { written, durable, failures, gapTurns, gapMs, role, count, reload };
}

/** What is there: how many items each run has, and all that must not be. */
export function found(name: string) {
  const { repository } = placeOf(name);
  const runs: Record<string, number> = {};
  const counted: Record<string, number> = {};
  const seen = new Set<string>();
  const faults: string[] = [];
  for (const { run, n, count } of repository.collection(Item).all()) {
    if (n === 0) counted[run] = count;
    else runs[run] = (runs[run] ?? 0) + 1;
    if (seen.has(`${run} ${n}`)) faults.push(`${run} ${n} is there twice`);
    seen.add(`${run} ${n}`);
  }
  for (const [run, items] of Object.entries(runs)) {
    if (counted[run] !== items) {
      faults.push(`${run} has ${items} items, counted ${counted[run]}`);
    }
    for (let n = 1; n <= items; n++) {
      if (!seen.has(`${run} ${n}`)) faults.push(`${run} ${n} is missing`);
    }
  }
  return { runs, faults: faults.slice(0, 20) };
}

/** Checks every signature and hash in the files. */
export async function verify(name: string): Promise<boolean> {
  return (await placeOf(name).repository.verify()).ok;
}

export function storage(name: string) {
  const { database } = placeOf(name);
  const { incidents, isNearlyFull, usedBytes, backend } = database.storage
    .status();
  const codes = incidents.map(({ code }) => code);
  return { codes, isNearlyFull, usedBytes, backend };
}

/** Resolves when an incident of this code is told. */
export async function incident(name: string, code: string): Promise<void> {
  while (!storage(name).codes.includes(code)) await pause(TURN_MS);
}

/** Writes `items` items in one transaction; says what came of it. */
export async function bulk(
  name: string,
  run: string,
  items: number,
  characters: number,
): Promise<string> {
  const text = "x".repeat(characters);
  try {
    await placeOf(name).repository.transact((tx) => {
      const collection = tx.collection(Item);
      for (let n = 1; n <= items; n++) collection.create({ run, n, text });
      collection.create({ id: run, run, n: 0, text: "", count: items });
    }).durable;
    return "durable";
  } catch (error) {
    return codeOf(error);
  }
}

export function connect(name: string, url: string): void {
  placeOf(name).database.connect(url, { session: { anonymous: true } });
}

/** Ends the device's connection. */
export async function disconnect(name: string): Promise<void> {
  await placeOf(name).database.connection?.close();
}

/** Where this page is with the server. */
export function sync(name: string) {
  const { repository, database } = placeOf(name);
  const { state, unsent: { commits: unsent } } = repository.sync.status;
  return { state, unsent, connection: database.connection?.status.state };
}

/** What can be had of the keys that a database has in its vault: name, and whether a script can read them. */
export async function keys(name: string): Promise<string[]> {
  const found: string[] = [];
  for (const key of await storedKeys(`sheaf-keys:${name}`)) {
    let how = key.extractable ? "extractable" : "hidden";
    for (const format of ["pkcs8", "jwk", "raw"] as const) {
      try {
        await Reflect.apply(crypto.subtle.exportKey, crypto.subtle, [
          format,
          key,
        ]);
        how = `readable as ${format}`;
      } catch {
        // As it must be.
      }
    }
    found.push(`${key.algorithm.name} ${how}`);
  }
  return found;
}

function storedKeys(database: string): Promise<CryptoKey[]> {
  return new Promise((resolve, reject) => {
    const opening = platform().indexedDB.open(database, 1);
    opening.onerror = () => reject(new Error("there is no vault"));
    opening.onsuccess = () => {
      const { result } = opening;
      const all = result.transaction(["keys"], "readonly").objectStore("keys")
        .getAll();
      all.onsuccess = () => {
        result.close();
        resolve(all.result as CryptoKey[]);
      };
    };
  });
}

/** Closes the database; gives the code where that says that something is not durable. */
export async function close(name: string): Promise<string> {
  const { database } = placeOf(name);
  places.delete(name);
  try {
    await database.close();
    return "closed";
  } catch (error) {
    return codeOf(error);
  }
}
