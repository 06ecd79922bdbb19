import { equal, match, ok } from "node:assert/strict";
import {
  someMachine,
  someRivalRow,
  someRow,
  someVersions,
} from "./fixtures.ts";
import { docReport } from "./report_doc.ts";

const run = {
  machine: someMachine,
  versions: someVersions,
  rows: [someRivalRow(), someRow(), someRow({ suite: "classic" })],
  sync: [],
};

Deno.test("docReport() names machine, versions, date, commit and command", () => {
  const page = docReport(run, "deno task bench --size 1k", undefined);
  for (
    const part of [
      "Some CPU",
      "Deno 2.9.6",
      "SQLite 3.50.0",
      "abc1234",
      "2026-01-02",
      "deno task bench --size 1k",
    ]
  ) {
    ok(page.includes(part), part);
  }
});

Deno.test("docReport() has a table for each suite, with verdicts", () => {
  const page = docReport(
    { ...run, rows: [...run.rows, someRow({ met: false, ratio: 1 })] },
    "deno task bench",
    undefined,
  );
  match(page, /## Table 1, 1k items\n\n\| operation/);
  match(page, /## Classic rows, 1k items/);
  match(
    page,
    /\| read by id \| default \| 1\.00 µs .* \| 0\.100 \| ≤ 0\.15 \| met \|/,
  );
  match(page, /\*\*MISSED\*\*/);
});

Deno.test("docReport() keeps the notes that somebody wrote, however often it runs", () => {
  const first = docReport(run, "deno task bench", undefined);
  const written = first.replace(
    "None yet.",
    "The index row is missed because…",
  );
  const second = docReport(run, "deno task bench", written);
  equal(second, written);
  equal(docReport(run, "deno task bench", second), written);
});
