/**
 * The note of a card: several people write in it at once, and every character
 * finds its place.
 *
 * @module
 */

import { bindTextarea, type TextCursor } from "@sheaf/sheaf/text";
import type { JSX } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { mayChange } from "../data/actions.ts";
import type { CardItem } from "../data/schema.ts";
import { useTeam } from "../data/team_context.ts";
import { typing } from "../state/presence.ts";
import { tellFailure } from "../state/say.ts";
import { BlameLine } from "./card_fields.tsx";
import type { Blame } from "./history_words.ts";

/** Typing that pauses for so long is written. */
export const SAVE_MS = 300;
/** After this long without a key nobody is writing any more. */
const TYPING_MS = 4_000;

/** The note of a card. */
export function CardNote(
  { card, blame }: { card: CardItem; blame: Blame | undefined },
): JSX.Element {
  const team = useTeam();
  const field = useRef<HTMLTextAreaElement>(null);
  const [others, setOthers] = useState<readonly TextCursor[]>([]);
  const { id, note = "" } = card;
  const decision = mayChange(team, card);
  useLayoutEffect(() => {
    const bound = bindTextarea(field.current!, {
      collection: team.cards,
      id,
      field: "note",
      delayMs: SAVE_MS,
      onError: tellFailure,
      cursors: team.cursors,
      onCursors: setOthers,
    });
    return () => bound.close();
  }, [team, id]);
  useLayoutEffect(() => fit(field.current!), [note]);
  useTyping(field);
  return (
    <section class="card-note" aria-labelledby="note-title">
      <h3>
        <span id="note-title">Note</span> <BlameLine blame={blame} />
      </h3>
      <div class="note-box">
        <textarea
          ref={field}
          rows={4}
          dir="auto"
          aria-labelledby="note-title"
          placeholder="What should everybody know about this?"
          readOnly={!decision.allowed}
          title={decision.allowed ? undefined : decision.reason}
          onInput={(event) => fit(event.currentTarget)}
        />
        <Carets text={field.current?.value ?? note} cursors={others} />
      </div>
      {others.length > 0 && (
        // Beneath the text: beside their carets names would cover it.
        <p class="caret-names" aria-hidden="true">
          {others.map(({ peer, name, color }) => (
            <span key={peer} style={{ "--caret": color }}>{name}</span>
          ))}
        </p>
      )}
    </section>
  );
}

/** Where the others write: the same text, unseen, over the field, with their carets in it. */
function Carets(
  { text, cursors }: { text: string; cursors: readonly TextCursor[] },
): JSX.Element | null {
  if (cursors.length === 0) return null;
  const sorted = cursors.toSorted((a, b) => a.head - b.head);
  return (
    <div class="note-carets" aria-hidden="true">
      {sorted.map(({ peer, head, color }, at) => (
        <span key={peer}>
          {text.slice(sorted[at - 1]?.head ?? 0, head)}
          <i class="caret" style={{ "--caret": color }} />
        </span>
      ))}
      {text.slice(sorted.at(-1)!.head)}
    </div>
  );
}

/** As high as its text. */
export function fit(element: HTMLTextAreaElement): void {
  element.style.height = "auto";
  element.style.height = `${element.scrollHeight}px`;
}

/** Shows the others that somebody writes here, until they pause. */
function useTyping(
  field: { readonly current: HTMLTextAreaElement | null },
): void {
  useEffect(() => {
    const element = field.current!;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const rest = () => {
      clearTimeout(timer);
      if (typing.get().isTyping) typing.set({ isTyping: false });
    };
    const onInput = () => {
      clearTimeout(timer);
      timer = setTimeout(rest, TYPING_MS);
      if (!typing.get().isTyping) typing.set({ isTyping: true });
    };
    element.addEventListener("input", onInput);
    element.addEventListener("blur", rest);
    return () => {
      rest();
      element.removeEventListener("input", onInput);
      element.removeEventListener("blur", rest);
    };
  }, []);
}
