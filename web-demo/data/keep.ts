/**
 * Keeping what was written: the page does not close over what is not on the
 * disk yet, asks the browser not to clear its files away, and says when
 * something is wrong with them.
 *
 * @module
 */

import type { Database, Repository } from "@sheaf/sheaf/browser";
import { announce, type Note, tell } from "../state/say.ts";

const ASKED = "stook.asked-to-keep";
const NEARLY_FULL = "storage-nearly-full";

/** Warns before the page closes while something is seen here that is not durable. */
export function guardUnsaved(db: Database): void {
  addEventListener("beforeunload", (event) => {
    if (db.storage.status().unsyncedBytes > 0) event.preventDefault();
  });
}

/**
 * Asks the browser once to keep the files: after the first thing that its user
 * wrote, at their next press or key, since some browsers ask them in turn.
 */
export function keepForGood(db: Database, repo: Repository): void {
  if (localStorage.getItem(ASKED) !== null) return;
  const ask = () => {
    removeEventListener("pointerup", ask);
    removeEventListener("keyup", ask);
    void askToKeep(db);
  };
  const end = repo.undo.subscribe(() => {
    if (!repo.undo.canUndo) return; // Nothing is this user's own yet.
    end();
    addEventListener("pointerup", ask);
    addEventListener("keyup", ask);
  });
}

/** Asks now; does the browser keep them? */
export async function askToKeep(db: Database): Promise<boolean> {
  localStorage.setItem(ASKED, "1");
  if (db.storage.status().persisted) return true;
  // Without an answer they are kept while there is room; the badge's panel says so.
  return await db.storage.persist().catch(() => false);
}

/** What each incident means to somebody who only wants to work. */
const words: Readonly<Record<string, string>> = {
  [NEARLY_FULL]:
    "This device is nearly full. What you write is kept so far; please make room.",
  "storage-full":
    "This device is full. What you see is not saved here until there is room.",
  "storage-evicted":
    "The browser cleared this device's copy. It is fetched again, and what was not sent is written again.",
  "key-lost":
    "The browser lost this device's key. You go on with a new one; nothing else is lost.",
};

/** Says what happened to the files, each once, and when pages must be reloaded. */
export function tellOfStorage(db: Database): void {
  const told = new Set<string>();
  const say = (key: string, text: string, action?: Note["action"]) => {
    if (told.has(key)) return;
    told.add(key);
    const tone = "warning";
    tell(text, { tone, staysMs: Infinity, ...(action && { action }) });
    announce(text);
  };
  const look = () => {
    const { incidents, isNearlyFull } = db.storage.getSnapshot();
    for (const { code, at, message } of incidents) {
      if (code !== NEARLY_FULL) say(`${code} ${at}`, words[code] ?? message);
    }
    if (isNearlyFull) say(NEARLY_FULL, words[NEARLY_FULL]!);
    else told.delete(NEARLY_FULL); // It may get so again.
    const { reload } = db.tabs.status;
    const run = () => location.reload();
    if (reload !== undefined) say(reload, reload, { label: "Reload", run });
  };
  db.storage.subscribe(look);
  db.tabs.subscribe(look);
  look();
}
