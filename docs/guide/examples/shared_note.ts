/// <reference lib="dom" />

/**
 * One note that everybody writes in at once, offline too. The page has a textarea:
 *
 *     <textarea id="note"></textarea><output id="state"></output>
 *
 * Build it with any bundler (docs/guide/create.md has one ready), and serve it with
 * its repositories: `sheaf serve --data ./data --static ./dist --anonymous`.
 *
 * @module
 */

import {
  type Database,
  defineSchema,
  openDatabase,
  serverInfo,
} from "@sheaf/sheaf/browser";
import { bindTextarea, field, type TextElement } from "@sheaf/sheaf/text";

/** A note: its text merges by character. */
export const Note = defineSchema("note", { text: field.text() });

/** The note, bound to an element; the result lets go of it. */
export async function shareNote(
  db: Database,
  element: TextElement,
  say: (state: string) => void,
): Promise<() => void> {
  const repo = await db.repository("notes/shared");
  const notes = repo.collection(Note);
  // Two who begin it apart from each other begin the same item: their texts merge.
  if (!notes.has("note")) notes.create({ id: "note" });
  const bound = bindTextarea(element, {
    collection: notes,
    id: "note",
    field: "text",
    onError: (error) => say(String(error)),
  });
  const tell = () => {
    const { state, unsent } = repo.sync.status;
    say(
      state === "live" && unsent.commits === 0
        ? "Saved on the server"
        : `Saved here; ${unsent.commits} to send`,
    );
  };
  const stop = repo.sync.subscribe(tell);
  tell();
  return () => {
    stop();
    bound.close();
  };
}

/** What runs in a page: the server is where the page came from. */
async function main(): Promise<void> {
  const { rootKey } = await rememberedInfo();
  const db = await openDatabase({ name: "notes", rootKey, schemas: [Note] });
  db.connect(location.origin);
  const element = document.querySelector<HTMLTextAreaElement>("#note")!;
  const state = document.querySelector("#state")!;
  await shareNote(db, element, (words) => state.textContent = words);
}

/** The server's root key: asked once, and known offline from then on. */
async function rememberedInfo(): Promise<{ rootKey: string }> {
  const known = localStorage.getItem("root-key");
  if (known !== null) return { rootKey: known };
  const info = await serverInfo(location.origin);
  localStorage.setItem("root-key", info.rootKey);
  return info;
}

if (globalThis.document !== undefined) await main();
