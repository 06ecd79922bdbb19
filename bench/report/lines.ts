/**
 * Charts of lines: how latency is spread, and how it grows with the collection.
 *
 * @module
 */

import { distributionPoints, type Figure } from "../harness/figure.ts";
import { logScale, type Scale } from "./axis.ts";
import { growthsOf, showExponent } from "./growth.ts";
import { html, type Markup } from "./markup.ts";
import { colourOf, legend, numberOf, type Scene } from "./scene.ts";
import { engineLabel, isOurs, showSize, showValue } from "./show.ts";
import { isSound } from "./standing.ts";

/** The drawing's measures: one to one on a phone, larger elsewhere. */
const frame = {
  width: 360,
  height: 220,
  left: 52,
  right: 14,
  top: 12,
  bottom: 30,
};

interface Line {
  readonly engine: string;
  readonly points: readonly (readonly [x: number, y: number])[];
}

interface Mark {
  readonly at: number;
  readonly text: string;
}

/** Shares shown below a distribution; each further one is ten times rarer. */
const shareMarks: readonly (readonly [number, string])[] = [
  [0, ""],
  [0.5, "50 %"],
  [0.9, "90 %"],
  [0.99, "99 %"],
  [0.999, "99.9 %"],
];
/** Rarer than all others: the worst of all samples stands at the right edge. */
const shareWorst = 0.9999;

/** How the latency of one row is spread; `undefined` with fewer than two engines to show. */
export function distributionChart(
  scene: Scene,
  title: string,
  row: readonly Figure[],
): Markup | undefined {
  const shown = row.filter((figure) =>
    isSound(figure) && figure.unit === "ms" &&
    figure.distribution.length === distributionPoints.length
  );
  if (shown.length < 2) return undefined;
  const all = shown.flatMap((figure) => figure.distribution)
    .filter((value) => value > 0);
  if (all.length === 0) return undefined;
  const y = logScale(Math.min(...all), Math.max(...all));
  const lines = shown.map(({ engine, distribution }): Line => ({
    engine,
    points: distribution.map((value, at) => [
      placeOfShare(distributionPoints[at] ?? 0),
      y.place(value),
    ]),
  }));
  return chart(scene, {
    title,
    says: `${title}: latency by share of the calls, for ${
      shown.map(sayMedian).join("; ")
    }`,
    lines,
    below: shareMarks.map(([share, text]) => ({
      at: placeOfShare(share),
      text,
    })),
    beside: marksOf(y),
    guides: [],
  });
}

/** Each nine takes as much room as the one before. */
export function placeOfShare(share: number): number {
  const nines = (part: number): number =>
    -Math.log10(1 - Math.min(part, shareWorst));
  return nines(share) / nines(shareWorst);
}

/** How one row grows with the collection; `undefined` where there are not two sizes. */
export function curveChart(
  scene: Scene,
  title: string,
  figures: readonly Figure[],
): Markup | undefined {
  const shown = figures.filter((figure) =>
    isSound(figure) && (figure.median ?? 0) > 0
  );
  const sizes = [...new Set(shown.map(({ size }) => size))].sort((a, b) =>
    a - b
  );
  const [least, most] = [sizes[0], sizes.at(-1)];
  const unit = shown[0]?.unit;
  if (
    least === undefined || most === undefined || least === most ||
    unit === undefined
  ) {
    return undefined;
  }
  const medians = shown.map(({ median }) => median ?? 0);
  const x = logScale(least, most);
  const y = logScale(Math.min(...medians) / 1.5, Math.max(...medians) * 1.5);
  const engines = [...new Set(shown.map(({ engine }) => engine))];
  const lines = engines.map((engine): Line => ({
    engine,
    points: shown.filter((one) => one.engine === engine)
      .sort((a, b) => a.size - b.size)
      .map(({ size, median }) => [x.place(size), y.place(median ?? 0)]),
  })).filter(({ points }) => points.length > 1);
  if (lines.length === 0) return undefined;
  const says = `${title}, by items in the database: ${
    engines.map((engine) => sayGrowth(shown, engine)).join("; ")
  }`;
  return chart(scene, {
    title,
    says,
    lines,
    below: sizes.map((size) => ({ at: x.place(size), text: showSize(size) })),
    beside: marksOf(y, unit),
    guides: guidesOf(shown, x, y, least, most),
  });
}

/** Lines of constant, logarithmic and linear growth from where ours begins. */
function guidesOf(
  shown: readonly Figure[],
  x: Scale,
  y: Scale,
  least: number,
  most: number,
): {
  readonly name: string;
  readonly points: readonly (readonly [number, number])[];
}[] {
  const first =
    shown.find(({ engine, size }) => isOurs(engine) && size === least) ??
      shown.find(({ size }) => size === least);
  const start = first?.median ?? null;
  if (start === null) return [];
  const growths: readonly (readonly [string, (size: number) => number])[] = [
    ["O(1)", () => 1],
    ["O(log n)", (size) => Math.log(size) / Math.log(least)],
    ["O(n)", (size) => size / least],
  ];
  // A rate falls where a time grows.
  const turn = first?.isMoreBetter === true ? -1 : 1;
  const steps = 24;
  return growths.map(([name, growth]) => {
    const points: (readonly [number, number])[] = [];
    for (let step = 0; step <= steps; step++) {
      const size = least * (most / least) ** (step / steps);
      const at = y.place(start * growth(size) ** turn);
      points.push([x.place(size), at]);
      // Beyond the frame there is nothing to see.
      if (at >= 1 || at <= 0) break;
    }
    return { name, points };
  });
}

interface Chart {
  readonly title: string;
  /** What who cannot see it hears. */
  readonly says: string;
  readonly lines: readonly Line[];
  readonly below: readonly Mark[];
  readonly beside: readonly Mark[];
  readonly guides: ReturnType<typeof guidesOf>;
}

/** Places in the drawing, of points between 0 and 1 that count upward. */
const placeX = (at: number): number =>
  frame.left + at * (frame.width - frame.left - frame.right);
const placeY = (at: number): number =>
  frame.height - frame.bottom -
  at * (frame.height - frame.top - frame.bottom);

function pathOf(points: Line["points"]): string {
  return points.map(([x, y]) =>
    `${placeX(x).toFixed(1)},${placeY(y).toFixed(1)}`
  ).join(" ");
}

function chart(scene: Scene, drawn: Chart): Markup {
  const { width, height } = frame;
  // Ours lie on top.
  const lines = [...drawn.lines].sort((a, b) =>
    Number(isOurs(a.engine)) - Number(isOurs(b.engine))
  );
  return html`
    <figure
      class="chart"><figcaption>${drawn
        .title}</figcaption><svg viewBox="0 0 ${width} ${height}" role="img" aria-label="${drawn
        .says}">${drawn.beside.map(markBeside)}${drawn.below.map(
          markBelow,
        )}${drawn.guides.map(({ name, points }) => guide(name, points))}${lines
        .map((line) => lineOf(scene, line))}</svg>${legend(
          scene,
          drawn.lines.map(({ engine }) => engine),
        )}</figure>
  `;
}

function markBeside({ at, text }: Mark): Markup {
  const { left, right, width } = frame;
  const y = placeY(at);
  return html`
    <line class="grid" x1="${left}" y1="${y}" x2="${width - right}"
      y2="${y}" />
    <text class="tick" x="${left - 6}" y="${y + 3.5}"
      text-anchor="end">${text}</text>
  `;
}

function markBelow({ at, text }: Mark): Markup {
  const { top, bottom, height } = frame;
  const x = placeX(at);
  const anchor = at > 0.95 ? "end" : at < 0.05 ? "start" : "middle";
  return html`
    <line class="grid" x1="${x}" y1="${top}" x2="${x}"
      y2="${height - bottom}" />
    <text class="tick" x="${x}" y="${height - bottom + 15}"
      text-anchor="${anchor}">${text}</text>
  `;
}

/** Few points are marked each. */
const dotsMax = 7;

function lineOf(scene: Scene, { engine, points }: Line): Markup {
  const colour = colourOf(scene, engine);
  return html`
    <g
      data-e="${numberOf(
        scene,
        engine,
      )}"><polyline class="stroke ${colour}" points="${pathOf(
        points,
      )}"><title>${engineLabel(
        engine,
      )}</title></polyline>${points.length > dotsMax
        ? undefined
        : points.map(([x, y]) =>
          html`
            <circle class="dot ${colour}" cx="${placeX(x)}" cy="${placeY(
              y,
            )}" r="2.6" />
          `
        )}</g>
  `;
}

function guide(name: string, points: Line["points"]): Markup | undefined {
  const [x, y] = points.at(-1) ?? [];
  if (x === undefined || y === undefined) return undefined;
  return html`
    <polyline class="guide" points="${pathOf(points)}" />
    <text class="guide-name" x="${placeX(x) - 6}" y="${Math.max(
      frame.top + 8,
      placeY(y) - 4,
    )}"
      text-anchor="end">${name}</text>
  `;
}

function marksOf(scale: Scale, unit: Figure["unit"] = "ms"): Mark[] {
  return scale.marks.map((mark) => ({
    at: scale.place(mark),
    // A power of ten needs no digits after its point.
    text: showValue(mark, unit).replace(/\.0+ /, " "),
  }));
}

function sayMedian({ engine, median, p99, unit }: Figure): string {
  return `${engineLabel(engine)} half within ${
    showValue(median, unit)
  }, 99 % within ${showValue(p99, unit)}`;
}

function sayGrowth(figures: readonly Figure[], engine: string): string {
  const own = figures.filter((one) => one.engine === engine);
  const [growth] = growthsOf(own);
  return `${engineLabel(engine)} ${
    own.map(({ size, median, unit }) =>
      `${showValue(median, unit)} at ${showSize(size)}`
    ).join(", ")
  }${growth === undefined ? "" : `: ${showExponent(growth.exponent)}`}`;
}
