/**
 * The table behind the charts: every figure with all that is known of it.
 *
 * @module
 */

import type { Figure, Target } from "../harness/figure.ts";
import { chip, troubleOf } from "./bars.ts";
import { html, type Markup } from "./markup.ts";
import { numberOf, type Scene } from "./scene.ts";
import { engineLabel, showShare, showValue } from "./show.ts";
import { isMet, isSound, targetsOf } from "./standing.ts";

interface Column {
  readonly head: string;
  readonly title?: string;
  readonly cell: (figure: Figure) => string;
}

const always: readonly Column[] = [
  { head: "median", cell: ({ median, unit }) => showValue(median, unit) },
  { head: "p75", cell: ({ p75, unit }) => showValue(p75, unit) },
  { head: "p99", cell: ({ p99, unit }) => showValue(p99, unit) },
  { head: "p99.5", cell: ({ p995, unit }) => showValue(p995, unit) },
  { head: "max", cell: ({ max, unit }) => showValue(max, unit) },
  {
    head: "spread",
    title:
      "greatest less least median of the repetitions, as a share of the median",
    cell: ({ spread }) => showShare(spread),
  },
  {
    head: "samples",
    title: "single measurements, and fresh processes that gave them",
    cell: ({ samples, repetitions }) =>
      `${samples.toLocaleString("en")} / ${repetitions}`,
  },
];

/** Shown where at least one figure has it. */
const sometimes: readonly (Column & {
  readonly isThere: (figure: Figure) => boolean;
})[] = [
  {
    head: "rate",
    isThere: ({ beside }) => beside.perSecond !== undefined,
    cell: ({ beside }) => showValue(beside.perSecond ?? null, "per s"),
  },
  {
    head: "per CPU s",
    title: "operations per CPU second of all processes",
    isThere: ({ beside }) => beside.perCpuSecond !== undefined,
    cell: ({ beside }) => showValue(beside.perCpuSecond ?? null, "per s"),
  },
  {
    head: "memory",
    title: "greatest resident memory of all processes",
    isThere: ({ beside }) => beside.peakBytes !== undefined,
    cell: ({ beside }) => showValue(beside.peakBytes ?? null, "B"),
  },
  {
    head: "floor",
    title:
      "the least: what the bare wire and disk, or an empty process, took in this run",
    isThere: ({ floor }) => floor !== undefined,
    cell: ({ floor, unit }) => showValue(floor ?? null, unit),
  },
  {
    head: "target",
    isThere: (figure) => targetsOf(figure).length > 0,
    cell: targetText,
  },
];

/** Targets with their verdict: `≤ 0.8 ms, p99 ≤ 5.00 ms met`. */
export function targetText(figure: Figure): string {
  const goals = targetsOf(figure).map((target) => goalText(figure, target));
  if (goals.length === 0) return "";
  return `${goals.join(", ")} ${isMet(figure) === true ? "met" : "MISSED"}`;
}

function goalText({ unit, isMoreBetter }: Figure, target: Target): string {
  const isRatio = target.of === "ratio";
  const side = isMoreBetter && !isRatio ? "≥" : "≤";
  const value = isRatio ? `${target.value}` : showValue(target.value, unit);
  return `${target.of === "median" ? "" : `${target.of} `}${side} ${value}`;
}

/** All figures of a table, folded away. */
export function figuresTable(
  scene: Scene,
  figures: readonly Figure[],
): Markup {
  const columns = [
    ...always,
    ...sometimes.filter(({ isThere }) => figures.some(isThere)),
  ];
  return html`
    <details class="figures">
      <summary>All figures as a table</summary>
      <div class="scroll" tabindex="0"
        role="region" aria-label="All figures">
        <table>
          <thead>
            <tr><th scope="col">operation</th><th
        scope="col">engine</th><th scope="col">durability</th>${columns.map(
          ({ head, title }) =>
            html`<th scope="col" class="num" title="${
              title ?? head
            }">${head}</th>`,
        )}<th scope="col">standing</th></tr>
          </thead>
          <tbody>${figures.map((
            figure,
            at,
          ) => figureRow(scene, figure, figures[at - 1], columns))}</tbody>
        </table>
      </div>
    </details>
  `;
}

function figureRow(
  scene: Scene,
  figure: Figure,
  before: Figure | undefined,
  columns: readonly Column[],
): Markup {
  const standing = scene.standing(figure);
  const isNew = before?.operation !== figure.operation;
  return html`
    <tr data-e="${numberOf(scene, figure.engine)}"
      class="${isNew ? "first" : ""}"><td>${figure
        .operation}</td><th scope="row">${engineLabel(
          figure.engine,
        )}</th><td>${figure.durability}</td>${isSound(figure)
        ? [
          columns.map((column) =>
            html`<td class="num">${column.cell(figure)}</td>`
          ),
          html`<td>${standing === undefined ? undefined : chip(standing)}</td>`,
        ]
        : html`<td colspan="${columns.length + 1}">${
          troubleOf(figure)
        }</td>`}</tr>
  `;
}
