/**
 * One suite on the page: its command and noise, its tables as cards of bars,
 * its curves, distributions and work per CPU second.
 *
 * @module
 */

import type { Figure, SuiteRun } from "../harness/figure.ts";
import { barCard, barTable } from "./bars.ts";
import { figuresTable } from "./figures_table.ts";
import { curveChart, distributionChart } from "./lines.ts";
import { html, type Markup } from "./markup.ts";
import type { Scene } from "./scene.ts";
import { showShare, showSize, suiteTitles, suiteWords } from "./show.ts";
import { isSound, rowsOf } from "./standing.ts";
import { strip, tallyOf } from "./summary.ts";

/** Figures of one table at one size. */
export interface Part {
  readonly table: string;
  readonly size: number;
  readonly figures: readonly Figure[];
}

/** So many tables of a suite stand open. */
const openMax = 2;

/** Tables by name and size, in the order in which they come. */
export function partsOf(figures: readonly Figure[]): Part[] {
  const parts = new Map<string, Figure[]>();
  for (const figure of figures) {
    const key = JSON.stringify([figure.table, figure.size]);
    parts.set(key, [...parts.get(key) ?? [], figure]);
  }
  return [...parts.values()].flatMap((part) => {
    const first = part[0];
    if (first === undefined) return [];
    return [{ table: first.table, size: first.size, figures: grouped(part) }];
  });
}

/** Figures of one operation together, as the operations first come. */
function grouped(figures: readonly Figure[]): Figure[] {
  return [...rowsOf(figures).values()].flat();
}

/** The suite as a section. */
export function suiteView(scene: Scene, run: SuiteRun): Markup {
  const parts = partsOf(run.figures);
  const tally = tallyOf(
    scene.standings.filter(({ ours }) => ours.suite === run.suite),
  );
  return html`
    <section id="suite-${run.suite}" class="suite"
      aria-labelledby="title-${run
        .suite}"><header><h2 id="title-${run
        .suite}">${suiteTitles[run.suite]}</h2><p
      class="words">${suiteWords[run.suite]}</p>${strip(
        tally,
      )}${aboutRun(run)}</header>${parts.map((part, at) =>
        partView(scene, part, at < openMax)
      )}${section("As the collection grows", curves(scene, run))}${section(
        "How latency is spread",
        distributions(scene, run),
      )}${section("Work per CPU second", efficiency(scene, run))}</section>
  `;
}

function aboutRun(run: SuiteRun): Markup {
  const { noise, peers } = run;
  const facts: readonly (readonly [string, string | Markup])[] = [
    ["repeat it with", html`<code>${run.command}</code>`],
    ["run", `${run.startedAt.slice(0, 10)}, ${minutes(run.seconds)}`],
    [
      "quiet",
      `load ${noise.loadBefore.toFixed(1)} before; CPU ×${
        noise.cpuDrift.toFixed(2)
      }, sync ×${noise.syncDrift.toFixed(2)} after; spread ${
        showShare(noise.spread)
      }`,
    ],
    ...peers.length === 0 ? [] : [["beside", peers.join(", ")] as const],
  ];
  return html`
    <dl class="facts">${facts.map(([name, value]) =>
      html`
        <div>
          <dt>${name}</dt>
          <dd>${value}</dd>
        </div>
      `
    )}</dl>${noiseCallout(run)}
  `;
}

/** What makes figures less sure: the machine, or that few were taken. */
function noiseCallout({ noise, command }: SuiteRun): Markup[] {
  const words = [
    ...noise.warning === undefined ? [] : [noise.warning],
    ...command.includes("--quick")
      ? ["A quick run: few samples. It shows that the bench runs, no more."]
      : [],
  ];
  return words.map((text) => html`<p class="callout" role="note">${text}</p>`);
}

function minutes(seconds: number): string {
  return seconds < 90
    ? `${seconds.toFixed(0)} s`
    : `${(seconds / 60).toFixed(0)} min`;
}

function partView(scene: Scene, part: Part, isOpen: boolean): Markup {
  const tally = tallyOf(
    part.figures.flatMap((figure) => scene.standing(figure) ?? []),
  );
  const rows = [...rowsOf(part.figures).values()];
  return html`
    <details class="part"
      ${isOpen ? html`open` : undefined}><summary><h3>${part
        .table} <span class="faint">${part.size === 0
        ? ""
        : `${showSize(part.size)} items`}</span></h3>${strip(
          tally,
        )}</summary><div class="cards">${rows.map((row) =>
          barCard(scene, row[0]?.operation ?? "", row)
        )}</div>${figuresTable(scene, part.figures)}</details>
  `;
}

function section(
  title: string,
  charts: readonly Markup[],
): Markup | undefined {
  if (charts.length === 0) return undefined;
  return html`
    <details class="part">
      <summary>
        <h3>${title} <span class="faint">${charts
            .length === 1
          ? "1 chart"
          : `${charts.length} charts`}</span></h3>
      </summary>
      <div class="cards">${charts
        .map((chart) => html`<article class="card">${chart}</article>`)}</div>
    </details>
  `;
}

/** A curve for every row that was measured at several sizes. */
function curves(scene: Scene, run: SuiteRun): Markup[] {
  const bySeries = new Map<string, Figure[]>();
  for (const figure of run.figures) {
    const { table, operation, unit } = figure;
    const key = JSON.stringify([table, operation, unit]);
    bySeries.set(key, [...bySeries.get(key) ?? [], figure]);
  }
  return [...bySeries.values()].flatMap((figures) =>
    curveChart(scene, titleOf(figures), figures) ?? []
  );
}

/** Of several sizes the largest speaks. */
function distributions(scene: Scene, run: SuiteRun): Markup[] {
  const largest = Math.max(...run.figures.map(({ size }) => size));
  return [...rowsOf(run.figures).values()]
    .filter((row) => row[0]?.size === largest)
    .flatMap((row) => distributionChart(scene, titleOf(row), row) ?? []);
}

function efficiency(scene: Scene, run: SuiteRun): Markup[] {
  const measure = {
    unit: "per s",
    isMoreBetter: true,
    of: ({ beside }: Figure) => beside.perCpuSecond ?? null,
  } as const;
  return [...rowsOf(run.figures).values()].flatMap((row) => {
    const known = row.filter((figure) =>
      isSound(figure) && figure.beside.perCpuSecond !== undefined
    );
    return known.length < 2 ? [] : [
      html`<h4>${titleOf(known)}</h4>${
        barTable(scene, titleOf(known), known, measure)
      }`,
    ];
  });
}

function titleOf([first]: readonly Figure[]): string {
  return first === undefined ? "" : `${first.table}: ${first.operation}`;
}
