/**
 * Who is here, and where.
 *
 * @module
 */

import type { JSX } from "preact";
import { Avatar } from "../app/avatar.tsx";
import { Choice } from "../app/choice.tsx";
import { type Guest, useDirectory } from "../data/directory.tsx";
import { roles } from "../data/schema.ts";
import type { PersonItem, Role } from "../data/schema.ts";
import { useTeam } from "../data/team_context.ts";
import { attempt } from "../state/say.ts";
import { useStore } from "../state/store.ts";
import { showBoard, showCard, togglePanel, ui } from "../state/ui.ts";
import { Popover } from "./popover.tsx";

const FACES_MAX = 4;

function onePerPerson(here: readonly Guest[]): readonly Guest[] {
  const seen = new Map<string, Guest>();
  for (const guest of here) seen.set(guest.person.id, guest);
  return [...seen.values()];
}

/** The faces in the bar. */
export function PeopleHere(): JSX.Element {
  const { here } = useDirectory();
  const isOpen = useStore(ui, ({ panel }) => panel === "people");
  const others = onePerPerson(here);
  const words = others.length === 0
    ? "Only you are here"
    : `${others.map(({ person }) => person.name).join(", ")} here`;
  return (
    <button
      type="button"
      class="bar-people"
      aria-label={`${words}. People`}
      aria-expanded={isOpen}
      onClick={() => togglePanel("people")}
    >
      {others.slice(0, FACES_MAX).map(({ person }) => (
        <Avatar key={person.id} face={person} isHere />
      ))}
      {others.length === 0 && <span class="bar-alone">Only you</span>}
    </button>
  );
}

/** Everybody of the team, and where they are. */
export function PeoplePanel(): JSX.Element {
  const { me } = useTeam();
  const { people, here } = useDirectory();
  const byPerson = new Map(
    onePerPerson(here).map((guest) => [guest.person.id, guest]),
  );
  const all = [...people.values()].sort((a, b) =>
    Number(byPerson.has(b.id)) - Number(byPerson.has(a.id))
  );
  return (
    <Popover label="People of the team">
      <h2 class="popover-title">People</h2>
      <p class="people-why">
        {me.role === "lead"
          ? "A role here is what the team reads beside a name. It does not " +
            "change what somebody may do: the server learns that when they sign in."
          : "Only leads change what stands here. What you may do comes with your sign-in."}
      </p>
      <ul class="people">
        {all.map((person) => (
          <PersonRow
            key={person.id}
            person={person}
            guest={byPerson.get(person.id)}
          />
        ))}
      </ul>
    </Popover>
  );
}

function PersonRow(
  { person, guest }: { person: PersonItem; guest: Guest | undefined },
): JSX.Element {
  const team = useTeam();
  const isMe = person.id === team.me.id;
  return (
    <li class="person">
      <Avatar face={person} isHere={guest !== undefined || isMe} />
      <span class="person-words">
        <b>{person.name}{isMe && " (you)"}</b>
        <span class="faint">
          {guest === undefined ? person.title : <Where guest={guest} />}
        </span>
      </span>
      <RoleField person={person} />
    </li>
  );
}

function Where({ guest }: { guest: Guest }): JSX.Element {
  const team = useTeam();
  const { board, card } = guest;
  const title = card === undefined ? undefined : team.cards.get(card)?.title;
  const name = board === undefined ? undefined : team.boards.get(board)?.name;
  if (board === undefined || name === undefined) return <>here</>;
  const go = () =>
    title === undefined ? showBoard(board) : showCard(board, card!);
  return (
    <button type="button" class="link" onClick={go}>
      {title ?? name}
    </button>
  );
}

/** The role: a choice for leads, a word with its reason for others. */
function RoleField({ person }: { person: PersonItem }): JSX.Element {
  const team = useTeam();
  const other: Role = person.role === "guest" ? "member" : "guest";
  const decision = team.repo.can("update", team.people.schema, person.id, {
    role: other,
  });
  if (!decision.allowed) {
    return (
      <span class={`role role-${person.role}`} title={decision.reason}>
        {person.role}
      </span>
    );
  }
  return (
    <Choice
      class={`role role-${person.role}`}
      label={`Role of ${person.name}`}
      value={person.role}
      options={roles.map((role) => [role, role])}
      onChoose={(role) =>
        attempt(() => team.people.update(person.id, { role }))}
    />
  );
}
