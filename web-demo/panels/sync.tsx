/**
 * How things stand between this device and the others: one honest badge, and
 * behind it everything that waits, with its reasons.
 *
 * @module
 */

import type { RefusedWrite, SyncStatus } from "@sheaf/sheaf/browser";
import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { Icon, type IconName } from "../app/icons.tsx";
import { agoWords } from "../data/days.ts";
import { useTeam } from "../data/team_context.ts";
import { attempt, tell } from "../state/say.ts";
import { useSource, useStore } from "../state/store.ts";
import { togglePanel, ui } from "../state/ui.ts";
import { Popover } from "./popover.tsx";
import { describeWrite } from "./refusal_words.ts";
import { StorageLine } from "./storage_line.tsx";

interface Standing {
  readonly tone: "well" | "waiting" | "alone" | "trouble";
  readonly icon: IconName;
  /** On the badge. */
  readonly short: string;
  /** In the panel. */
  readonly long: string;
}

const changes = (count: number) =>
  `${count} ${count === 1 ? "change" : "changes"}`;

/** What a status means, in words. */
export function standingOf(status: SyncStatus): Standing {
  const { state, unsent, refusals } = status;
  const waits = unsent.commits;
  if (refusals.length > 0) {
    return {
      tone: "trouble",
      icon: "warning",
      short: `${refusals.length} refused`,
      long: "The server did not take everything. What it refused was undone " +
        "here and waits for you.",
    };
  }
  if (state === "live") {
    return waits === 0
      ? {
        tone: "well",
        icon: "check",
        short: "Saved",
        long: "Everything on this device is on the server as well.",
      }
      : {
        tone: "waiting",
        icon: "cloud",
        short: `Sending ${waits}`,
        long: `${changes(waits)} on the way to the server.`,
      };
  }
  if (state === "connecting" || state === "catching-up") {
    return {
      tone: "waiting",
      icon: "cloud",
      short: state === "connecting" ? "Connecting" : "Catching up",
      long: "Looking for what the others did meanwhile.",
    };
  }
  if (state === "refused") {
    return {
      tone: "trouble",
      icon: "warning",
      short: "Not let in",
      long: "The server does not let this device in. Everything is kept here.",
    };
  }
  return {
    tone: "alone",
    icon: "alone",
    short: waits === 0 ? "Offline" : `Offline, ${waits} unsent`,
    long: waits === 0
      ? "You are working alone. Everything is kept here."
      : `You are working alone. ${changes(waits)} ${
        waits === 1
          ? "is kept here and goes out by itself"
          : "are kept here and go out by themselves"
      } when there is a wire.`,
  };
}

/** The badge. */
export function SyncBadge(): JSX.Element {
  const { repo } = useTeam();
  const status = useSource(repo.sync);
  const isOpen = useStore(ui, ({ panel }) => panel === "sync");
  const { tone, icon, short } = standingOf(status);
  return (
    <button
      type="button"
      class={`badge badge-${tone}`}
      aria-expanded={isOpen}
      data-state={status.state}
      data-unsent={status.unsent.commits}
      onClick={() => togglePanel("sync")}
    >
      <Icon name={icon} size={18} />
      <span class="badge-text" role="status">{short}</span>
    </button>
  );
}

/** Everything behind the badge. */
export function SyncPanel(): JSX.Element {
  const team = useTeam();
  const status = useSource(team.repo.sync);
  const { tone, icon, long } = standingOf(status);
  const { unsent, equalAt, reason, refusals, incidents } = status;
  return (
    <Popover label="How things stand with the server">
      <p class={`standing standing-${tone}`}>
        <Icon name={icon} /> <span>{long}</span>
      </p>
      {reason !== undefined && status.state !== "live" && (
        <p class="faint">{reason.message}</p>
      )}
      {refusals.map((refused) => (
        <Refusal key={refused.commit} refused={refused} />
      ))}
      {incidents.map(({ kind, message }, at) => (
        <p key={at} class="incident">
          <b>{kind}</b> {message}
        </p>
      ))}
      <dl class="facts">
        <dt>Not sent yet</dt>
        <dd>
          {unsent.commits === 0
            ? "nothing"
            : `${changes(unsent.commits)}, ${unsent.bytes} bytes`}
          {unsent.oldest !== undefined && unsent.commits > 0 &&
            `, the oldest ${agoWords(unsent.oldest.getTime())}`}
        </dd>
        <dt>Equal with the server</dt>
        <dd>
          {equalAt === undefined ? "not yet" : agoWords(equalAt.getTime())}
        </dd>
        <StorageLine />
      </dl>
      <OfflineSwitch />
    </Popover>
  );
}

function OfflineSwitch(): JSX.Element {
  const team = useTeam();
  const [isOnline, setOnline] = useState(team.isOnline());
  return (
    <label class="switch">
      <input
        type="checkbox"
        role="switch"
        checked={!isOnline}
        onChange={(event) => {
          const next = !event.currentTarget.checked;
          team.setOnline(next);
          setOnline(next);
        }}
      />
      <span>
        <b>Work offline</b>
        <span class="faint">
          Try it: edit here and elsewhere, then come back
        </span>
      </span>
    </label>
  );
}

function Refusal({ refused }: { refused: RefusedWrite }): JSX.Element {
  const team = useTeam();
  const { title, lines } = describeWrite(team, refused);
  return (
    <section class="refusal" aria-label={`Refused: ${title}`}>
      <p class="refusal-what">
        <b>{title}</b>
        <span class="faint">{agoWords(refused.at.getTime())}</span>
      </p>
      {lines.map((line) => <p key={line} class="refusal-line">{line}</p>)}
      <p class="refusal-why">
        {refused.detail || refused.reason}
        {refused.kept && " It is kept for somebody to decide."}
      </p>
      <div class="refusal-acts">
        <button
          type="button"
          class="button button-main"
          onClick={() => attempt(() => refused.retry())}
        >
          Try again
        </button>
        <button
          type="button"
          class="button button-plain"
          onClick={() => void refused.discard()}
        >
          Discard
        </button>
        <button
          type="button"
          class="button button-plain"
          onClick={() => copyRefusal(refused)}
        >
          Copy
        </button>
      </div>
    </section>
  );
}

async function copyRefusal(refused: RefusedWrite): Promise<void> {
  try {
    const text = JSON.stringify(refused.export(), undefined, 2);
    await navigator.clipboard.writeText(text);
    tell("Copied what was refused.");
  } catch {
    tell("This browser did not let it be copied.", { tone: "warning" });
  }
}
