/**
 * How a card came to be: every commit that touched it, who made it, and what it
 * changed. A change of a field can be taken back from here, by anybody who may.
 *
 * @module
 */

import type { CommitSummary } from "@sheaf/sheaf/browser";
import type { JSX } from "preact";
import { Avatar, nobody } from "../app/avatar.tsx";
import { Icon } from "../app/icons.tsx";
import { agoWords, momentWords } from "../data/days.ts";
import { useDirectory } from "../data/directory.tsx";
import { Card, type CardItem } from "../data/schema.ts";
import { useTeam } from "../data/team_context.ts";
import { attempt } from "../state/say.ts";
import { hideCard, ui } from "../state/ui.ts";
import { describeOperation } from "./history_words.ts";

/** The commits of a card, newest first. */
export function CardHistory(
  { card, commits }: { card: CardItem; commits: readonly CommitSummary[] },
): JSX.Element {
  return (
    <ol class="history">
      {commits.toReversed().map((commit) => (
        <Entry key={commit.commit} card={card} commit={commit} />
      ))}
    </ol>
  );
}

function Entry(
  { card, commit }: { card: CardItem; commit: CommitSummary },
): JSX.Element {
  const team = useTeam();
  const { people } = useDirectory();
  const face = people.get(commit.user ?? "") ?? nobody;
  const at = commit.at.getTime();
  const lines = commit.operations.flatMap((operation) =>
    describeOperation(team, operation, commit.user)
  );
  return (
    <li class="entry">
      <Avatar face={face} size="s" />
      <div class="entry-words">
        <p>
          <b>{face.name.split(" ")[0]}</b> {lines.join(", ")}
        </p>
        <p class="entry-foot">
          <time class="faint" title={momentWords(at)}>{agoWords(at)}</time>
        </p>
      </div>
      <span class="entry-acts">
        <Restore card={card} commit={commit} />
        <button
          type="button"
          class="quiet-button"
          aria-label={`Show the board as it was ${momentWords(at)}`}
          title="The board as it was then"
          onClick={() => {
            hideCard();
            ui.set({ moment: at });
          }}
        >
          <Icon name="clock" size={18} />
        </button>
      </span>
    </li>
  );
}

/** Gives back title and note as they were after a commit, where they differ now. */
function Restore(
  { card, commit }: { card: CardItem; commit: CommitSummary },
): JSX.Element | null {
  const team = useTeam();
  const names = commit.operations.flatMap(({ fields }) =>
    fields.map(({ name }) => name)
  );
  if (!names.includes("note") && !names.includes("title")) return null;
  const restore = () =>
    attempt(() => {
      const then = team.repo.at(commit.commit).collection(Card).get(card.id);
      if (then === undefined) return;
      const { title, note } = then;
      team.cards.update(card.id, { title, note });
    });
  return (
    <button
      type="button"
      class="quiet-button"
      aria-label="Title and note as they were then"
      title="Title and note as they were then"
      onClick={restore}
    >
      <Icon name="back" size={18} />
    </button>
  );
}
