/**
 * Live queries and what they cost: how often each was kept up to date, and how
 * long that took.
 */

import type { LiveCost } from "../db/observe.ts";
import { element, type View } from "./element.ts";
import { formatMs } from "./latencies.ts";

/** The dearest ones are enough. */
const ROWS_MAX = 100;
const COLUMNS = [
  "collection",
  "asks",
  "rows",
  "changes",
  "last",
  "mean",
  "max",
];

export class QueriesView implements View {
  readonly title = "Live queries";
  readonly element: HTMLElement = element("div", { class: "queries" });
  readonly #costs: () => readonly LiveCost[];

  constructor(costs: () => readonly LiveCost[]) {
    this.#costs = costs;
  }

  draw(): void {
    const costs = this.#costs().toSorted((a, b) => b.totalMs - a.totalMs);
    const head = COLUMNS.map((text) => element("th", { scope: "col" }, text));
    this.element.replaceChildren(
      element("p", {}, summary(costs)),
      element(
        "table",
        {},
        element("tr", {}, ...head),
        ...costs.slice(0, ROWS_MAX).map(row),
      ),
    );
  }
}

function summary(costs: readonly LiveCost[]): string {
  const totalMs = costs.reduce((sum, cost) => sum + cost.totalMs, 0);
  return `${costs.length} live, ${
    formatMs(totalMs)
  } since the inspector opened`;
}

function row(cost: LiveCost): HTMLElement {
  const { collection, asks, rows, changes, lastMs, totalMs, maxMs } = cost;
  const mean = changes === 0 ? 0 : totalMs / changes;
  const times = [lastMs, mean, maxMs].map((ms) =>
    changes === 0 ? "–" : formatMs(ms)
  );
  return element(
    "tr",
    {},
    element("th", { scope: "row" }, collection),
    element("td", { class: "asks" }, asks),
    ...[rows, changes, ...times].map((cell) => element("td", {}, cell)),
  );
}
