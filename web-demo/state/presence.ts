/**
 * What this page shows the others: where its user is, and what they do.
 *
 * @module
 */

import { useEffect } from "preact/hooks";
import { dragging } from "../board/drag.ts";
import { useTeam } from "../data/team_context.ts";
import { Store, useStore } from "./store.ts";
import { ui } from "./ui.ts";

/** Is the user of this page writing into a card's note? */
export const typing: Store<{ readonly isTyping: boolean }> = new Store<
  { readonly isTyping: boolean }
>({ isTyping: false });

/** Shows the others where this page's user is. */
export function usePresenceOfMine(board: string | undefined): void {
  const team = useTeam();
  const open = useStore(ui, (value) => value.card);
  const dragged = useStore(dragging, ({ card }) => card?.id);
  const isTyping = useStore(typing, (value) => value.isTyping);
  useEffect(() => {
    const card = dragged ?? open ?? null;
    const doing = dragged !== undefined
      ? "dragging"
      : isTyping
      ? "typing"
      : "looking";
    team.cursors.show({ board: board ?? null, card, doing });
  }, [team, board, open, dragged, isTyping]);
}
