/**
 * Choosing who one is. A real app would send people to its identity provider.
 *
 * @module
 */

import type { JSX } from "preact";
import { Avatar } from "../app/avatar.tsx";
import { Mark } from "../app/icons.tsx";
import { type Member, team } from "../data/team.ts";

const may: Readonly<Record<Member["role"], string>> = {
  lead: "Lead: may change everything",
  member: "Member: adds, moves and writes cards",
  guest: "Guest: reads and comments",
};

/** The list of people. */
export function SignIn(
  { choose }: { choose: (member: Member) => void },
): JSX.Element {
  return (
    <main class="sign-in">
      <div class="sign-in-words">
        <p class="wordmark">
          <Mark size={36} /> Stook
        </p>
        <h1>A board that keeps working when the ferry leaves the harbour.</h1>
        <p>
          Everything you do is on this device at once, signed, and with the
          others as soon as there is a wire.
        </p>
        <p class="sign-in-hint">
          This is a demo: choose anybody. Open a second window as somebody else
          and watch the two agree.
        </p>
      </div>
      <div class="sign-in-people">
        <h2>Who are you today?</h2>
        <ul>
          {team.map((member) => (
            <li key={member.id}>
              <button
                type="button"
                class="sign-in-person"
                onClick={() => choose(member)}
              >
                <Avatar face={member} size="l" />
                <span>
                  <b>{member.name}</b>
                  <span class="faint">{member.title}</span>
                </span>
                <span
                  class={`role role-${member.role}`}
                  title={may[member.role]}
                >
                  {member.role}
                </span>
              </button>
            </li>
          ))}
        </ul>
      </div>
    </main>
  );
}
