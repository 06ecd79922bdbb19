/**
 * Two runs side by side: what moved by more than the noise.
 *
 * @module
 */

import type { Run } from "../harness/figure.ts";
import { type Move, movedOf, showChange } from "./compare.ts";
import { html, type Markup } from "./markup.ts";
import { numberOf, type Scene } from "./scene.ts";
import {
  engineLabel,
  isOurs,
  showDigits,
  showSize,
  showValue,
} from "./show.ts";

/** The section between summary and suites; nothing without an earlier run. */
export function movesView(
  scene: Scene,
  earlier: Run | undefined,
): Markup | undefined {
  if (earlier === undefined) return undefined;
  const ours = scene.moves.filter(({ now }) => isOurs(now.engine));
  const others = scene.moves.filter(({ now }) => !isOurs(now.engine));
  return html`
    <section id="moved" class="suite" aria-labelledby="moved-title"><header><h2
      id="moved-title">Two runs side by side</h2><p class="words">${runWords(
        earlier,
      )} beside ${runWords(
        scene.run,
      )}. In every chart the thin bar below is the earlier run.
      Sheaf is compared by its ratio to a rival of the same run, so that a slower machine is no
      change; rivals by their medians, which shows how far the machine itself has drifted.</p></header>${scene
          .moves.length === 0
        ? html`<p>The earlier run has no row in common with this one.</p>`
        : [
          movesTable(scene, "Sheaf", ours),
          movesTable(scene, "The others", others),
        ]}</section>
  `;
}

function runWords({ suites }: Run): string {
  const first = suites[0];
  return first === undefined
    ? "an empty run"
    : `${first.versions.commit}, ${first.startedAt.slice(0, 10)}`;
}

function movesTable(
  scene: Scene,
  title: string,
  moves: readonly Move[],
): Markup {
  const moved = movedOf(moves);
  const better = moved.filter(({ verdict }) => verdict === "better").length;
  return html`
    <h3>${title}: ${better} better, ${moved.length -
      better} worse, ${moves.length -
      moved.length} within the noise</h3>${moved.length === 0
      ? undefined
      : html`
        <div class="scroll" tabindex="0" role="region" aria-label="${title}">
          <table>
            <thead>
              <tr>
                <th scope="col">row</th>
                <th scope="col">engine</th>
                <th scope="col"
                  class="num">then</th>
                <th scope="col" class="num">now</th>
                <th scope="col"
                  class="num">ratio then</th>
                <th scope="col" class="num">ratio now</th>
                <th scope="col"
                  class="num">change</th>
              </tr>
            </thead>
            <tbody>${moved.map((move) => moveRow(scene, move))}</tbody>
          </table>
        </div>
      `}
  `;
}

function moveRow(scene: Scene, move: Move): Markup {
  const { now, then } = move;
  const ratio = (value: number | null): string =>
    value === null ? "–" : showDigits(value);
  return html`
    <tr data-e="${numberOf(scene, now.engine)}">
      <td>${now.operation} <span class="faint">${now
        .table} · ${showSize(now.size)}</span></td>
      <th scope="row">${engineLabel(
        now.engine,
      )}</th>
      <td class="num">${showValue(then.median, then.unit)}</td>
      <td class="num">${showValue(
        now.median,
        now.unit,
      )}</td>
      <td class="num">${ratio(move.ratioThen)}</td>
      <td class="num">${ratio(
        move.ratioNow,
      )}</td>
      <td
        class="num"><span class="chip ${move.verdict === "better"
          ? "ahead"
          : "behind"}">${showChange(move.change)} ${move.verdict}</span></td>
    </tr>
  `;
}
