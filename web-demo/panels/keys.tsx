/**
 * Keys: what they do, and the list of them.
 *
 * @module
 */

import type { JSX } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { Icon } from "../app/icons.tsx";
import { useTeam } from "../data/team_context.ts";
import { redo, undo } from "../data/undo.ts";
import {
  hasInspector,
  isInspectorKey,
  toggleInspector,
} from "../state/inspector.ts";
import { togglePanel, ui } from "../state/ui.ts";
import { openPalette } from "./palette.tsx";
import { backToNow, toggleTime } from "./past_board.tsx";

const keys: readonly (readonly [string, string])[] = [
  ["Ctrl K", "Find anything, do anything"],
  ["/", "Search"],
  ["F", "Filters"],
  ["T", "Back in time"],
  ["N", "New card in the column of the card in focus"],
  ["← ↑ ↓ →", "From card to card"],
  ["Enter", "Open the card"],
  ["Space", "Pick the card up, and drop it"],
  ["A", "Give the card to somebody"],
  ["L", "Label the card"],
  ["X", "Pick several cards: A and L act on all of them"],
  ["Ctrl Z", "Undo what you did"],
  ["Ctrl Shift Z", "Redo it"],
  ["Esc", "Close, put back, back to now"],
  ["?", "This list"],
  ...hasInspector ? [["Alt Shift S", "Sheaf's inspector"] as const] : [],
];

/** What letters go into; a slider or a switch takes none. */
const FIELDS =
  "input:not([type=range], [type=checkbox], [type=radio]), textarea, select, [contenteditable]";

/** Listens for keys that work everywhere but in fields. */
export function useKeys(): void {
  const team = useTeam();
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      const { target } = event;
      if (isInspectorKey(event)) {
        event.preventDefault();
        return void toggleInspector(team.db);
      }
      if ((event.ctrlKey || event.metaKey) && event.key === "k") {
        event.preventDefault();
        return openPalette({ what: "all" });
      }
      const isField = target instanceof HTMLElement &&
        target.closest(FIELDS) !== null;
      if (isField || event.defaultPrevented) return;
      const isModified = event.ctrlKey || event.metaKey;
      if (isModified && event.key.toLowerCase() === "z") {
        event.preventDefault();
        if (event.shiftKey) redo(team);
        else undo(team);
      } else if (!isModified && !event.altKey) press(event);
    };
    addEventListener("keydown", onKey);
    return () => removeEventListener("keydown", onKey);
  }, [team]);
}

function press(event: KeyboardEvent): void {
  if (document.querySelector("dialog[open]") !== null) return;
  const acts: Readonly<Record<string, () => void>> = {
    "/": () => dispatchEvent(new Event("stook-search")),
    "?": () => togglePanel("keys"),
    f: () => togglePanel("filter"),
    t: toggleTime,
    ...(ui.get().picked.size > 0 &&
      { Escape: () => ui.set({ picked: new Set() }) }),
    ...(ui.get().moment !== undefined && { Escape: backToNow }),
  };
  const act = acts[event.key];
  if (act === undefined) return;
  event.preventDefault();
  act();
}

/** The list of keys. */
export function KeysPanel(): JSX.Element {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => dialog.current?.showModal(), []);
  const close = () => ui.set({ panel: undefined });
  return (
    <dialog
      class="keys"
      ref={dialog}
      aria-labelledby="keys-title"
      onClose={close}
      onClick={(event) => event.target === dialog.current && close()}
    >
      <div class="keys-inside">
        <h2 id="keys-title">Keys</h2>
        <button
          type="button"
          class="quiet-button"
          aria-label="Close"
          onClick={close}
        >
          <Icon name="close" />
        </button>
        <dl>
          {keys.map(([key, words]) => (
            <div key={key}>
              <dt>
                <kbd>{key}</kbd>
              </dt>
              <dd>{words}</dd>
            </div>
          ))}
        </dl>
      </div>
    </dialog>
  );
}
