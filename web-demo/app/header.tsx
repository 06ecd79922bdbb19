/**
 * The bar at the top: boards, search, who is here, how things stand with the
 * server, and oneself.
 *
 * @module
 */

import type { JSX } from "preact";
import { useEffect, useRef } from "preact/hooks";
import type { BoardItem } from "../data/schema.ts";
import { useTeam } from "../data/team_context.ts";
import { MePanel } from "../panels/me.tsx";
import { PeopleHere, PeoplePanel } from "../panels/people.tsx";
import { SyncBadge, SyncPanel } from "../panels/sync.tsx";
import { useStore } from "../state/store.ts";
import { filterBy, showBoard, togglePanel, ui } from "../state/ui.ts";
import { Avatar } from "./avatar.tsx";
import { Icon, Mark } from "./icons.tsx";
import { useInRow } from "./row.ts";

/** The bar at the top. */
export function Header(
  { boards, board }: {
    boards: readonly BoardItem[];
    board: BoardItem | undefined;
  },
): JSX.Element {
  const { me } = useTeam();
  const panel = useStore(ui, (value) => value.panel);
  const row = useRef<HTMLElement>(null);
  useInRow(row, boards.findIndex(({ id }) => id === board?.id));
  return (
    <header class="bar">
      <span class="wordmark">
        <Mark size={26} />
        <span class="wordmark-text">Stook</span>
      </span>
      <nav class="bar-boards" ref={row} aria-label="Boards">
        {boards.map(({ id, name }) => (
          <button
            key={id}
            type="button"
            class="bar-board"
            aria-current={id === board?.id ? "page" : undefined}
            onClick={() => showBoard(id)}
          >
            {name}
          </button>
        ))}
      </nav>
      <Search />
      <div class="bar-end">
        <PeopleHere />
        <SyncBadge />
        <button
          type="button"
          class="bar-me"
          aria-label={`${me.name}: theme, people, help`}
          aria-expanded={panel === "me"}
          onClick={() => togglePanel("me")}
        >
          <Avatar face={me} />
        </button>
      </div>
      {panel === "sync" && <SyncPanel />}
      {panel === "people" && <PeoplePanel />}
      {panel === "me" && <MePanel />}
    </header>
  );
}

function Search(): JSX.Element {
  const text = useStore(ui, (value) => value.filter.text);
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => {
    const focus = () => field.current?.select();
    addEventListener("stook-search", focus);
    return () => removeEventListener("stook-search", focus);
  }, []);
  return (
    <label class="search">
      <Icon name="search" size={18} />
      <span class="aside">Search cards</span>
      <input
        ref={field}
        type="search"
        value={text}
        placeholder="Search"
        aria-keyshortcuts="/"
        onInput={(event) => filterBy({ text: event.currentTarget.value })}
        onKeyDown={(event) => {
          if (event.key !== "Escape") return;
          filterBy({ text: "" });
          event.currentTarget.blur();
        }}
      />
      <kbd aria-hidden="true">/</kbd>
    </label>
  );
}
