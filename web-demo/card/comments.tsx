/**
 * What was said about a card.
 *
 * @module
 */

import type { JSX } from "preact";
import { useRef } from "preact/hooks";
import { Avatar, nobody } from "../app/avatar.tsx";
import { addComment } from "../data/actions.ts";
import { agoWords, momentWords } from "../data/days.ts";
import { useDirectory } from "../data/directory.tsx";
import { useRows } from "../data/live.ts";
import type { CommentItem } from "../data/schema.ts";
import { useTeam } from "../data/team_context.ts";
import { attempt } from "../state/say.ts";

/** Comments, and a place for one's own. */
export function Comments({ card }: { card: string }): JSX.Element {
  const team = useTeam();
  const field = useRef<HTMLTextAreaElement>(null);
  const comments = useRows(
    () => team.comments.where({ card }).orderBy("at"),
    [team, card],
  );
  const say = () => {
    const text = field.current!.value.trim();
    if (text === "") return;
    attempt(() => {
      addComment(team, card, text);
      field.current!.value = "";
    });
  };
  return (
    <div class="comments">
      <ul>
        {comments.map((comment) => (
          <Comment key={comment.id} comment={comment} />
        ))}
      </ul>
      <form
        class="comment-form"
        onSubmit={(event) => {
          event.preventDefault();
          say();
        }}
      >
        <Avatar face={team.me} />
        <textarea
          ref={field}
          rows={1}
          dir="auto"
          maxLength={4000}
          aria-label="Your comment"
          placeholder="Say something"
          onKeyDown={(event) => {
            // Enter also ends a word of an input method.
            const isEnter = event.key === "Enter" && !event.isComposing;
            if (!isEnter || event.shiftKey) return;
            event.preventDefault();
            say();
          }}
        />
        <button type="submit" class="button button-main">Send</button>
      </form>
    </div>
  );
}

function Comment({ comment }: { comment: CommentItem }): JSX.Element {
  const { people } = useDirectory();
  const { by, at, text } = comment;
  const face = people.get(by) ?? nobody;
  return (
    <li class="comment">
      <Avatar face={face} />
      <div>
        <p class="comment-head">
          <b>{face.name}</b>
          <time class="faint" title={momentWords(at)}>{agoWords(at)}</time>
        </p>
        <p class="comment-text">{text}</p>
      </div>
    </li>
  );
}
