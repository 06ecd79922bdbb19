/** Items as a table: a column for each field, a row for each item. */

import { element } from "./element.ts";
import { textOf, type TypedField } from "./values.ts";

/** A cell shows the beginning; an item may be large. */
const CELL_CHARACTERS_MAX = 200;

type Row = Readonly<Record<string, unknown>>;

export interface Column extends TypedField {
  readonly name: string;
}

/** @param open where it is given, ids are buttons that open their items */
export function itemTable(
  columns: readonly Column[],
  rows: readonly Row[],
  open?: (id: string) => void,
  opened?: string,
): HTMLElement {
  const names = ["id", ...columns.map(({ name }) => name)];
  const head = names.map((name) => element("th", { scope: "col" }, name));
  return element(
    "table",
    { class: "items" },
    element("tr", {}, ...head),
    ...rows.map((row) => {
      const id = String(row["id"]);
      const name = open === undefined ? id : element("button", {
        "aria-current": id === opened,
        onclick: () => open(id),
      }, id);
      return element(
        "tr",
        {},
        element("th", { scope: "row" }, name),
        ...columns.map((column) => cell(textOf(row[column.name], column))),
      );
    }),
  );
}

function cell(text: string): HTMLElement {
  const shown = text.length > CELL_CHARACTERS_MAX
    ? `${text.slice(0, CELL_CHARACTERS_MAX).toWellFormed()}…`
    : text;
  return element("td", { title: shown }, shown);
}

/** Puts the focus on an item's button, where it is shown. */
export function focusRow(place: HTMLElement, id: string): void {
  for (const button of place.querySelectorAll("button")) {
    if (button.textContent === id) return button.focus();
  }
}

/** Draws rows anew, and leaves the focus on the item that had it. */
export function keepRow(place: HTMLElement, draw: () => void): void {
  const { activeElement } = place.getRootNode() as ShadowRoot;
  const id = place.contains(activeElement) && activeElement !== place
    ? activeElement?.textContent
    : undefined;
  draw();
  if (typeof id === "string") focusRow(place, id);
}
