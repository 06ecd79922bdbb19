import { deepEqual, equal, match } from "node:assert/strict";
import { syncPage, syncSummary, syncText } from "./report.ts";
import { failedRow, isMet, type RowName, rowOfSamples } from "./row.ts";

const name: RowName = {
  suite: "table 2",
  operation: "write on A visible on B",
  mode: "default",
  unit: "ms",
  goals: [{ figure: "median", value: 0.8 }, { figure: "p99", value: 5 }],
};

Deno.test("isMet() wants every goal, and no goal of a wrong answer", () => {
  equal(isMet(rowOfSamples(name, [0.5, 0.6, 0.7])), true);
  equal(isMet(rowOfSamples(name, [0.5, 0.6, 50])), false);
  equal(isMet(rowOfSamples({ ...name, wrong: "differs" }, [0.1])), false);
  equal(isMet(rowOfSamples({ ...name, goals: [] }, [0.1])), undefined);
  equal(isMet(rowOfSamples(name, [])), false);
});

Deno.test("isMet() turns round where more is better", () => {
  const goals = [{ figure: "median", value: 10, isFloor: true }] as const;
  equal(isMet(rowOfSamples({ ...name, goals }, [11])), true);
  equal(isMet(rowOfSamples({ ...name, goals }, [9])), false);
});

Deno.test("syncSummary() names what was missed, what was wrong and what failed", () => {
  const rows = [
    rowOfSamples(name, [0.5]),
    rowOfSamples(name, [2]),
    rowOfSamples({ ...name, goals: [], wrong: "item 3 differs" }, [1]),
    failedRow({ ...name, goals: [] }, "took too long"),
  ];
  const lines = syncSummary(rows);
  equal(lines[0], "1 of 2 sync targets met.");
  match(lines[1]!, /^MISSED: .*2\.00 ms.* instead of ≤ 0\.8, p99 ≤ 5$/);
  match(lines[2]!, /^WRONG: .*item 3 differs$/);
  match(lines[3]!, /^FAILED: .*took too long$/);
});

Deno.test("syncText() and syncPage() show every row under its suite", () => {
  const rows = [
    rowOfSamples(name, [0.5, 0.7]),
    rowOfSamples({ ...name, suite: "distributed" }, [1_234]),
  ];
  const text = syncText(rows).join("\n");
  match(text, /table 2\n.*\n.*0\.60 ms/);
  match(text, /distributed\n.*\n.*1,234 ms/);
  deepEqual(syncPage(rows).filter((line) => line.startsWith("## ")), [
    "## Table 2: sync",
    "## Distributed scenarios",
  ]);
});
