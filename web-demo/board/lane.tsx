/**
 * A column of the board: its head, its cards (those that can be seen), and a
 * place to write a new one.
 *
 * @module
 */

import type { JSX } from "preact";
import { useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { Icon } from "../app/icons.tsx";
import { useDirectory } from "../data/directory.tsx";
import type { Match } from "../data/matching.ts";
import type { CardItem, ColumnItem } from "../data/schema.ts";
import { useStore } from "../state/store.ts";
import { ui } from "../state/ui.ts";
import { CardTile, TileGuests } from "./card_tile.tsx";
import { Composer } from "./composer.tsx";
import { dragging } from "./drag.ts";
import type { BoardHands } from "./hands.ts";
import { type Layout, layOut, visibleRows } from "./window_rows.ts";

/** What a column is shown with. */
export interface LaneProps {
  readonly column: ColumnItem;
  readonly cards: readonly CardItem[];
  readonly comments: ReadonlyMap<string, number>;
  readonly match: Match | undefined;
  readonly search: string;
  readonly today: string;
  readonly hands: BoardHands;
  /** Is this the past? Then nothing can be changed. */
  readonly isPast: boolean;
}

/** A column. */
export function Lane(props: LaneProps): JSX.Element {
  const { column, cards, match, hands, isPast } = props;
  const shown = useMemo(
    () => match === undefined ? cards : cards.filter(match),
    [cards, match],
  );
  const isOver = column.limit > 0 && cards.length > column.limit;
  const head = `lane-${column.id}`;
  return (
    <section
      class={`lane${column.isDone ? " lane-done" : ""}`}
      data-lane={column.id}
      aria-labelledby={head}
    >
      <header class="lane-head">
        <h2 id={head}>{column.name}</h2>
        <span class={`lane-count${isOver ? " is-over" : ""}`}>
          {match === undefined
            ? cards.length
            : `${shown.length} of ${cards.length}`}
          {column.limit > 0 && match === undefined && (
            <span class="lane-limit" title={`At most ${column.limit}`}>
              /{column.limit}
            </span>
          )}
          <span class="aside">
            cards{isOver ? ", more than it should hold" : ""}
          </span>
        </span>
        {!isPast && (
          <button
            type="button"
            class="quiet-button lane-add"
            aria-label={`Add a card to ${column.name}`}
            title="Add a card"
            onClick={() => hands.compose(column.id)}
          >
            <Icon name="plus" size={18} />
          </button>
        )}
      </header>
      <LaneRows {...props} shown={shown} />
      {!isPast && <Composer column={column} hands={hands} />}
    </section>
  );
}

interface RowsProps extends LaneProps {
  readonly shown: readonly CardItem[];
}

function LaneRows(props: RowsProps): JSX.Element {
  const { shown, column, match } = props;
  const list = useRef<HTMLDivElement>(null);
  const { layout, drag, rows, lifted, heights } = useRowLayout(props);
  const [start, end] = useVisible(list, layout);
  useMeasured(list, heights.current, heights.changed);
  const after = rows[end]?.id ?? "";
  const { isHere, gapTop } = drag;
  const seen = rows.slice(start, end);
  const at = lifted === undefined
    ? Infinity
    : Math.max(0, Math.min(shown.indexOf(lifted) - start, seen.length));
  return (
    <div class="lane-cards" ref={list} data-after={after}>
      <ol
        class="lane-rows"
        style={{ height: `${layout.tops[rows.length]}px` }}
        aria-label={`Cards in ${column.name}`}
      >
        {withLifted(seen, lifted, at).map((card, i) => {
          // Its own place does not count while it is lifted.
          const index = start + (i > at ? i - 1 : i);
          return (
            <Row
              key={card.id}
              {...props}
              card={card}
              top={layout.tops[index]!}
              place={index + 1}
              count={rows.length}
              isLifted={card === lifted}
            />
          );
        })}
      </ol>
      {isHere && (
        <div
          class="gap"
          style={{
            transform: `translateY(${gapTop}px)`,
            height: `${drag.height}px`,
          }}
        />
      )}
      {shown.length === 0 && !isHere && (
        <p class="lane-empty">
          {match !== undefined
            ? "Nothing here fits"
            : props.isPast
            ? "Nothing yet"
            : emptyWords(column)}
        </p>
      )}
    </div>
  );
}

/**
 * A lifted card stays in the page, unseen and in its old order: a finger's events
 * go to the element that it came down on.
 */
function withLifted(
  seen: readonly CardItem[],
  lifted: CardItem | undefined,
  at: number,
): readonly CardItem[] {
  if (lifted === undefined) return seen;
  return seen.toSpliced(at, 0, lifted);
}

interface RowProps extends LaneProps {
  readonly card: CardItem;
  readonly top: number;
  readonly place: number;
  readonly count: number;
  readonly isLifted: boolean;
}

function Row(
  { card, top, place, count, hands, isPast, isLifted, ...props }: RowProps,
): JSX.Element {
  const { here } = useDirectory();
  const isPicked = useStore(ui, ({ picked }) => picked.has(card.id)) && !isPast;
  return (
    <li
      class={isLifted ? "row is-lifted" : "row"}
      style={{ transform: `translateY(${top}px)` }}
      data-row={card.id}
      aria-setsize={count}
      aria-posinset={place}
    >
      <button
        type="button"
        class={isPicked ? "tile is-picked" : "tile"}
        data-card={card.id}
        data-top={top}
        aria-describedby="card-help"
        onPointerDown={(event) => hands.press(event, isPast)}
        onClick={() => hands.open(card)}
        onKeyDown={(event) => hands.keys(event, card, isPast)}
      >
        <CardTile
          card={card}
          today={props.today}
          isDone={props.column.isDone}
          comments={props.comments.get(card.id) ?? 0}
          search={props.search}
        />
        {!isPast && (
          <TileGuests
            guests={here.filter((guest) => guest.card === card.id)}
          />
        )}
      </button>
    </li>
  );
}

function emptyWords(column: ColumnItem): string {
  return column.isDone ? "Nothing done yet" : "Drop a card here";
}

/** Where the rows stand, with a gap for what is dragged over them. */
function useRowLayout({ shown, column }: RowsProps) {
  const card = useStore(dragging, (drag) => drag.card);
  const how = useStore(dragging, (drag) => drag.how);
  const height = useStore(dragging, (drag) => drag.height);
  const place = useStore(
    dragging,
    ({ place }) => place?.column === column.id ? place : undefined,
  );
  const isLifted = card !== undefined && how === "pointer" &&
    card.column === column.id;
  const [version, turn] = useState({});
  const current = useRef(new Map<string, number>()).current;
  const rows = useMemo(
    () => isLifted ? shown.filter(({ id }) => id !== card.id) : shown,
    [shown, isLifted, card?.id],
  );
  const { layout, gapTop } = useMemo(() => {
    const ids = rows.map(({ id }) => id);
    if (place === undefined) return { layout: layOut(ids, current), gapTop: 0 };
    const found = ids.indexOf(place.before ?? "");
    const at = found === -1 ? ids.length : found;
    const plain = layOut(ids, current);
    const layout = layOut(ids, current, { at, height });
    return { layout, gapTop: plain.tops[at]! };
  }, [rows, place, height, version]);
  const isHere = place !== undefined;
  return {
    layout,
    rows,
    lifted: isLifted ? shown.find(({ id }) => id === card.id) : undefined,
    drag: { isHere, gapTop, height },
    heights: { current, changed: () => turn({}) },
  };
}

/** Which rows can be seen; follows scrolling and the window's size. */
function useVisible(
  list: { readonly current: HTMLElement | null },
  layout: Layout,
): readonly [number, number] {
  const [view, look] = useState({ top: 0, height: 900 });
  useLayoutEffect(() => {
    const element = list.current!;
    const read = () =>
      look((last) => {
        const { scrollTop: top, clientHeight: height } = element;
        const isNear = Math.abs(top - last.top) < 120 && height === last.height;
        return isNear ? last : { top, height };
      });
    read();
    const sizes = new ResizeObserver(read);
    sizes.observe(element);
    element.addEventListener("scroll", read, { passive: true });
    return () => {
      sizes.disconnect();
      element.removeEventListener("scroll", read);
    };
  }, []);
  return visibleRows(layout, view.top, view.height);
}

/** Measures what is in the page after each render. */
function useMeasured(
  list: { readonly current: HTMLElement | null },
  heights: Map<string, number>,
  changed: () => void,
): void {
  const width = useRef(0);
  useLayoutEffect(() => {
    const element = list.current!;
    if (width.current !== element.clientWidth) {
      width.current = element.clientWidth;
      heights.clear();
    }
    let isChanged = false;
    for (const row of element.querySelectorAll<HTMLElement>("[data-row]")) {
      const id = row.dataset["row"]!;
      if (heights.get(id) === row.offsetHeight) continue;
      heights.set(id, row.offsetHeight);
      isChanged = true;
    }
    if (isChanged) changed();
  });
}
