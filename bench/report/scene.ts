/**
 * What all parts of the page know: the engines with their numbers and colours,
 * the standings, and the earlier run.
 *
 * Engines are named by number in attributes and classes, so that no name can
 * be anything but text.
 *
 * @module
 */

import type { Figure, Run } from "../harness/figure.ts";
import type { Move } from "./compare.ts";
import { compareRuns } from "./compare.ts";
import { html, type Markup } from "./markup.ts";
import { engineLabel, isOurs } from "./show.ts";
import { rowKey, type Standing, standingsOf } from "./standing.ts";

/** Hues for rivals; there are as many classes `h0`, `h1`, … in the style. */
export const hueCount = 10;

/** See the module. */
export interface Scene {
  readonly run: Run;
  readonly engines: readonly string[];
  readonly standings: readonly Standing[];
  readonly moves: readonly Move[];
  /** The earlier figure of a figure. */
  readonly then: (figure: Figure) => Figure | undefined;
  readonly standing: (figure: Figure) => Standing | undefined;
}

/** Prepares a run, and an earlier one, for the page. */
export function sceneOf(run: Run, earlier: Run | undefined): Scene {
  const figures = run.suites.flatMap((suite) => [...suite.figures]);
  const standings = standingsOf(figures);
  const byFigure = new Map(standings.map((one) => [one.ours, one]));
  const before = new Map(
    (earlier?.suites ?? []).flatMap((suite) =>
      suite.figures.map((figure) => [figureKey(figure), figure] as const)
    ),
  );
  const engines = [...new Set(figures.map(({ engine }) => engine))];
  return {
    run,
    // Ours first; the rest as they come.
    engines: [
      ...engines.filter(isOurs),
      ...engines.filter((engine) => !isOurs(engine)),
    ],
    standings,
    moves: earlier === undefined ? [] : compareRuns(run, earlier),
    then: (figure) => before.get(figureKey(figure)),
    standing: (figure) => byFigure.get(figure),
  };
}

/** The number that stands for an engine on the page. */
export function numberOf(scene: Scene, engine: string): number {
  return scene.engines.indexOf(engine);
}

/** The class that gives an engine its colour: one of ours, or a rival's hue. */
export function colourOf(scene: Scene, engine: string): string {
  if (isOurs(engine)) {
    const mode = ["default", "trusted", "fast"].find((name) =>
      engine.includes(name)
    );
    return `ours ours-${mode ?? "default"}`;
  }
  const rivals = scene.engines.filter((name) => !isOurs(name));
  const at = rivals.indexOf(engine);
  return `h${at % hueCount}${at >= hueCount ? " dashed" : ""}`;
}

/** Names beside their colours, below a chart. */
export function legend(scene: Scene, engines: readonly string[]): Markup {
  return html`<ul class="legend">${
    engines.map((engine) =>
      html`
        <li
          data-e="${numberOf(
            scene,
            engine,
          )}"><svg viewBox="0 0 20 8" aria-hidden="true"><line class="stroke ${colourOf(
            scene,
            engine,
          )}" x1="0" y1="4" x2="20" y2="4"/></svg>${engineLabel(engine)}</li>
      `
    )
  }</ul>`;
}

function figureKey(figure: Figure): string {
  return `${figure.engine}\n${rowKey(figure)}`;
}
