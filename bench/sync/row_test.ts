import { deepEqual, equal } from "node:assert/strict";
import { isMet } from "../report/standing.ts";
import type { Figure } from "../harness/figure.ts";
import {
  failedFigure,
  figuresOfTurns,
  type RowName,
  rowOfSamples,
} from "./row.ts";

/** The figure of one process's samples. */
function figureOf(name: RowName, samples: number[]): Figure {
  const [figure] = figuresOfTurns([[rowOfSamples(name, samples)]]);
  if (figure === undefined) throw new Error("no figure");
  return figure;
}

const name: RowName = {
  suite: "table 2",
  operation: "write on A visible on B",
  mode: "default",
  unit: "ms",
  goals: [{ figure: "median", value: 0.8 }, { figure: "max", value: 5 }],
  floor: 0.2,
};

Deno.test("a row meets its target when every goal is kept, and no wrong or broken one does", () => {
  equal(isMet(figureOf(name, [0.5, 0.6, 0.7])), true);
  equal(isMet(figureOf(name, [0.9, 0.9, 0.9])), false);
  equal(isMet(figureOf(name, [0.5, 0.6, 9])), false);
  equal(isMet(figureOf({ ...name, wrong: "item 3" }, [0.5])), false);
  equal(isMet(failedFigure(name, "took too long")), false);
  equal(isMet(figureOf({ ...name, goals: [] }, [0.1])), undefined);
});

Deno.test("a rate must not fall below its goal", () => {
  const rate: RowName = {
    ...name,
    unit: "items/s",
    goals: [{ figure: "median", value: 100 }],
  };
  equal(isMet(figureOf(rate, [120])), true);
  equal(isMet(figureOf(rate, [80])), false);
  equal(figureOf(rate, [80]).isMoreBetter, true);
});

Deno.test("sizes are counted in bytes, with their goals and floors", () => {
  const size = figureOf({ ...name, unit: "MB" }, [1.5]);
  equal(size.unit, "B");
  deepEqual([size.median, size.target?.value, size.floor], [
    1_500_000,
    800_000,
    200_000,
  ]);
  equal(size.durability, "none");
  equal(figureOf({ ...name, mode: "fast" }, [1]).durability, "queued");
});

Deno.test("several processes are pooled, their medians make the spread, and one wrong or silent spoils the row", () => {
  const row = (samples: number[], parts: Partial<RowName> = {}) => [
    rowOfSamples({ ...name, ...parts }, samples),
  ];
  const [figure] = figuresOfTurns([
    row([1, 2, 3], { floor: 0.1 }),
    row([4, 4, 4], { floor: 0.3 }),
    row([3, 3, 3]),
  ]);
  deepEqual(
    [figure?.median, figure?.repetitions, figure?.samples, figure?.floor],
    [3, 3, 9, 0.2],
  );
  equal(figure?.spread, 2 / 3);
  const [wrong] = figuresOfTurns([row([1]), row([1], { wrong: "item 3" })]);
  equal(wrong?.wrong, "item 3");
  const [silent] = figuresOfTurns([row([1]), []]);
  equal(silent?.failed, "1 of 2 repetitions gave this row");
});
