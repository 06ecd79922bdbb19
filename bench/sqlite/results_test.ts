import { deepEqual, equal } from "node:assert/strict";
import type { Figure } from "../harness/figure.ts";
import { isMet } from "../report/standing.ts";
import type { Contestant } from "./engine.ts";
import { buildFigures, type Measurement } from "./results.ts";
import { measureKey, type RowPlan } from "./table1.ts";

const plan: RowPlan = {
  operation: "read by id",
  unit: "µs",
  measure: { process: "warm", workload: "get", store: "plain" },
  modes: ["default", "fast"],
  target: { default: 0.5, trusted: 0, fast: 0.1 },
};

function figuresOf(
  measurements: [Contestant, Measurement][],
  parts: Partial<RowPlan> = {},
): Figure[] {
  const row = { ...plan, ...parts };
  return buildFigures(
    [row],
    measurements.map(([contestant]) => contestant),
    1_000,
    new Map([[measureKey(row.measure), new Map(measurements)]]),
  );
}

const at = (...samples: number[]): Measurement => ({ turns: [samples] });

Deno.test("buildFigures() divides our median by the SQLite of the same durability", () => {
  const figures = figuresOf([
    ["sqlite-full", at(0.01)],
    ["sqlite-off", at(0.002)],
    ["default", at(0.004)],
    ["fast", at(0.001)],
  ]);
  deepEqual(figures.map(({ engine }) => engine), [
    "sqlite-full",
    "sheaf-default",
    "sqlite-off",
    "sheaf-fast",
  ]);
  deepEqual(figures.map(({ against }) => against), [
    undefined,
    { engine: "sqlite-full", ratio: 0.4 },
    undefined,
    { engine: "sqlite-off", ratio: 0.5 },
  ]);
  deepEqual(figures.map(isMet), [undefined, true, undefined, false]);
});

Deno.test("buildFigures() never lets a wrong answer or a failure meet its target", () => {
  for (const why of ["wrong", "failed"] as const) {
    const figure = figuresOf([
      ["sqlite-full", at(1)],
      ["default", { turns: [[0.001]], [why]: "3 items, not 4" }],
    ]).at(-1);
    equal(figure?.[why], "3 items, not 4");
    equal(figure?.against, undefined);
    equal(figure === undefined || isMet(figure), false);
  }
});

Deno.test("buildFigures() takes the ratio from no rival that answers wrongly", () => {
  const figure = figuresOf([
    ["sqlite-full", { ...at(1), wrong: "one too many" }],
    ["default", at(0.1)],
  ]).at(-1);
  equal(figure?.against, undefined);
  equal(figure?.median, 0.1);
});

Deno.test("buildFigures() names the durability of writes and of nothing else", () => {
  const of = (workload: "get" | "create"): string[] =>
    figuresOf([
      ["sqlite-full", at(1)],
      ["default", at(1)],
      ["sqlite-off", at(1)],
      ["fast", at(1)],
    ], { measure: { process: "warm", workload, store: "plain" } })
      .map(({ durability }) => durability);
  deepEqual(of("get"), ["none", "none", "none", "none"]);
  deepEqual(of("create"), ["fsync", "fsync", "written", "queued"]);
});

Deno.test("buildFigures() counts megabytes in bytes", () => {
  const [figure] = figuresOf([["sqlite-full", at(1.5)]], {
    unit: "MB",
    measure: { process: "value", workload: "disk", store: "plain" },
  });
  deepEqual([figure?.unit, figure?.median], ["B", 1_500_000]);
});
