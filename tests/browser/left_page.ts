/// <reference lib="dom" />

/**
 * A page that goes away in the midst of something, for `left_test.ts`: its
 * exports are called.
 *
 * @module
 */

import {
  type Database,
  defineSchema,
  openDatabase,
  type Repository,
} from "@sheaf/sheaf/browser";
import { bindTextarea, field } from "@sheaf/sheaf/text";

const Card = defineSchema("card", {
  title: field.string(),
  note: field.text(),
});

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

/** Writes a card; says no more about it. */
export function write(title: string): void {
  repository.collection(Card).create({ title }).durable.catch(() => {});
}

/** Writes a card; resolves when it is durable. */
export async function keep(title: string): Promise<void> {
  await repository.collection(Card).create({ title }).durable;
}

/** Shows a card's note in a textarea, and writes a card with each of the page's last events. */
export function bind(title: string): void {
  const cards = repository.collection(Card);
  const { id } = cards.where({ title }).run()[0]!;
  const element = document.body.appendChild(document.createElement("textarea"));
  bindTextarea(element, { collection: cards, id, field: "note" });
  addEventListener("pagehide", () => cards.create({ title: "pagehide" }));
  document.addEventListener(
    "visibilitychange",
    () => cards.create({ title: "visibilitychange" }),
  );
}

/** What a card's note says. */
export function note(title: string): string | undefined {
  const cards = repository.collection(Card);
  return cards.where({ title }).run()[0]?.note;
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
