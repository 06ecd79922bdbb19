/**
 * A card as it lies on the board.
 *
 * @module
 */

import type { JSX } from "preact";
import { memo } from "preact/compat";
import { Avatar, nobody } from "../app/avatar.tsx";
import { Icon } from "../app/icons.tsx";
import { dueWords, pressure } from "../data/days.ts";
import { type Guest, useDirectory } from "../data/directory.tsx";
import { wordsOf } from "../data/matching.ts";
import type { CardItem, LabelItem } from "../data/schema.ts";

/** What a tile shows. */
export interface TileProps {
  readonly card: CardItem;
  readonly today: string;
  readonly isDone: boolean;
  readonly comments: number;
  /** What is searched for, to be marked. */
  readonly search: string;
}

/** The inside of a card's tile. */
export const CardTile = memo(function CardTile(
  { card, today, isDone, comments, search }: TileProps,
): JSX.Element {
  const { labels, people } = useDirectory();
  const known = [...card.labels].map((id) => labels.get(id))
    .filter((label) => label !== undefined);
  const faces = [...card.assignees].map((id) =>
    [id, people.get(id) ?? nobody] as const
  );
  const said = comments === 1 ? "comment" : "comments";
  return (
    <>
      {known.length > 0 && <LabelRow labels={known} />}
      <span class="tile-title">
        <Marked text={card.title || "Untitled"} search={search} />
      </span>
      <span class="tile-meta">
        {card.due !== undefined && (
          <Due due={card.due} today={today} isDone={isDone} />
        )}
        {card.note !== "" && (
          <span class="tile-sign" title="Has a note">
            <Icon name="note" size={15} />
            <span class="aside">has a note</span>
          </span>
        )}
        {comments > 0 && (
          <span class="tile-sign" title={`${comments} ${said}`}>
            <Icon name="comment" size={15} />
            {comments}
            <span class="aside">{said}</span>
          </span>
        )}
        <span class="tile-people">
          {faces.map(([id, face]) => <Avatar key={id} size="s" face={face} />)}
          {faces.length > 0 && (
            <span class="aside">
              for {faces.map(([, { name }]) => name).join(", ")}
            </span>
          )}
        </span>
      </span>
    </>
  );
});

function LabelRow(
  { labels }: { labels: readonly LabelItem[] },
): JSX.Element {
  return (
    <span class="tile-labels">
      {labels.map(({ id, name, hue }) => (
        <span key={id} class={`label hue-${hue}`}>{name}</span>
      ))}
    </span>
  );
}

/** When a card is due, coloured by how pressing that is. */
export function Due(
  { due, today, isDone }: { due: string; today: string; isDone: boolean },
): JSX.Element {
  const how = isDone ? "later" : pressure(due, today);
  return (
    <span class={`due due-${how}`}>
      <Icon name={isDone ? "check" : "calendar"} size={15} />
      <span class="aside">{how === "late" ? "overdue since" : "due"}</span>
      {dueWords(due, today)}
    </span>
  );
}

/** A text with the words that are searched for marked. */
function Marked(
  { text, search }: { text: string; search: string },
): JSX.Element {
  const words = wordsOf(search);
  if (words.length === 0) return <>{text}</>;
  const pattern = words.map((word) =>
    word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")
  ).join("|");
  const parts = text.split(new RegExp(`(${pattern})`, "i"));
  return (
    <>
      {parts.map((part, i) => i % 2 === 1 ? <mark key={i}>{part}</mark> : part)}
    </>
  );
}

/** Who is looking at a card, or moving it, just now. */
export function TileGuests({ guests }: { guests: readonly Guest[] }) {
  const first = guests[0];
  if (first === undefined) return null;
  const doing = guests.length > 1
    ? "are here"
    : first.isDragging
    ? "is moving this"
    : first.isTyping
    ? "is writing"
    : "is here";
  const name = first.person.name.split(" ")[0];
  const others = guests.length > 1 ? ` and ${guests.length - 1} more` : "";
  return (
    <span class={`tile-guest hue-${first.person.hue}`}>
      {name}
      {others} {doing}
    </span>
  );
}
