/**
 * A card, opened: everything about it, who set what, and how it came to be.
 *
 * @module
 */

import { bindTextarea } from "@sheaf/sheaf/text";
import type { JSX } from "preact";
import {
  useCallback,
  useEffect,
  useLayoutEffect,
  useMemo,
  useRef,
  useState,
} from "preact/hooks";
import { Icon } from "../app/icons.tsx";
import { focusCard } from "../board/hands.ts";
import { deleteCard, mayChange } from "../data/actions.ts";
import { useDirectory } from "../data/directory.tsx";
import type { CardItem } from "../data/schema.ts";
import { useTeam } from "../data/team_context.ts";
import { undo } from "../data/undo.ts";
import { attempt, tell, tellFailure } from "../state/say.ts";
import { hideCard } from "../state/ui.ts";
import { Avatar } from "../app/avatar.tsx";
import { CardFields } from "./card_fields.tsx";
import { CardHistory } from "./card_history.tsx";
import { CardNote, fit, SAVE_MS } from "./card_note.tsx";
import { Comments } from "./comments.tsx";
import { blameOf } from "./history_words.ts";

/** A card over its board. */
export function CardPanel(
  { id, card }: { id: string; card: CardItem | undefined },
): JSX.Element {
  const dialog = useRef<HTMLDialogElement>(null);
  // Before the effects of what is inside: they measure.
  const show = useCallback((element: HTMLDialogElement | null) => {
    dialog.current = element;
    if (element?.open === false) element.showModal();
  }, []);
  useEffect(() => () => focusCard(id), []);
  return (
    <dialog
      class="card-panel"
      ref={show}
      aria-label={card?.title || "A card"}
      onCancel={(event) => {
        event.preventDefault();
        hideCard();
      }}
      onClick={(event) => event.target === dialog.current && hideCard()}
    >
      <div class="card-inside" tabIndex={-1} autofocus>
        {card === undefined ? <Gone id={id} /> : <Inside card={card} />}
      </div>
    </dialog>
  );
}

/** A card that is not there, or not any more. */
function Gone({ id }: { id: string }): JSX.Element {
  const team = useTeam();
  const last = useMemo(() => team.cards.history(id).at(-1), [id]);
  const name = team.people.get(last?.user ?? "")?.name;
  return (
    <div class="card-gone">
      <h2>This card is gone</h2>
      <p>
        {last === undefined
          ? "This device has not heard of it."
          : `${name ?? "Somebody"} deleted it.`}
      </p>
      <button type="button" class="button button-main" onClick={hideCard}>
        Back to the board
      </button>
    </div>
  );
}

function Inside({ card }: { card: CardItem }): JSX.Element {
  const team = useTeam();
  const commits = useMemo(() => team.cards.history(card.id), [card]);
  const blame = useMemo(() => blameOf(commits), [commits]);
  const [shown, setShown] = useState<"talk" | "history">("talk");
  const tabs = [["talk", "Comments"], ["history", "History"]] as const;
  return (
    <>
      <header class="card-head">
        <Others card={card.id} />
        <DeleteButton card={card} />
        <button
          type="button"
          class="quiet-button"
          aria-label="Close the card"
          onClick={hideCard}
        >
          <Icon name="close" />
        </button>
      </header>
      <Title card={card} />
      <CardFields card={card} blame={blame} />
      <CardNote card={card} blame={blame.get("note")} />
      <div class="tabs" role="tablist" aria-label="About this card">
        {tabs.map(([value, words]) => (
          <button
            key={value}
            type="button"
            role="tab"
            class="tab"
            id={`tab-${value}`}
            aria-selected={shown === value}
            aria-controls="tab-panel"
            onClick={() => setShown(value)}
          >
            {words}
            {value === "history" && " "}
            {value === "history" && (
              <span class="tab-count">{commits.length}</span>
            )}
          </button>
        ))}
      </div>
      <div id="tab-panel" role="tabpanel" aria-labelledby={`tab-${shown}`}>
        {shown === "talk"
          ? <Comments card={card.id} />
          : <CardHistory card={card} commits={commits} />}
      </div>
    </>
  );
}

/** Who else has this card open. */
function Others({ card }: { card: string }): JSX.Element {
  const { here } = useDirectory();
  const guests = here.filter((guest) => guest.card === card);
  return (
    <span class="card-others" role="status">
      {guests.map((guest) => (
        <span key={guest.peer} class="card-other">
          <Avatar face={guest.person} size="s" isHere />
          {guest.person.name.split(" ")[0]}{" "}
          {guest.isTyping ? "is writing" : "is here"}
        </span>
      ))}
    </span>
  );
}

function DeleteButton({ card }: { card: CardItem }): JSX.Element {
  const team = useTeam();
  const decision = team.repo.can("delete", team.cards.schema, card.id);
  const remove = () => {
    attempt(() => {
      deleteCard(team, card.id);
      hideCard();
      tell(`Deleted “${card.title}”.`, {
        action: { label: "Undo", run: () => undo(team) },
      });
    });
  };
  return (
    <button
      type="button"
      class="quiet-button"
      aria-label="Delete the card"
      title={decision.allowed ? "Delete the card" : decision.reason}
      aria-disabled={!decision.allowed}
      onClick={() =>
        decision.allowed
          ? remove()
          : tell(decision.reason, { tone: "warning" })}
    >
      <Icon name="trash" />
    </button>
  );
}

function Title({ card }: { card: CardItem }): JSX.Element {
  const team = useTeam();
  const { id, title } = card;
  const decision = mayChange(team, card);
  const field = useRef<HTMLTextAreaElement>(null);
  const named = useRef(title);
  if (title.trim() !== "") named.current = title;
  useLayoutEffect(() => {
    const { close } = bindTextarea(field.current!, {
      collection: team.cards,
      id,
      field: "title",
      delayMs: SAVE_MS,
      onError: tellFailure,
      cursors: team.cursors,
    });
    return close;
  }, [team, id]);
  useLayoutEffect(() => fit(field.current!), [title]);
  /** A card keeps the name that it had rather than none. */
  const leave = () => {
    const element = field.current!;
    if (element.value.trim() !== "") return;
    element.value = named.current;
    element.dispatchEvent(new Event("input"));
  };
  return (
    <textarea
      ref={field}
      class="card-title"
      rows={1}
      dir="auto"
      maxLength={200}
      aria-label="Title"
      readOnly={!decision.allowed}
      title={decision.allowed ? undefined : decision.reason}
      onInput={(event) => fit(event.currentTarget)}
      onBlur={leave}
      onKeyDown={(event) => {
        if (event.key !== "Enter" || event.isComposing) return;
        event.preventDefault();
        field.current!.blur();
      }}
    />
  );
}
