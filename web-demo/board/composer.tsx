/**
 * The place at a column's foot where a new card is written.
 *
 * @module
 */

import type { JSX } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import { Icon } from "../app/icons.tsx";
import { addCard } from "../data/actions.ts";
import type { ColumnItem } from "../data/schema.ts";
import { useTeam } from "../data/team_context.ts";
import { announce, attempt } from "../state/say.ts";
import { Store, useStore } from "../state/store.ts";
import type { BoardHands } from "./hands.ts";

/** In which column a new card is being written. */
export const composing: Store<{ readonly column: string | undefined }> =
  new Store<{ readonly column: string | undefined }>({ column: undefined });

/** A button, or the field that it opens. */
export function Composer(
  { column, hands }: { column: ColumnItem; hands: BoardHands },
): JSX.Element {
  const isOpen = useStore(composing, ({ column: at }) => at === column.id);
  if (isOpen) return <OpenComposer column={column} hands={hands} />;
  return (
    <button
      type="button"
      class="composer-open"
      onClick={() => hands.compose(column.id)}
    >
      <Icon name="plus" size={18} /> Add a card
    </button>
  );
}

function OpenComposer(
  { column, hands }: { column: ColumnItem; hands: BoardHands },
): JSX.Element {
  const team = useTeam();
  const field = useRef<HTMLTextAreaElement>(null);
  // At once: the first key may follow in the same moment.
  useLayoutEffect(() => field.current?.focus(), []);
  const close = () => {
    hands.compose(undefined);
    requestAnimationFrame(() =>
      requestAnimationFrame(() => focusOpener(column.id))
    );
  };
  const add = () => {
    const title = field.current?.value.trim().replace(/\s+/g, " ") ?? "";
    if (title === "") return close();
    const id = attempt(() => addCard(team, column, title));
    if (id === undefined) return;
    field.current!.value = "";
    announce(`Added ${title} to ${column.name}`);
    requestAnimationFrame(() => showEnd(column.id));
  };
  const onKeyDown = (event: KeyboardEvent) => {
    // Its keys are an input method's while a word is being composed.
    if (event.isComposing) return;
    if (event.key === "Escape") close();
    if (event.key !== "Enter" || event.shiftKey) return;
    event.preventDefault();
    add();
  };
  return (
    <form
      class="composer"
      onSubmit={(event) => {
        event.preventDefault();
        add();
      }}
    >
      <textarea
        ref={field}
        rows={2}
        dir="auto"
        maxLength={200}
        aria-label={`Title of the new card in ${column.name}`}
        placeholder="What is to be done?"
        onKeyDown={onKeyDown}
      />
      <div class="composer-foot">
        <button type="submit" class="button button-main">Add card</button>
        <button type="button" class="button button-plain" onClick={close}>
          Done
        </button>
      </div>
    </form>
  );
}

function showEnd(column: string): void {
  const lane = document.querySelector(`[data-lane="${CSS.escape(column)}"]`);
  const list = lane?.querySelector(".lane-cards");
  list?.scrollTo({ top: list.scrollHeight, behavior: "smooth" });
}

/** Whoever closes it stays in its column, unless they are elsewhere by now. */
function focusOpener(column: string): void {
  if (document.activeElement !== document.body) return;
  document.querySelector<HTMLElement>(
    `[data-lane="${CSS.escape(column)}"] .composer-open`,
  )?.focus();
}
