/**
 * The newest commits of a repository as a graph: who signed what, after what.
 */

import type { CommitSummary } from "../db/history.ts";
import type { Repository } from "../db/repository.ts";
import { clockOf, element, shape, type View } from "./element.ts";
import { type Graph, type GraphRow, layOut } from "./lanes.ts";

/** As many as a person looks through. */
const COMMITS_MAX = 200;
const ROW = 22;
const LANE = 14;
const COLOURS = 8;

export class CommitsView implements View {
  readonly title = "Commits";
  readonly element: HTMLElement = element("div", { class: "commits" });
  readonly #chosen: () => Repository | undefined;
  #shown = "";

  constructor(chosen: () => Repository | undefined) {
    this.#chosen = chosen;
  }

  draw(): void {
    const repository = this.#chosen();
    const commits = repository?.history({ limit: COMMITS_MAX }) ?? [];
    const shown = `${repository?.name} ${commits.length} ${
      commits.at(-1)?.commit
    }`;
    if (shown === this.#shown) return;
    this.#shown = shown;
    if (commits.length === 0) {
      this.element.replaceChildren(element("p", {}, "No commits yet."));
      return;
    }
    const graph = layOut(commits);
    this.element.replaceChildren(
      drawing(graph),
      element(
        "ol",
        { style: `margin-left:${graph.lanes * LANE + 12}px` },
        ...graph.rows.map(line),
      ),
    );
  }
}

function drawing({ rows, lanes }: Graph<CommitSummary>): Element {
  const height = rows.length * ROW;
  const x = (lane: number) => lane * LANE + LANE / 2 + 2;
  const y = (row: number) => row * ROW + ROW / 2;
  const lines = rows.flatMap(({ lane, edges }, row) =>
    edges.map((edge) =>
      shape("path", {
        class: `lane${edge.lane % COLOURS}`,
        d: curve(x(lane), y(row), x(edge.lane), y(edge.row)),
      })
    )
  );
  const dots = rows.map(({ lane }, row) =>
    shape("circle", {
      class: `lane${lane % COLOURS}`,
      cx: x(lane),
      cy: y(row),
      r: 4,
    })
  );
  const size = { width: lanes * LANE + 8, height };
  return shape("svg", { ...size, "aria-hidden": "true" }, ...lines, ...dots);
}

function curve(x: number, y: number, toX: number, toY: number): string {
  if (x === toX) return `M${x} ${y}V${toY}`;
  const bend = Math.min(ROW, (toY - y) / 2);
  return `M${x} ${y}C${x} ${y + bend} ${toX} ${y} ${toX} ${y + bend}V${toY}`;
}

function line({ commit, lane }: GraphRow<CommitSummary>): HTMLElement {
  const { user, at, chain, number } = commit;
  return element(
    "li",
    { style: `height:${ROW}px`, title: commit.commit },
    element("time", { datetime: at.toISOString() }, timeOf(at)),
    element("b", { class: `lane${lane % COLOURS}` }, user ?? "unknown"),
    element("span", { class: "what" }, what(commit)),
    element("code", {}, `${chain}·${number}`),
  );
}

/** To the second today; with its day and to the minute before. */
export function timeOf(at: Date): string {
  if (at.toDateString() === new Date().toDateString()) return clockOf(at);
  return at.toLocaleString(undefined, {
    month: "short",
    day: "2-digit",
    hour: "2-digit",
    minute: "2-digit",
    hourCycle: "h23",
  });
}

export function what(
  { operations }: Pick<CommitSummary, "operations">,
): string {
  const [first, ...others] = operations;
  if (first === undefined) return "nothing: a new chain, or a place in it";
  const fields = first.what === "update"
    ? ` ${first.fields.map(({ name }) => name).join(", ")}`
    : "";
  const more = others.length > 0 ? ` and ${others.length} more` : "";
  return `${first.what} ${first.collection}/${first.id}${fields}${more}`;
}
