import { deepEqual, equal } from "node:assert/strict";
import type { Contestant } from "./engine.ts";
import { buildRows, type Measurement, type Row } from "./results.ts";
import { measureKey, type RowPlan } from "./table1.ts";

const plan: RowPlan = {
  suite: "table 1",
  operation: "read by id",
  unit: "µs",
  measure: { process: "warm", workload: "get", store: "plain" },
  modes: ["default", "fast"],
  target: { default: 0.5, trusted: 0, fast: 0.1 },
};

function rowsOf(measurements: [Contestant, Measurement][]): Row[] {
  return buildRows(
    [plan],
    ["default", "trusted", "fast"],
    1_000,
    new Map([[measureKey(plan.measure), new Map(measurements)]]),
  );
}

Deno.test("buildRows() divides our median by the SQLite of the same durability", () => {
  const rows = rowsOf([
    ["sqlite-full", { samples: [0.01] }],
    ["sqlite-off", { samples: [0.002] }],
    ["default", { samples: [0.004] }],
    ["fast", { samples: [0.001] }],
  ]);
  deepEqual(rows.map((row) => row.mode), [
    "sqlite-full",
    "default",
    "sqlite-off",
    "fast",
  ]);
  deepEqual(rows.map((row) => row.ratio), [null, 0.4, null, 0.5]);
  deepEqual(rows.map((row) => row.median), [10, 4, 2, 1]);
  deepEqual(rows.map((row) => row.met), [null, true, null, false]);
});

Deno.test("buildRows() never lets a wrong answer meet its target", () => {
  const rows = rowsOf([["sqlite-full", { samples: [1] }], ["default", {
    samples: [0.001],
    wrong: "3 items, not 4",
  }]]);
  const row = rows.find((one) => one.mode === "default");
  equal(row?.met, false);
  equal(row?.ratio, null);
  equal(row?.wrong, "3 items, not 4");
});

Deno.test("buildRows() counts a failed measurement as missed, without figures", () => {
  const row = rowsOf([["sqlite-full", { samples: [1] }], ["default", {
    samples: [],
    failed: "no module",
  }]])
    .find((one) => one.mode === "default");
  equal(row?.met, false);
  equal(row?.median, null);
  equal(row?.failed, "no module");
});
