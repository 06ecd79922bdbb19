/**
 * The live chart of cost: what each write took until it was visible, durable
 * and synced, as it happens.
 */

import { element, shape, type View } from "./element.ts";
import {
  formatMs,
  heightOf,
  Latencies,
  type Stage,
  stages,
} from "./latencies.ts";

const WRITES_MAX = 200;
const WIDTH_MAX = 640;
const WIDTH_MIN = 300;
const HEIGHT = 200;
/** Room for the figures of the scale. */
const SCALE = 52;
const DECADES = [0.01, 0.1, 1, 10, 100, 1000, 10_000];

export class LatencyView implements View {
  readonly title = "Latency";
  readonly element: HTMLElement = element("div", { class: "latency" });
  /** Where measured writes go. */
  readonly latencies: Latencies = new Latencies(WRITES_MAX);

  draw(): void {
    this.element.replaceChildren(this.#legend(), this.#chart());
  }

  #legend(): HTMLElement {
    const rows = stages.map((stage) => {
      const typical = this.latencies.typical(stage);
      const figure = (ms: number | undefined) =>
        element("td", {}, ms === undefined ? "–" : formatMs(ms));
      return element(
        "tr",
        {},
        element("th", { class: stage, scope: "row" }, `● ${stage}`),
        figure(typical?.p50),
        figure(typical?.p99),
        element("td", {}, typical?.count ?? 0),
      );
    });
    const head = ["", "p50", "p99", "writes"].map((text) =>
      element("th", { scope: "col" }, text)
    );
    return element("table", {}, element("tr", {}, ...head), ...rows);
  }

  #chart(): Element {
    // Drawn as wide as it is shown, where that is narrow: letters keep their size.
    const room = this.element.clientWidth || WIDTH_MAX;
    const width = Math.max(WIDTH_MIN, Math.min(WIDTH_MAX, room));
    const y = (ms: number) => HEIGHT - heightOf(ms) * HEIGHT;
    const grid = DECADES.flatMap((ms) => [
      shape("line", { x1: SCALE, x2: width, y1: y(ms), y2: y(ms) }),
      shape("text", { x: 4, y: y(ms) + 3 }, formatMs(ms)),
    ]);
    const { writes } = this.latencies;
    const step = (width - SCALE) / WRITES_MAX;
    const x = (i: number) => width - (writes.length - i - 0.5) * step; // The newest at the right.
    const dots = stages.flatMap((stage: Stage) =>
      writes.flatMap((times, i) => {
        const ms = times[stage];
        if (ms === undefined) return [];
        const at = { cx: x(i), cy: y(ms), r: 2.5 };
        return [shape("circle", { class: stage, ...at })];
      })
    );
    return shape(
      "svg",
      {
        viewBox: `0 -12 ${width} ${HEIGHT + 16}`,
        role: "img",
        "aria-label": "Latency of the last writes, on a logarithmic scale",
      },
      ...grid,
      ...dots,
    );
  }
}
