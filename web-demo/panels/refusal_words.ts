/**
 * What a refused write was, in words.
 *
 * @module
 */

import type { RefusedWrite } from "@sheaf/sheaf/browser";
import { describeOperation } from "../card/history_words.ts";
import type { Team } from "../data/open.ts";

/** What it was about, and what it did. */
export interface WriteWords {
  readonly title: string;
  readonly lines: readonly string[];
}

/** A refused write in words. */
export function describeWrite(team: Team, refused: RefusedWrite): WriteWords {
  const [first] = refused.operations;
  const lines = refused.operations.flatMap((operation) =>
    describeOperation(team, operation, team.me.id)
  );
  if (first?.collection !== "card") return { title: "A change", lines };
  const card = team.cards.get(first.id);
  const title = card === undefined ? "A new card" : `“${card.title}”`;
  return { title, lines };
}
