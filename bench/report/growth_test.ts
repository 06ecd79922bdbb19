import { deepEqual, equal, match } from "node:assert/strict";
import { suiteText } from "../harness/terminal.ts";
import { docReport } from "./doc.ts";
import { someFigure, someSuiteRun } from "./fixtures.ts";
import { growthsOf, showExponent } from "./growth.ts";

const sizes = [1_000, 10_000, 100_000];

function rowOf(grows: (size: number) => number, parts = {}) {
  return sizes.map((size) =>
    someFigure({ size, median: grows(size), ...parts })
  );
}

Deno.test("growthsOf() finds x of n^x, turned round for rates, between points that lie beside the line too", () => {
  const shown = (figures: Parameters<typeof growthsOf>[0]) =>
    growthsOf(figures).map(({ exponent }) => showExponent(exponent));
  deepEqual(shown(rowOf((n) => n / 7)), ["n^1.00"]);
  deepEqual(shown(rowOf(() => 0.3)), ["n^0.00"]);
  deepEqual(shown(rowOf((n) => n ** 1.4)), ["n^1.40"]);
  const rate = { unit: "per s", isMoreBetter: true };
  deepEqual(shown(rowOf((n) => 1e9 / n ** 2, rate)), ["n^2.00"]);
  deepEqual(shown(rowOf((n) => n * (n === 10_000 ? 2 : 1))), ["n^1.00"]);
});

Deno.test("growthsOf() says nothing of two sizes, or of a figure that is wrong", () => {
  const row = rowOf((n) => n);
  equal(growthsOf(row.slice(1)).length, 0);
  equal(growthsOf([...row.slice(1), { ...row[0]!, wrong: "no" }]).length, 0);
  equal(growthsOf([...row.slice(1), { ...row[1]!, engine: "lmdb" }]).length, 0);
});

Deno.test("terminal and document name the exponents of each engine", () => {
  const run = someSuiteRun("kv", [
    ...rowOf((n) => n),
    ...rowOf(() => 1, { engine: "lmdb" }),
  ]);
  match(
    docReport([run], undefined),
    /\| One at a time, get \| n\^1\.00 \| n\^0\.00 \|/,
  );
  match(
    suiteText(run, 200).join("\n"),
    /One at a time, get: sheaf-default n\^1\.00, lmdb n\^0\.00/,
  );
});
