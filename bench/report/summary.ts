/**
 * The first screen: where we stand, in plain words, and where not.
 *
 * @module
 */

import type { Figure, SuiteRun } from "../harness/figure.ts";
import { chip, troubleOf } from "./bars.ts";
import { targetText } from "./figures_table.ts";
import { html, type Markup } from "./markup.ts";
import { reasonUnknown } from "./reasons.ts";
import { numberOf, type Scene } from "./scene.ts";
import {
  countOf,
  engineLabel,
  showSize,
  showValue,
  suiteTitles,
} from "./show.ts";
import {
  isMet,
  isSound,
  type LostRow,
  lostRows,
  type Standing,
  standingWords,
  targetsOf,
  type Verdict,
} from "./standing.ts";

/** How many rows went which way. */
export type Tally = Readonly<Record<Verdict, number>>;

/** Counts verdicts. */
export function tallyOf(standings: readonly Standing[]): Tally {
  const tally = { ahead: 0, level: 0, behind: 0, alone: 0 };
  for (const { verdict } of standings) tally[verdict]++;
  return tally;
}

/** Everything above the suites. */
export function summary(scene: Scene): Markup {
  const tally = tallyOf(scene.standings);
  return html`
    <section id="summary" class="summary" aria-labelledby="summary-title"><h2
        id="summary-title" class="unseen">Where we stand</h2>${lead(
          tally,
        )}${noisy(scene.run.suites)}${bySuite(scene)}${behind(scene)}${missed(
          scene,
        )}${uncounted(scene)}</section>
  `;
}

/** One sentence that anybody understands. */
function lead(tally: Tally): Markup {
  const held = tally.ahead + tally.level + tally.behind;
  if (held === 0) {
    return html`<p class="lead">No figure of this run has a rival to stand beside.</p>`;
  }
  return html`
    <p
      class="lead">Of <b>${countOf(
        held,
        "comparison",
      )}</b> with the best engine of the same durability, Sheaf is <b
      class="ahead-ink">ahead in ${tally.ahead}</b>, level in ${tally
        .level} and <b class="behind-ink">behind in ${tally.behind}</b>.</p>
    ${strip(tally, true)}
  `;
}

/** The counts as one bar. */
export function strip(tally: Tally, isLarge = false): Markup {
  const held = tally.ahead + tally.level + tally.behind;
  if (held === 0) return html``;
  const parts = (["ahead", "level", "behind"] as const).map((verdict) => ({
    verdict,
    width: tally[verdict] / held * 100,
  }));
  let x = 0;
  return html`
    <svg class="strip ${isLarge
      ? "large"
      : ""}" viewBox="0 0 100 4" preserveAspectRatio="none"
      role="img"
      aria-label="${tally
        .ahead} ahead, ${tally.level} level, ${tally.behind} behind">${parts
        .map(({ verdict, width }) => {
          const rect = html`
            <rect class="${verdict}" x="${x}" y="0" width="${Math.max(
              0,
              width - (width > 1 ? 0.25 : 0),
            )}"
              height="4" />
          `;
          x += width;
          return rect;
        })}</svg>
  `;
}

function noisy(suites: readonly SuiteRun[]): Markup | undefined {
  const warned = suites.filter(({ noise }) => noise.warning !== undefined);
  if (warned.length === 0) return undefined;
  return html`
    <div class="callout"
      role="note"><b>Less sure than it should be.</b><ul>${warned.map((
        { suite, noise },
      ) => html`<li>${suiteTitles[suite]}: ${noise.warning}</li>`)}</ul></div>
  `;
}

function bySuite(scene: Scene): Markup {
  return html`
    <div class="scroll" tabindex="0" role="region" aria-label="Standing by suite">
      <table class="by-suite">
        <thead>
          <tr>
            <th scope="col">suite</th>
            <th scope="col"
              class="wide">standing</th>
            <th scope="col" class="num">ahead</th>
            <th scope="col"
              class="num">level</th>
            <th scope="col" class="num">behind</th>
            <th scope="col"
              class="num">targets met</th>
          </tr>
        </thead>
        <tbody>${scene.run.suites
          .map((run) => suiteLine(scene, run))}</tbody>
      </table>
    </div>
  `;
}

function suiteLine(scene: Scene, run: SuiteRun): Markup {
  const tally = tallyOf(
    scene.standings.filter(({ ours }) => ours.suite === run.suite),
  );
  const aimed = run.figures.filter((figure) => targetsOf(figure).length > 0);
  const met = aimed.filter((figure) => isMet(figure) === true);
  return html`
    <tr>
      <th scope="row"><a href="#suite-${run
        .suite}">${suiteTitles[run.suite]}</a></th>
      <td
        class="wide">${strip(tally)}${unrivalled(tally)}</td>
      <td class="num">${tally
        .ahead}</td>
      <td class="num">${tally.level}</td>
      <td class="num">${tally
        .behind}</td>
      <td class="num">${aimed.length === 0
        ? "–"
        : `${met.length} of ${aimed.length}`}</td>
    </tr>
  `;
}

function unrivalled(tally: Tally): Markup | undefined {
  return tally.ahead + tally.level + tally.behind > 0
    ? undefined
    : html`<span class="faint">no rivals here, only targets</span>`;
}

/** Rows that we lose, the worst first, with the reason or the confession. */
function behind(scene: Scene): Markup | undefined {
  const rows = lostRows(scene.standings);
  if (rows.length === 0) return undefined;
  return html`
    <details class="list" open>
      <summary>
        <h3>Where we are behind, and why <span class="count">${rows
          .length}</span></h3>
      </summary>
      <ul class="rows">${rows.map((row) => lostRow(scene, row))}</ul>
    </details>
  `;
}

function lostRow(scene: Scene, { operation, why, standings }: LostRow): Markup {
  return html`
    <li>
      <div><b>${operation}</b> <span class="why">${why ??
        `Why: ${reasonUnknown}.`}</span></div>
      ${standings.map((standing) =>
        html`
          <div class="said"
            data-e="${numberOf(
              scene,
              standing.ours.engine,
            )}"><span>${chip(standing)}</span> ${engineLabel(
              standing.ours.engine,
            )} ${showValue(
              standing.ours.median,
              standing.ours.unit,
            )}, ${rivalWords(
              standing,
            )} <span class="faint">${place(standing.ours)}</span></div>
        `
      )}
    </li>
  `;
}

function rivalWords({ rival }: Standing): string {
  return rival === undefined
    ? ""
    : `${engineLabel(rival.engine)} ${showValue(rival.median, rival.unit)}`;
}

function missed(scene: Scene): Markup | undefined {
  const lost = figuresOf(scene).filter((figure) =>
    isSound(figure) && isMet(figure) === false
  );
  if (lost.length === 0) return undefined;
  return html`
    <details class="list">
      <summary>
        <h3>Targets missed <span class="count">${lost
          .length}</span></h3>
      </summary>
      <ul class="rows">${lost.map((figure) =>
        html`
          <li data-e="${numberOf(scene, figure.engine)}">
            <div><b>${figure
              .operation}</b> <span class="faint">${place(figure)}</span></div>
            <div
              class="said">${engineLabel(figure.engine)} ${showValue(
                figure.median,
                figure.unit,
              )}; ${targetText(figure)}</div>
          </li>
        `
      )}</ul>
    </details>
  `;
}

/** What is wrong, failed or was skipped counts for nothing, and is said. */
function uncounted(scene: Scene): Markup | undefined {
  const out = figuresOf(scene).filter((figure) => !isSound(figure));
  if (out.length === 0) return undefined;
  const isBad = out.some(({ wrong, failed }) =>
    wrong !== undefined || failed !== undefined
  );
  return html`
    <details class="list" ${isBad ? html`open` : undefined}>
      <summary>
        <h3>Not counted <span
      class="count">${out.length}</span></h3>
      </summary>
      <ul class="rows">${out
        .map((figure) =>
          html`
            <li data-e="${numberOf(scene, figure.engine)}">
              <div><b>${engineLabel(
                figure.engine,
              )}</b> <span class="faint">${figure.operation}, ${place(
                figure,
              )}</span></div>
              <div class="said">${troubleOf(figure)}</div>
            </li>
          `
        )}</ul>
    </details>
  `;
}

function figuresOf(scene: Scene): Figure[] {
  return scene.run.suites.flatMap((suite) => [...suite.figures]);
}

/** Where a row stands: suite, table, size. */
function place({ suite, table, size }: Figure): string {
  return `${suiteTitles[suite]} · ${table} · ${showSize(size)}`;
}

/** The sentence for somebody who reads one row: for the document, too. */
export function sentence(standing: Standing): string {
  return `${engineLabel(standing.ours.engine)} is ${standingWords(standing)}`;
}
