/**
 * The board at a moment of the past, and the slider that chooses it.
 *
 * @module
 */

import type { CommitSummary } from "@sheaf/sheaf/browser";
import type { JSX } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { Icon } from "../app/icons.tsx";
import { type BoardRows, BoardThen } from "../board/board_view.tsx";
import { describeOperation } from "../card/history_words.ts";
import { dayOf, momentWords } from "../data/days.ts";
import type { Team } from "../data/open.ts";
import { type BoardItem, Card, Column, Comment } from "../data/schema.ts";
import { useTeam } from "../data/team_context.ts";
import { ui } from "../state/ui.ts";

/** Opens the slider, or goes back to now. */
export function toggleTime(): void {
  const { moment } = ui.get();
  if (moment === undefined) ui.set({ moment: Date.now() });
  else backToNow();
}

/** Who was at the slider is at the button that opens it again. */
export function backToNow(): void {
  const wasThere = document.activeElement?.closest(".time");
  ui.set({ moment: undefined });
  if (wasThere) document.querySelector<HTMLElement>(".tool-time")?.focus();
}

const BARS = 96;
const PLAY_MS = 90;

/** The board as it was at a moment. */
export function PastBoard(
  { board, moment }: { board: BoardItem; moment: number },
): JSX.Element {
  const team = useTeam();
  const commits = useMemo(() => team.repo.history({ limit: Infinity }), [team]);
  const rows = useMemo(
    () => rowsAt(team, board.id, moment),
    [team, board.id, moment],
  );
  return (
    <>
      <BoardThen rows={rows} today={dayOf(moment)} />
      <TimeBar commits={commits} moment={moment} />
    </>
  );
}

function rowsAt(team: Team, board: string, moment: number): BoardRows {
  const then = team.repo.at(new Date(moment));
  const columns = then.collection(Column);
  const cards = then.collection(Card);
  return {
    columns: columns.where({ board }).orderBy("position").run(),
    cards: cards.where({ board }).orderBy("position").run(),
    comments: then.collection(Comment).all(),
  };
}

function TimeBar(
  { commits, moment }: { commits: readonly CommitSummary[]; moment: number },
): JSX.Element {
  const from = commits[0]?.at.getTime() ?? moment;
  const to = useMemo(() => Date.now(), [commits]);
  const bars = useMemo(() => countBars(commits, from, to), [commits]);
  const go = (at: number) => ui.set({ moment: Math.min(to, Math.round(at)) });
  const part = (moment - from) / Math.max(1, to - from);
  const slider = useRef<HTMLInputElement>(null);
  useEffect(() => slider.current?.focus(), []);
  return (
    <section class="time" aria-label="Back in time">
      <div class="time-words">
        <p class="time-moment" role="status">
          <b>{momentWords(moment)}</b>
          <span class="faint">
            <LastWords commits={commits} moment={moment} />
          </span>
        </p>
        <Player commits={commits} moment={moment} go={go} />
        <button
          type="button"
          class="button button-main"
          onClick={backToNow}
        >
          Back to now
        </button>
      </div>
      <div class="time-line">
        <div class="time-bars" aria-hidden="true">
          {bars.map((share, at) => (
            <i
              key={at}
              class={at / BARS <= part ? "is-past" : ""}
              style={{ height: `${share * 100}%` }}
            />
          ))}
        </div>
        <input
          ref={slider}
          type="range"
          aria-label="Moment"
          aria-valuetext={momentWords(moment)}
          min={from}
          max={to}
          step={60_000}
          value={moment}
          onInput={(event) => go(Number(event.currentTarget.value))}
          onKeyDown={(event) => {
            const next = stepOf(event.key, commits, moment);
            if (next === undefined) return;
            event.preventDefault();
            go(next);
          }}
        />
      </div>
    </section>
  );
}

/** How busy each stretch of time was, against the busiest. */
function countBars(
  commits: readonly CommitSummary[],
  from: number,
  to: number,
): readonly number[] {
  const counts = new Array<number>(BARS).fill(0);
  for (const { at } of commits) {
    const share = (at.getTime() - from) / Math.max(1, to - from);
    counts[Math.min(BARS - 1, Math.floor(share * BARS))]!++;
  }
  const most = Math.max(1, ...counts);
  return counts.map((count) => Math.sqrt(count / most));
}

/** The last commit up to a moment: its place in the list. */
function lastBefore(commits: readonly CommitSummary[], moment: number): number {
  return commits.findLastIndex(({ at }) => at.getTime() <= moment);
}

/** Where an arrow leads: to the next thing that happened, not to the next minute of weeks. */
function stepOf(
  key: string,
  commits: readonly CommitSummary[],
  moment: number,
): number | undefined {
  const shown = lastBefore(commits, moment);
  if (key === "ArrowRight" || key === "ArrowUp") {
    return commits[shown + 1]?.at.getTime();
  }
  if (key !== "ArrowLeft" && key !== "ArrowDown") return undefined;
  const at = commits[shown]?.at.getTime() ?? moment;
  return commits[lastBefore(commits, at - 1)]?.at.getTime();
}

function LastWords(
  { commits, moment }: { commits: readonly CommitSummary[]; moment: number },
): JSX.Element {
  const team = useTeam();
  const commit = commits[lastBefore(commits, moment)];
  if (commit === undefined) return <>Before anything was written</>;
  const name = team.people.get(commit.user ?? "")?.name ?? "Somebody";
  const [operation] = commit.operations;
  const words = operation && describeOperation(team, operation, commit.user)[0];
  const title = operation?.collection === "card"
    ? team.cards.get(operation.id)?.title
    : undefined;
  return (
    <>
      {name.split(" ")[0]} {words}
      {title !== undefined && operation?.what !== "create" && `: ${title}`}
    </>
  );
}

/** Plays the commits one after the other. */
function Player(
  { commits, moment, go }: {
    commits: readonly CommitSummary[];
    moment: number;
    go: (at: number) => void;
  },
): JSX.Element {
  const [isPlaying, setPlaying] = useState(false);
  const at = useRef(moment);
  at.current = moment;
  useEffect(() => {
    if (!isPlaying) return;
    const timer = setInterval(() => {
      const next = commits[lastBefore(commits, at.current) + 1];
      if (next === undefined) setPlaying(false);
      else go(next.at.getTime());
    }, PLAY_MS);
    return () => clearInterval(timer);
  }, [isPlaying, commits]);
  const toggle = () => {
    const isAtEnd = lastBefore(commits, moment) === commits.length - 1;
    if (!isPlaying && isAtEnd && commits[0]) go(commits[0].at.getTime());
    setPlaying(!isPlaying);
  };
  return (
    <button
      type="button"
      class="quiet-button"
      aria-label={isPlaying ? "Pause" : "Play what happened"}
      onClick={toggle}
    >
      <Icon name={isPlaying ? "pause" : "play"} />
    </button>
  );
}
