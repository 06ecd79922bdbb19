/**
 * One row of a table as bars by engine, grouped by durability.
 *
 * The chart is a table itself: each bar stands beside its engine and its
 * figure, so that who cannot see it reads the same.
 *
 * @module
 */

import type { Durability, Figure, Unit } from "../harness/figure.ts";
import { barScale, type Scale } from "./axis.ts";
import { html, type Markup } from "./markup.ts";
import { numberOf, type Scene } from "./scene.ts";
import { durabilityWords, engineLabel, isOurs, showValue } from "./show.ts";
import {
  isSound,
  showTimes,
  type Standing,
  standingsOf,
  standingWords,
} from "./standing.ts";

/** What a bar shows of a figure. */
export interface Measure {
  readonly unit: Unit;
  readonly isMoreBetter: boolean;
  readonly of: (figure: Figure) => number | null;
}

const strongestFirst: readonly Durability[] = [
  "fsync",
  "written",
  "queued",
  "memory",
  "none",
];

/** The card of one row: its name, its bars. */
export function barCard(
  scene: Scene,
  title: string,
  row: readonly Figure[],
): Markup {
  const first = row[0];
  if (first === undefined) return html``;
  const { unit, isMoreBetter } = first;
  const measure: Measure = { unit, isMoreBetter, of: ({ median }) => median };
  return html`<article class="card"><h4>${title}</h4>${
    barTable(scene, title, row, measure)
  }</article>`;
}

/** The bars of some figures, by any measure of them. */
export function barTable(
  scene: Scene,
  title: string,
  row: readonly Figure[],
  measure: Measure,
): Markup {
  const values = row.filter(isCounted).map((figure) => measure.of(figure) ?? 0);
  const before = row.map((figure) => scene.then(figure))
    .flatMap((then) => then !== undefined ? [measure.of(then) ?? 0] : []);
  const scale = barScale([...values, ...before]);
  const groups = strongestFirst.map((durability) => ({
    durability,
    figures: ordered(row, measure).filter((one) =>
      one.durability === durability
    ),
  })).filter(({ figures }) => figures.length > 0);
  const stood = new Map(
    standingsOf(row.map((figure) => measured(figure, measure))).map((one) =>
      [one.ours.engine, one] as const
    ),
  );
  const rivals = new Set(
    [...stood.values()].map(({ rival }) => rival?.engine),
  );
  return html`
    <table
      class="bars">${columns}<caption class="unseen">${title}</caption>${headOf(
        measure,
      )}${groups
        .map(({ durability, figures }) =>
          html`<tbody>${
            groups.length > 1 || durability !== "none"
              ? html`
                <tr class="group">
                  <th colspan="4" scope="rowgroup"><b>${durability}</b> ${durabilityWords[
                    durability
                  ]}</th>
                </tr>
              `
              : undefined
          }${
            figures.map((one) =>
              barRow(scene, one, measure, scale, {
                isBest: rivals.has(one.engine),
                standing: stood.get(one.engine),
              })
            )
          }</tbody>`
        )}</table>${notes(scale, measure)}
  `;
}

/** How an engine stands in the measure that is shown. */
interface Place {
  /** Is it a rival that one of ours is held against? */
  readonly isBest: boolean;
  readonly standing: Standing | undefined;
}

/** A figure as if what is shown of it were its median, so that it stands by that. */
function measured(figure: Figure, measure: Measure): Figure {
  const { unit, isMoreBetter } = measure;
  return { ...figure, unit, isMoreBetter, median: measure.of(figure) };
}

const columns = html`
  <colgroup>
    <col class="c-name">
    <col>
    <col class="c-num">
    <col class="c-chip">
  </colgroup>
`;

function headOf({ isMoreBetter }: Measure): Markup {
  const figure = isMoreBetter ? "more is better" : "less is better";
  return html`
    <thead class="unseen">
      <tr>
        <th scope="col">engine</th>
        <th scope="col">chart</th>
        <th scope="col">${figure}</th>
        <th scope="col">beside the best rival</th>
      </tr>
    </thead>
  `;
}

/** Best first; what has no figure last. */
function ordered(row: readonly Figure[], measure: Measure): Figure[] {
  const cost = (figure: Figure): number => {
    const value = isCounted(figure) ? measure.of(figure) : null;
    if (value === null) return Infinity;
    return measure.isMoreBetter ? -value : value;
  };
  return [...row].sort((a, b) => {
    const [x, y] = [cost(a), cost(b)];
    return x === y ? 0 : x < y ? -1 : 1;
  });
}

/** A wrong figure has a number and no bar. */
function isCounted(figure: Figure): boolean {
  return isSound(figure);
}

function barRow(
  scene: Scene,
  figure: Figure,
  measure: Measure,
  scale: Scale,
  place: Place,
): Markup {
  const number = numberOf(scene, figure.engine);
  const name = html`<th scope="row">${engineLabel(figure.engine)}</th>`;
  const value = measure.of(figure);
  if (!isCounted(figure) || value === null) {
    return html`
      <tr data-e="${number}"
        class="off">${name}<td colspan="3">${troubleOf(figure)}</td></tr>
    `;
  }
  const { standing } = place;
  const kind = isOurs(figure.engine)
    ? `ours ${
      figure.engine.includes("fast")
        ? "ours-fast"
        : figure.engine.includes("trusted")
        ? "ours-trusted"
        : "ours-default"
    }`
    : place.isBest
    ? "best"
    : "rival";
  return html`
    <tr data-e="${number}"
      class="${kind}">${name}<td class="bar">${bar(
        scene,
        figure,
        measure,
        scale,
        value,
      )}</td><td class="num">${showValue(
        value,
        measure.unit,
      )}</td><td class="chip-cell">${standing === undefined
        ? undefined
        : chip(standing)}</td></tr>
  `;
}

/** Drawn rather than styled, so that it prints. */
function bar(
  scene: Scene,
  figure: Figure,
  measure: Measure,
  scale: Scale,
  value: number,
): Markup {
  const width = Math.max(0.6, scale.place(value) * 100);
  const then = scene.then(figure);
  const earlier = then !== undefined && isSound(then) ? measure.of(then) : null;
  const tail = measure.of({ ...figure, median: figure.p99 });
  const isLatency = measure.unit === "ms" && tail !== value && tail !== null;
  const end = isLatency ? scale.place(tail ?? value) * 100 : width;
  return html`
    <svg viewBox="0 0 100 14" preserveAspectRatio="none"
      aria-hidden="true">${scale.marks.map((mark) =>
        html`
          <rect class="mark" x="${scale.place(mark) *
            100}" y="0" width="0.3" height="14" />
        `
      )}<rect class="fill" x="0" y="${earlier === null
        ? 3
        : 1}" width="${width}" height="8"/>${end > width
        ? html`
          <rect class="tail" x="${width}" y="${earlier === null
            ? 6.4
            : 4.4}" width="${end - width}"
            height="1.2" />
        `
        : undefined}${earlier === null ? undefined : html`
        <rect class="then" x="0" y="10.5" width="${Math.max(
          0.6,
          scale.place(earlier) * 100,
        )}" height="2.5" />
      `}</svg>
  `;
}

/** How a figure of ours stands, in two words. */
export function chip(standing: Standing): Markup | undefined {
  const { verdict, ratio } = standing;
  if (verdict === "alone" || ratio === null) return undefined;
  const text = verdict === "level"
    ? "level"
    : verdict === "ahead"
    ? `${showTimes(1 / ratio)} ahead`
    : `${showTimes(ratio)} behind`;
  return html`<span class="chip ${verdict}" title="${
    standingWords(standing)
  }">${text}</span>`;
}

/** Why there is no bar. */
export function troubleOf(figure: Figure): Markup {
  if (figure.wrong !== undefined) {
    return html`<b class="wrong">wrong</b> ${figure.wrong}`;
  }
  if (figure.failed !== undefined) {
    return html`<b class="wrong">failed</b> ${figure.failed}`;
  }
  return html`<b>skipped</b> ${figure.skipped ?? "no figure"}`;
}

function notes(scale: Scale, measure: Measure): Markup {
  const words = [
    measure.isMoreBetter ? "longer is better" : "shorter is better",
    ...scale.isLog ? ["by powers of ten"] : [],
    ...measure.unit === "ms" ? ["thin line: 99th percentile"] : [],
  ];
  return html`<p class="note">${words.join(" · ")}</p>`;
}
