/**
 * Short notes at the page's foot, and what screen readers are told.
 *
 * @module
 */

import type { JSX } from "preact";
import { telling, untell } from "../state/say.ts";
import { useStore } from "../state/store.ts";
import { Icon } from "./icons.tsx";

/** Short notes, and the voice of the page. */
export function Notes(): JSX.Element {
  const { aloud, notes } = useStore(telling, (value) => value);
  return (
    <>
      <p class="aside" role="status" aria-live="polite">{aloud}</p>
      <div class="notes" role="region" aria-label="Notes">
        {notes.map(({ id, text, tone, action }) => (
          <div key={id} class={`note note-${tone}`}>
            {tone === "warning" && <Icon name="warning" size={18} />}
            <span>{text}</span>
            {action && (
              <button
                type="button"
                class="note-action"
                onClick={() => {
                  untell(id);
                  action.run();
                }}
              >
                {action.label}
              </button>
            )}
            <button
              type="button"
              class="note-close"
              aria-label="Close this note"
              onClick={() =>
                untell(id)}
            >
              <Icon name="close" size={16} />
            </button>
          </div>
        ))}
      </div>
    </>
  );
}
