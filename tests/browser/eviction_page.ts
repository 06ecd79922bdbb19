/**
 * A page that writes while the browser removes its files.
 *
 * @module
 */

import {
  type Database,
  defineSchema,
  field,
  openDatabase,
  type Repository,
} from "../../src/browser/mod.ts";
import { pause } from "../kit/patience.ts";

const Card = defineSchema("card", { title: field.string() });

/** The pace of its writes. */
const EVERY_MS = 5;

let db: Database;
let repository: Repository;
let count = 0;
let isWriting = false;
let writing: Promise<void> = Promise.resolve();

/** Opens the database. */
export async function open(name: string): Promise<void> {
  db = await openDatabase({ name, worker: "/worker.js", schemas: [Card] });
  repository = await db.repository("board");
}

/** Writes one card after the other, each when the last one is durable. */
export function begin(): void {
  isWriting = true;
  writing = writeOn();
}

async function writeOn(): Promise<void> {
  while (isWriting) {
    await repository.collection(Card).create({ title: `card ${++count}` });
    await pause(EVERY_MS);
  }
}

/** Does the status of the storage tell of the eviction? */
export function hasNoticed(): boolean {
  return db.storage.status().incidents.some(({ code }) =>
    code === "storage-evicted"
  );
}

/** How many cards this page wrote that are durable. */
export function written(): number {
  return Math.max(0, count - 1);
}

/** Writes no more; resolves when all is durable, with how much was written. */
export async function end(): Promise<number> {
  isWriting = false;
  await writing;
  await repository.durable();
  return count;
}

/** How many cards and commits there are, and who the root is. */
export function found(): { cards: number; commits: number; root: string } {
  return {
    cards: repository.collection(Card).count(),
    commits: repository.status().commits,
    root: String(db.rootKey),
  };
}
