/**
 * What people do on a board, each as one commit.
 *
 * @module
 */

import type { Decision } from "@sheaf/sheaf/browser";
import type { Team } from "./open.ts";
import { rankBetween } from "./rank.ts";
import type { CardItem, ColumnItem } from "./schema.ts";

/** The cards of a column in their order. */
export function cardsOf(team: Team, column: string): CardItem[] {
  return team.cards.where({ column }).orderBy("position").run();
}

/** The columns of a board in their order. */
export function columnsOf(team: Team, board: string): ColumnItem[] {
  return team.columns.where({ board }).orderBy("position").run();
}

/** A place in a column: before a card, or at the end. */
export interface Place {
  readonly column: string;
  readonly before: string | undefined;
}

/** The position of a place, for a card that is not counted itself. */
export function positionAt(team: Team, place: Place, moving?: string): string {
  const others = cardsOf(team, place.column).filter(({ id }) => id !== moving);
  const found = others.findIndex(({ id }) => id === place.before);
  const at = found === -1 ? others.length : found;
  return rankBetween(others[at - 1]?.position, others[at]?.position);
}

/** Moves a card; false when it stands there already. */
export function moveCard(team: Team, id: string, place: Place): boolean {
  const card = team.cards.get(id);
  if (card === undefined) return false;
  const all = cardsOf(team, place.column);
  const index = all.findIndex((each) => each.id === id);
  const isThere = place.before === id ||
    (index !== -1 && all[index + 1]?.id === place.before);
  if (isThere) return false;
  const position = positionAt(team, place, id);
  team.cards.update(
    id,
    card.column === place.column
      ? { position }
      : { column: place.column, position },
  );
  return true;
}

/** May this user change a card? Asked with a change, since none is always allowed. */
export function mayChange(team: Team, { id, due }: CardItem): Decision {
  const other = due === "2000-01-01" ? "2000-01-02" : "2000-01-01";
  return team.repo.can("update", team.cards.schema, id, { due: other });
}

/** Gives cards a label or a person, or takes it from all of them: one commit, one undo. */
export function toggleOnCards(
  team: Team,
  cards: readonly string[],
  field: "assignees" | "labels",
  id: string,
  isOn: boolean,
): void {
  const change = isOn ? { add: [id] } : { remove: [id] };
  team.repo.transact((tx) => {
    const all = tx.collection(team.cards.schema);
    for (const card of cards) all.update(card, { [field]: change });
  });
}

/** Adds a card at the end of a column. */
export function addCard(team: Team, column: ColumnItem, title: string): string {
  const position = positionAt(team, { column: column.id, before: undefined });
  const write = team.cards.create({
    board: column.board,
    column: column.id,
    position,
    title,
    by: team.me.id,
    at: Date.now(),
  });
  return write.id;
}

/** Deletes a card with what was said about it. */
export function deleteCard(team: Team, id: string): void {
  team.repo.transact((tx) => {
    const comments = tx.collection(team.comments.schema);
    const mine = team.comments.where({ card: id, by: team.me.id }).run();
    for (const comment of mine) comments.delete(comment.id);
    tx.collection(team.cards.schema).delete(id);
  });
}

/** Says something about a card. */
export function addComment(team: Team, card: string, text: string): void {
  team.comments.create({ card, by: team.me.id, at: Date.now(), text });
}
