/**
 * Oneself: role and what it allows, theme, keys, another person.
 *
 * @module
 */

import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { Avatar } from "../app/avatar.tsx";
import { Icon } from "../app/icons.tsx";
import { useTeam } from "../data/team_context.ts";
import { hasInspector, toggleInspector } from "../state/inspector.ts";
import { chooseTheme, chosenTheme, type Theme } from "../state/theme.ts";
import { ui } from "../state/ui.ts";
import { Popover } from "./popover.tsx";

const may = {
  lead: [
    "Change every card, column and board, and what stands beside a name",
    "Delete any card",
  ],
  member: [
    "Add, move and write cards; delete your own",
    "Columns, boards and roles are for leads",
  ],
  guest: [
    "Read everything and comment",
    "Cards are moved and written by members and leads",
  ],
} as const;

/** Oneself. */
export function MePanel(): JSX.Element {
  const { me, db } = useTeam();
  return (
    <Popover label={me.name}>
      <p class="me">
        <Avatar face={me} size="l" />
        <span>
          <b>{me.name}</b>
          <span class="faint">{me.title}</span>
        </span>
        <span class={`role role-${me.role}`}>{me.role}</span>
      </p>
      <ul class="may">
        {may[me.role].map((line) => <li key={line}>{line}</li>)}
      </ul>
      <ThemeChoice />
      <div class="me-acts">
        <button
          type="button"
          class="button button-plain"
          onClick={() => ui.set({ panel: "people" })}
        >
          <Icon name="people" size={18} /> Team
        </button>
        <button
          type="button"
          class="button button-plain"
          onClick={() => ui.set({ panel: "keys" })}
        >
          <Icon name="keys" size={18} /> Keys
        </button>
        {hasInspector && (
          <button
            type="button"
            class="button button-plain"
            onClick={() => {
              ui.set({ panel: undefined });
              void toggleInspector(db);
            }}
          >
            <Icon name="inspect" size={18} /> Inspector
          </button>
        )}
        <button type="button" class="button button-plain" onClick={leave}>
          Be somebody else
        </button>
      </div>
    </Popover>
  );
}

function leave(): void {
  localStorage.removeItem("stook.person");
  location.assign(location.pathname);
}

const themes: readonly (readonly [Theme, string])[] = [
  ["light", "Light"],
  ["dark", "Dark"],
  ["device", "As the device"],
];

function ThemeChoice(): JSX.Element {
  const [theme, setTheme] = useState(chosenTheme);
  return (
    <fieldset class="segments">
      <legend class="aside">Colours</legend>
      {themes.map(([value, words]) => (
        <label key={value}>
          <input
            type="radio"
            name="theme"
            checked={theme === value}
            onChange={() => {
              chooseTheme(value);
              setTheme(value);
            }}
          />
          <span>{words}</span>
        </label>
      ))}
    </fieldset>
  );
}
