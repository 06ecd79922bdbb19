/**
 * A page that goes away in the midst of something, for `left_test.ts`: its
 * exports are called.
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

const Card = defineSchema("card", { title: field.string() });

let database: Database;
let repository: Repository;

/** Opens it; says its role. */
export async function open(): Promise<string> {
  database = await openDatabase({
    name: "left",
    worker: "/worker.js",
    schemas: [Card],
  });
  repository = await database.repository("board");
  await repository.undo.ready;
  return database.tabs.status.role;
}

/** Writes a card; says whether it was durable after 20 ms. */
export async function write(title: string): Promise<boolean> {
  let isDurable = false;
  repository.collection(Card).create({ title }).durable.then(
    () => isDurable = true,
    () => {},
  );
  await new Promise((resolve) => setTimeout(resolve, 20));
  return isDurable;
}

/** Bytes that this page would take along. */
export function unsyncedBytes(): number {
  return database.storage.status().unsyncedBytes;
}

/** What it shows, and whether that can be undone. */
export function report(): { titles: string[]; canUndo: boolean } {
  const titles = repository.collection(Card).all().map(({ title }) => title);
  return { titles: titles.sort(), canUndo: repository.undo.canUndo };
}
