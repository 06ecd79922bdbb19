/**
 * Says which of one's own edits lost to somebody who had not seen them, and
 * offers to put them back.
 *
 * @module
 */

import type { OverwrittenEdit } from "@sheaf/sheaf/browser";
import { attempt, tell } from "../state/say.ts";
import { dayOf, dueWords } from "./days.ts";
import type { Team } from "./open.ts";
import type { CardItem } from "./schema.ts";

/** Tells of cards whose day or column somebody else set, or that are gone. */
export function tellOfLost(team: Team): void {
  team.cards.onOverwritten((edits) => {
    for (const edit of edits) tellOne(team, edit);
  });
}

function tellOne(team: Team, edit: OverwrittenEdit<CardItem>): void {
  const words = wordsOf(team, edit);
  if (words === undefined) return;
  tell(words, {
    tone: "warning",
    staysMs: Infinity,
    action: { label: "Restore mine", run: () => restore(team, edit) },
  });
}

/** What was lost; nothing where nobody misses it: a place in a column, what is gone by now. */
function wordsOf(
  team: Team,
  edit: OverwrittenEdit<CardItem>,
): string | undefined {
  const person = edit.by.user && team.people.get(edit.by.user);
  const name = person ? person.name.split(" ")[0] : "Somebody";
  if (edit.kind === "deleted") {
    const { title } = edit.before;
    return `${name} deleted “${title}” while you changed it.`;
  }
  const card = team.cards.get(edit.id);
  if (card === undefined) return undefined;
  const { field, before } = edit;
  if (field === "due") {
    const day = typeof before === "string"
      ? `due ${dueWords(before, dayOf(Date.now()))}`
      : "due on no day";
    return `${name} set another day for “${card.title}”, which you had made ${day}.`;
  }
  const column = field === "column" && typeof before === "string" &&
    team.columns.get(before);
  return column
    ? `${name} moved “${card.title}”, which you had put into ${column.name}.`
    : undefined;
}

function restore(team: Team, edit: OverwrittenEdit<CardItem>): void {
  attempt(() => {
    if (edit.kind === "deleted") {
      // Rules let nobody make a card in another's name.
      team.cards.create({ ...edit.before, by: team.me.id });
    } else team.cards.update(edit.id, { [edit.field]: edit.before });
  });
}
