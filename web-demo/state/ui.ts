/**
 * What this page shows: which board, which card, which filter, which moment.
 * The address holds board and card, so that both can be shared and gone back
 * from.
 *
 * @module
 */

import { Store } from "./store.ts";

/** When cards are due. */
export type DueFilter = "any" | "overdue" | "week" | "none";

/** Which cards are shown. */
export interface Filter {
  readonly text: string;
  readonly labels: ReadonlySet<string>;
  readonly people: ReadonlySet<string>;
  readonly due: DueFilter;
}

/** A panel that lies over the board. */
export type Panel = "sync" | "people" | "keys" | "me" | "filter" | "new-board";

/** What the palette is asked for: anything, or people or labels for cards. */
export type PaletteAsks =
  | { readonly what: "all" }
  | {
    readonly what: "assignees" | "labels";
    readonly cards: readonly string[];
  };

/** What this page shows. */
export interface Ui {
  readonly board: string | undefined;
  readonly card: string | undefined;
  readonly filter: Filter;
  readonly panel: Panel | undefined;
  readonly palette: PaletteAsks | undefined;
  /** Cards that keys act on together. */
  readonly picked: ReadonlySet<string>;
  /** The moment that is looked at, milliseconds since 1970; `undefined` is now. */
  readonly moment: number | undefined;
}

/** Shows everything. */
export const noFilter: Filter = {
  text: "",
  labels: new Set(),
  people: new Set(),
  due: "any",
};

/** What this page shows. */
export const ui: Store<Ui> = new Store<Ui>({
  ...readAddress(),
  filter: noFilter,
  panel: undefined,
  palette: undefined,
  picked: new Set(),
  moment: undefined,
});

function readAddress(): Pick<Ui, "board" | "card"> {
  const parts = location.hash.replace(/^#\/?/, "").split("/");
  const [board, card] = parts.map(decodeURIComponent);
  return { board: board || undefined, card: card || undefined };
}

globalThis.addEventListener("hashchange", () => {
  const { board, card } = readAddress();
  const before = ui.get();
  if (before.board === board && before.card === card) return;
  const picked = before.board === board ? before.picked : new Set<string>();
  ui.set({ board, card, panel: undefined, picked });
});

function addressOf(board: string, card?: string): string {
  const parts = card === undefined ? [board] : [board, card];
  return `#/${parts.map(encodeURIComponent).join("/")}`;
}

/** Shows a board. */
export function showBoard(board: string): void {
  location.hash = addressOf(board);
}

/** Shows a card over its board. */
export function showCard(board: string, card: string): void {
  location.hash = addressOf(board, card);
}

/** Closes the card that is shown. */
export function hideCard(): void {
  const { board } = ui.get();
  if (board !== undefined) location.hash = addressOf(board);
}

/** Changes the filter. */
export function filterBy(change: Partial<Filter>): void {
  ui.set({ filter: { ...ui.get().filter, ...change } });
}

/** Puts a value into a set of the filter, or takes it out. */
export function toggled(
  set: ReadonlySet<string>,
  value: string,
): ReadonlySet<string> {
  const next = new Set(set);
  if (!next.delete(value)) next.add(value);
  return next;
}

/** Does the filter leave anything out? */
export function isFiltering({ text, labels, people, due }: Filter): boolean {
  return text.trim() !== "" || labels.size > 0 || people.size > 0 ||
    due !== "any";
}

/** Opens a panel, or closes it. */
export function togglePanel(panel: Panel): void {
  ui.set({ panel: ui.get().panel === panel ? undefined : panel });
}
