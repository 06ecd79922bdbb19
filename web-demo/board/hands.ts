/**
 * What hands do on a board: pressing, opening, keys.
 *
 * @module
 */

import {
  cardsOf,
  columnsOf,
  mayChange,
  moveCard,
  type Place,
} from "../data/actions.ts";
import type { Team } from "../data/open.ts";
import type { CardItem } from "../data/schema.ts";
import { announce, attempt, tell } from "../state/say.ts";
import { openPalette } from "../panels/palette.tsx";
import { showCard, toggled, ui } from "../state/ui.ts";
import { dragging, press, rest } from "./drag.ts";

/** What tiles and columns call. */
export interface BoardHands {
  press(
    event: PointerEvent & { currentTarget: EventTarget },
    isPast: boolean,
  ): void;
  open(card: CardItem): void;
  keys(event: KeyboardEvent, card: CardItem, isPast: boolean): void;
  /** Opens the place to write a new card in a column; `undefined` closes it. */
  compose(column: string | undefined): void;
}

/** Makes the hands of a board. */
export function handsOf(
  team: Team,
  compose: BoardHands["compose"],
): BoardHands {
  const drop = (card: CardItem, place: Place) => {
    attempt(() => moveCard(team, card.id, place));
  };
  return {
    compose,
    open: (card) => {
      if (dragging.get().card === undefined) showCard(card.board, card.id);
    },
    press(event, isPast) {
      const tile = event.currentTarget;
      if (isPast || !(tile instanceof HTMLElement)) return;
      press(event, tile, {
        cardOf: (id) => movable(team, id),
        drop,
        lifted: (card) => announce(`Picked up ${card.title}`),
      });
    },
    keys: (event, card, isPast) => onKey(team, event, card, isPast, compose),
  };
}

/** The card, where the rules let it be moved; else they say why not. */
function movable(team: Team, id: string): CardItem | undefined {
  const card = team.cards.get(id);
  if (card === undefined) return undefined;
  const decision = mayChange(team, card);
  if (decision.allowed) return card;
  tell(decision.reason, { tone: "warning" });
  announce(decision.reason);
  return undefined;
}

function onKey(
  team: Team,
  event: KeyboardEvent,
  card: CardItem,
  isPast: boolean,
  compose: BoardHands["compose"],
): void {
  if (event.altKey || event.ctrlKey || event.metaKey) return;
  const held = dragging.get().card;
  const isHeld = held?.id === card.id && dragging.get().how === "keys";
  if (event.key === " " && !isPast) {
    event.preventDefault();
    if (isHeld) letGo(team, card);
    else pickUp(team, card);
  } else if (isHeld && event.key === "Escape") {
    event.preventDefault();
    rest();
    announce(`Put back ${card.title}`);
  } else if (isHeld && event.key === "Enter") {
    event.preventDefault();
    letGo(team, card);
  } else if (event.key.startsWith("Arrow")) {
    event.preventDefault();
    if (isHeld) carry(team, card, event.key);
    else walk(card, event.key);
  } else if (!isPast && event.key in cardKeys) {
    event.preventDefault();
    cardKeys[event.key]!(card, compose);
  }
}

/** What letters do to the card in focus; `a` and `l` to all that are picked, where it is one of them. */
const cardKeys: Readonly<
  Record<string, (card: CardItem, compose: BoardHands["compose"]) => void>
> = {
  n: ({ column }, compose) => compose(column),
  x: ({ id, title }) => {
    const picked = toggled(ui.get().picked, id);
    ui.set({ picked });
    announce(
      `${picked.has(id) ? "Picked" : "Left"} ${title}, ${picked.size} picked`,
    );
  },
  a: ({ id }) => openPalette({ what: "assignees", cards: withPicked(id) }),
  l: ({ id }) => openPalette({ what: "labels", cards: withPicked(id) }),
};

function withPicked(id: string): readonly string[] {
  const { picked } = ui.get();
  return picked.has(id) ? [...picked] : [id];
}

function pickUp(team: Team, id: CardItem): void {
  const card = movable(team, id.id);
  if (card === undefined) return;
  const tile = tileOf(card.id);
  const height = tile?.offsetHeight ?? 60;
  const cards = cardsOf(team, card.column);
  const at = cards.findIndex((each) => each.id === card.id);
  const before = cards[at + 1]?.id;
  dragging.set({
    card,
    how: "keys",
    height,
    width: tile?.offsetWidth ?? 260,
    place: { column: card.column, before },
    grip: { x: 0, y: 0 },
  });
  announce(
    `Picked up ${card.title}. Arrows move it, Space drops it, Escape puts it back.`,
  );
}

/** Moves the place where a held card would land. */
function carry(team: Team, card: CardItem, key: string): void {
  const { place } = dragging.get();
  if (place === undefined) return;
  const columns = columnsOf(team, card.board);
  const at = columns.findIndex(({ id }) => id === place.column);
  const step = key === "ArrowLeft" ? -1 : key === "ArrowRight" ? 1 : 0;
  const column = columns[at + step] ?? columns[at];
  if (column === undefined) return;
  const cards = cardsOf(team, column.id).filter(({ id }) => id !== card.id);
  const found = cards.findIndex(({ id }) => id === place.before);
  const index = step === 0
    ? found === -1 ? cards.length : found
    : Math.min(indexOfPlace(team, place, card.id), cards.length);
  const move = key === "ArrowUp" ? -1 : key === "ArrowDown" ? 1 : 0;
  const next = Math.max(0, Math.min(cards.length, index + move));
  dragging.set({ place: { column: column.id, before: cards[next]?.id } });
  announce(`${column.name}, place ${next + 1} of ${cards.length + 1}`);
  requestAnimationFrame(() =>
    document.querySelector(".gap")?.scrollIntoView({
      block: "nearest",
      inline: "nearest",
    })
  );
}

function indexOfPlace(team: Team, place: Place, moving: string): number {
  const cards = cardsOf(team, place.column).filter(({ id }) => id !== moving);
  const found = cards.findIndex(({ id }) => id === place.before);
  return found === -1 ? cards.length : found;
}

function letGo(team: Team, card: CardItem): void {
  const { place } = dragging.get();
  rest();
  if (place === undefined) return;
  attempt(() => moveCard(team, card.id, place));
  const name = team.columns.get(place.column)?.name ?? "";
  announce(`Dropped ${card.title} in ${name}`);
  focusCard(card.id);
}

/** Brings the focus to a card once it is in the page. */
export function focusCard(id: string): void {
  requestAnimationFrame(() => requestAnimationFrame(() => tileOf(id)?.focus()));
}

function tileOf(id: string): HTMLElement | null {
  return document.querySelector(`[data-card="${CSS.escape(id)}"]`);
}

/** Walks from card to card. */
function walk(card: CardItem, key: string): void {
  const row = tileOf(card.id)?.closest("li");
  const lane = row?.closest("[data-lane]");
  if (!row || !lane) return;
  if (key === "ArrowUp" || key === "ArrowDown") {
    const next = key === "ArrowUp"
      ? row.previousElementSibling
      : row.nextElementSibling;
    next?.querySelector<HTMLElement>(".tile")?.focus();
    return;
  }
  const lanes = [...document.querySelectorAll("[data-lane]")];
  const step = key === "ArrowLeft" ? -1 : 1;
  const middle = row.getBoundingClientRect().top;
  for (let at = lanes.indexOf(lane) + step; lanes[at]; at += step) {
    const tiles = [...lanes[at]!.querySelectorAll<HTMLElement>(".tile")];
    const nearest = tiles.sort((a, b) =>
      Math.abs(a.getBoundingClientRect().top - middle) -
      Math.abs(b.getBoundingClientRect().top - middle)
    )[0];
    if (nearest === undefined) {
      continue;
    }
    nearest.focus();
    return;
  }
}
