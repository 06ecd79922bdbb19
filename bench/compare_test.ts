import { deepEqual, equal, match } from "node:assert/strict";
import { compareRuns, comparisonLines } from "./compare.ts";
import { someRivalRow, someRow } from "./fixtures.ts";

Deno.test("compareRuns() compares Sheaf by its ratio, so that a slower machine is no change", () => {
  const then = [someRow({ median: 1, ratio: 0.1 })];
  const now = [someRow({ median: 2, against: 20, ratio: 0.1 })];
  deepEqual(compareRuns(now, then).map((one) => one.verdict), ["noise"]);
});

Deno.test("compareRuns() compares SQLite by its median", () => {
  const [comparison] = compareRuns([someRivalRow({ median: 20, p75: 21 })], [
    someRivalRow(),
  ]);
  equal(comparison?.change, 2);
  equal(comparison?.verdict, "worse");
});

Deno.test("compareRuns() tells better from worse, beyond the rows' own spread", () => {
  const then = [someRow({ ratio: 0.1 })];
  equal(compareRuns([someRow({ ratio: 0.2 })], then)[0]?.verdict, "worse");
  equal(compareRuns([someRow({ ratio: 0.05 })], then)[0]?.verdict, "better");
  equal(compareRuns([someRow({ ratio: 0.11 })], then)[0]?.verdict, "noise");
  equal(
    compareRuns([someRow({ ratio: 0.2, median: 1, p75: 3 })], then)[0]?.verdict,
    "noise",
  );
});

Deno.test("compareRuns() leaves out what only one run has, or has without figures", () => {
  equal(compareRuns([someRow({ size: 2_000 })], [someRow()]).length, 0);
  equal(compareRuns([someRow({ unit: "ms" })], [someRow()]).length, 0);
  equal(
    compareRuns([someRow({ median: null, ratio: null })], [someRow()]).length,
    0,
  );
});

Deno.test("comparisonLines() shows then, now and the change", () => {
  const text = comparisonLines(
    compareRuns([someRow({ ratio: 0.2, median: 2 })], [someRow()]),
  ).join("\n");
  match(
    text,
    /read by id {2}1k {4}default +1\.00 µs +2\.00 µs +0\.100 +0\.200 +\+100 % {2}WORSE/,
  );
  match(text, /0 better, 1 worse/);
  match(comparisonLines([]).join(), /no row in common/);
});
