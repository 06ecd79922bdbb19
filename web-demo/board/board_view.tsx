/**
 * A board: its columns side by side, now or at a moment of the past.
 *
 * @module
 */

import type { JSX } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { dayOf } from "../data/days.ts";
import { useDirectory } from "../data/directory.tsx";
import { type Match, matcherOf } from "../data/matching.ts";
import type {
  BoardItem,
  CardItem,
  ColumnItem,
  CommentItem,
} from "../data/schema.ts";
import { useRows } from "../data/live.ts";
import { useTeam } from "../data/team_context.ts";
import { useStore } from "../state/store.ts";
import { ui } from "../state/ui.ts";
import { CardTile } from "./card_tile.tsx";
import { composing } from "./composer.tsx";
import { dragging, holdStill } from "./drag.ts";
import { type BoardHands, handsOf } from "./hands.ts";
import { Lane } from "./lane.tsx";
import { LaneTabs } from "./lane_tabs.tsx";

/** Heights, fonts and faces are there by then. */
const STILL_MS = 1_500;

/** What a board shows: the rows of now, or of a moment. */
export interface BoardRows {
  readonly columns: readonly ColumnItem[];
  readonly cards: readonly CardItem[];
  readonly comments: readonly CommentItem[];
}

/** A board as it is now. */
export function BoardNow({ board }: { board: BoardItem }): JSX.Element {
  const team = useTeam();
  const { id } = board;
  const columns = useRows(
    () => team.columns.where({ board: id }).orderBy("position"),
    [team, id],
  );
  return (
    <Lanes columns={columns}>
      {(column, common) => (
        <LaneNow key={column.id} column={column} {...common} />
      )}
    </Lanes>
  );
}

/** A board as it was. */
export function BoardThen(
  { rows, today }: { rows: BoardRows; today: string },
): JSX.Element {
  const counts = useMemo(() => countComments(rows.comments), [rows]);
  return (
    <Lanes columns={rows.columns} then={today}>
      {(column, common) => (
        <Lane
          key={column.id}
          column={column}
          cards={rows.cards.filter((card) => card.column === column.id)}
          comments={counts}
          {...common}
        />
      )}
    </Lanes>
  );
}

interface Common {
  readonly match: Match | undefined;
  readonly search: string;
  readonly today: string;
  readonly hands: BoardHands;
  readonly isPast: boolean;
}

function LaneNow(
  { column, ...common }: Common & { column: ColumnItem },
): JSX.Element {
  const team = useTeam();
  const { id } = column;
  const cards = useRows(
    () => team.cards.where({ column: id }).orderBy("position"),
    [team, id],
  );
  const comments = useRows(() => team.comments.query(), [team]);
  const counts = useMemo(() => countComments(comments), [comments]);
  return <Lane column={column} cards={cards} comments={counts} {...common} />;
}

/** How much was said about each card; the last answer is kept, since every column asks. */
function countComments(
  comments: readonly CommentItem[],
): ReadonlyMap<string, number> {
  if (lastCount?.of === comments) return lastCount.counts;
  const counts = new Map<string, number>();
  for (const { card } of comments) {
    counts.set(card, (counts.get(card) ?? 0) + 1);
  }
  lastCount = { of: comments, counts };
  return counts;
}

let lastCount: {
  readonly of: readonly CommentItem[];
  readonly counts: ReadonlyMap<string, number>;
} | undefined;

function Lanes(
  { columns, then, children }: {
    columns: readonly ColumnItem[];
    /** The day that is looked at, in the past. */
    then?: string;
    children: (column: ColumnItem, common: Common) => JSX.Element;
  },
): JSX.Element {
  const team = useTeam();
  const filter = useStore(ui, (value) => value.filter);
  const now = useToday();
  const today = then ?? now;
  const { labels, people } = useDirectory();
  const match = useMemo(
    () => matcherOf(filter, today, { labels, people }),
    [filter, today, labels, people],
  );
  const hands = useMemo(
    () => handsOf(team, (column) => composing.set({ column })),
    [team],
  );
  const lanes = useRef<HTMLDivElement>(null);
  useEffect(() => holdStill(lanes.current!), []);
  const isStill = useStill();
  const common = {
    match,
    search: filter.text,
    today,
    hands,
    isPast: then !== undefined,
  };
  return (
    <>
      <LaneTabs columns={columns} lanes={lanes} />
      <div class={isStill ? "lanes is-still" : "lanes"} ref={lanes}>
        {columns.map((column) => children(column, common))}
      </div>
      <p id="card-help" class="aside">
        Enter opens. Space picks up, arrows move, Space drops, Escape puts back.
      </p>
      <Dragged today={today} />
    </>
  );
}

/** Has the board come in? Cards that move from then on slide. */
function useStill(): boolean {
  const [isStill, setStill] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setStill(true), STILL_MS);
    return () => clearTimeout(timer);
  }, []);
  return isStill;
}

/** The day, which changes at midnight also on a page that stays open. */
export function useToday(): string {
  const [today, setToday] = useState(() => dayOf(Date.now()));
  useEffect(() => {
    const timer = setInterval(() => setToday(dayOf(Date.now())), 30_000);
    return () => clearInterval(timer);
  }, []);
  return today;
}

/** The card under the pointer while it is dragged. */
function Dragged({ today }: { today: string }): JSX.Element | null {
  const { card, how, width } = useStore(dragging, (drag) => drag);
  if (card === undefined || how === "keys") return null;
  return (
    <div class="dragged" style={{ width: `${width}px` }} aria-hidden="true">
      <div class="tile">
        <CardTile
          card={card}
          today={today}
          isDone={false}
          comments={0}
          search=""
        />
      </div>
    </div>
  );
}
