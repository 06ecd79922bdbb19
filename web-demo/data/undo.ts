/**
 * Undo and redo of what this user did, also before a reload.
 *
 * @module
 */

import type { UndoResult, Write } from "@sheaf/sheaf/browser";
import type { Team } from "./open.ts";
import { announce, attempt, tell } from "../state/say.ts";

/** Takes back the last thing that this user did. */
export function undo({ repo }: Team): void {
  if (!repo.undo.canUndo) return tell("There is nothing to undo.");
  tellOf("Undone", attempt(() => repo.undo.undo()));
}

/** Does again what was undone. */
export function redo({ repo }: Team): void {
  if (!repo.undo.canRedo) return tell("There is nothing to redo.");
  tellOf("Done again", attempt(() => repo.undo.redo()));
}

/** What others changed meanwhile stays theirs, and is said. */
function tellOf(what: string, write: Write<UndoResult> | undefined): void {
  if (write === undefined) return;
  const left = write.result.leftAlone.length;
  if (left === 0) return announce(what);
  tell(`${what}, but for what somebody else changed since.`);
}
