/**
 * The report as one page: no script, no network, nothing but itself.
 *
 * Architecture invariant: the page forbids itself everything but its own style,
 * so that even markup that slipped through could neither run nor load anything.
 * Filtering by engine works by the style alone.
 *
 * @module
 */

import type { Run, SuiteRun } from "../harness/figure.ts";
import { html, Markup } from "./markup.ts";
import { movesView } from "./moves_view.ts";
import { type Scene, sceneOf } from "./scene.ts";
import { durabilityWords, engineLabel, isOurs, suiteTitles } from "./show.ts";
import { style } from "./style.ts";
import { suiteView } from "./suite_view.ts";
import { summary } from "./summary.ts";

/** The page of a run; with an earlier run also what moved since. */
export function htmlReport(run: Run, earlier?: Run): string {
  const scene = sceneOf(run, earlier);
  const page = html`
    <!DOCTYPE html>
    <html lang="en">
      <head>
        <meta charset="utf-8">
        <meta name="viewport" content="width=device-width, initial-scale=1">
        <meta http-equiv="Content-Security-Policy"
          content="default-src 'none'; style-src 'unsafe-inline'">
        <meta name="color-scheme" content="light dark">
        <title>Sheaf benchmarks</title>
        <style>${new Markup(style + filterStyle(scene))}</style>
      </head>
      <body><a class="skip" href="#summary">Skip to the summary</a>${banner(
        scene,
        earlier,
      )}<main>${summary(scene)}${filter(scene)}${movesView(scene, earlier)}${run
        .suites.map((suite) =>
          suiteView(scene, suite)
        )}${reading()}</main></body>
    </html>
  `;
  return page.toString().trimStart();
}

/** Unticking an engine hides whatever carries its number. */
function filterStyle({ engines }: Scene): string {
  return engines.map((_, at) =>
    `body:has(#engine-${at}:not(:checked)) [data-e="${at}"]{display:none}`
  ).join("\n");
}

function banner(scene: Scene, earlier: Run | undefined): Markup {
  const { suites } = scene.run;
  const first = suites[0];
  return html`
    <header class="banner">
      <div
        class="inner"><h1>Sheaf benchmarks</h1>${first === undefined
          ? html`<p>This run has no suite.</p>`
          : html`
            <p>${machineWords(first)}</p>
            <p class="quiet">${versionWords(first)}</p>
          `}${differing(
            suites,
          )}<nav aria-label="Parts of the report"><ul><li><a href="#summary">Summary</a></li>${earlier ===
            undefined
          ? undefined
          : html`<li><a href="#moved">What moved</a></li>`}${suites.map((
            { suite },
          ) =>
            html`<li><a href="#suite-${suite}">${suiteTitles[suite]}</a></li>`
          )}<li><a href="#reading">How to read it</a></li></ul></nav></div>
    </header>
  `;
}

/** Said once where all suites ran on one machine and commit, and loudly where not. */
function differing(suites: readonly SuiteRun[]): Markup | undefined {
  const kinds = new Set(
    suites.map((one) => machineKey(one) + one.versions.commit),
  );
  if (kinds.size < 2) return undefined;
  return html`<ul class="quiet">${
    suites.map((one) =>
      html`<li>${
        suiteTitles[one.suite]
      }: ${one.machine.cpu}, ${one.versions.commit}, ${one.versions.date}</li>`
    )
  }</ul>`;
}

function machineKey({ machine }: SuiteRun): string {
  return JSON.stringify([machine.cpu, machine.cores, machine.os]);
}

function machineWords({ machine }: SuiteRun): string {
  return `${machine.cpu}, ${machine.cores} cores, ${machine.memoryGiB} GiB, ${machine.os}, ${machine.fileSystem}; ` +
    `an append with fdatasync takes ${machine.fdatasyncMicros.toFixed(0)} µs`;
}

function versionWords({ versions }: SuiteRun): string {
  return `Sheaf ${versions.sheaf} at ${versions.commit}, Deno ${versions.deno}, V8 ${versions.v8}, ` +
    `SQLite ${versions.sqlite}, ${versions.date}`;
}

function filter({ engines }: Scene): Markup {
  return html`
    <form class="filter">
      <fieldset><legend>Engines</legend>${engines.map((engine, at) =>
        html`
          <label
            class="${isOurs(engine)
              ? "ours"
              : ""}"><input type="checkbox" id="engine-${at}" checked autocomplete="off">${engineLabel(
                engine,
              )}</label>
        `
      )}<button type="reset">All</button></fieldset>
    </form>
  `;
}

function reading(): Markup {
  return html`
    <section id="reading" class="suite" aria-labelledby="reading-title">
      <header>
        <h2 id="reading-title">How to read it</h2>
      </header>
      <div class="prose">
        <p>Every engine ran the same operations in the same order on the same
        items, each in fresh processes that took turns. Answers were checked; a
        wrong one is shown as wrong and counts for nothing. Bars are medians over
        all repetitions; the thin line goes on to the 99th percentile.</p>
        <p><b>Ahead, level, behind.</b> Each figure of Sheaf stands beside the
        best engine that promises at least as much durability in the same row. A
        difference within what the repetitions themselves wandered is level.</p>
        <p><b>Durability</b> is what has been done when a write counts as done.</p>
        <dl>${Object.entries(durabilityWords).map(([name, words]) =>
          html`
            <div>
              <dt>${name}</dt>
              <dd>${words}</dd>
            </div>
          `
        )}</dl>
        <p><b>What the figures do not show:</b> a cold disk, other disks (a sync
        takes 1 to 5 ms on many), items of other sizes, a network between
        machines, and your program. Measure that yourself: each suite names the
        command that repeats it.</p>
      </div>
    </section>
  `;
}
