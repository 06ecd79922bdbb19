import { deepEqual, equal, match } from "node:assert/strict";
import {
  someMachine,
  someRivalRow,
  someRow,
  someVersions,
} from "./fixtures.ts";
import { showFigure, showRatio, showSize } from "./format.ts";
import { partsOf, summaryLines, textReport } from "./report_text.ts";

Deno.test("textReport() shows every engine of an operation under its name, once", () => {
  const text = textReport(someMachine, someVersions, [
    someRivalRow(),
    someRow(),
  ]).join("\n");
  equal(text.match(/read by id/g)?.length, 1);
  match(text, /sqlite-full +10\.0 µs/);
  match(text, /default +1\.00 µs .* 0\.100 +≤ 0\.15 {2}met/);
  match(text, /Some CPU, 2 cores/);
});

Deno.test("textReport() says MISSED, WRONG and FAILED in the row", () => {
  const text = textReport(someMachine, someVersions, [
    someRow({ met: false, ratio: 0.3 }),
    someRow({ mode: "trusted", met: false, wrong: "3 items, not 4" }),
    someRow({ mode: "fast", met: false, median: null, failed: "no module" }),
  ]).join("\n");
  match(text, /default .*MISSED/);
  match(text, /trusted .*WRONG\n/);
  match(text, /WRONG: 3 items, not 4 \(read by id, trusted, 1k\)/);
  match(text, /fast .*FAILED\n/);
  match(text, /FAILED: no module/);
});

Deno.test("textReport() warns of a file system that forgets", () => {
  match(
    textReport({ ...someMachine, fileSystem: "tmpfs" }, someVersions, []).join(
      "\n",
    ),
    /WARNING: .*tmpfs/,
  );
});

Deno.test("summaryLines() counts targets and names the missed ones", () => {
  const lines = summaryLines([
    someRivalRow(),
    someRow(),
    someRow({ mode: "fast", met: false, ratio: 0.3 }),
  ]);
  match(lines[0] ?? "", /^1 of 2 targets met/);
  deepEqual(lines.slice(1), [
    "MISSED: read by id, fast, 1k: 0.300 instead of 0.15",
  ]);
});

Deno.test("partsOf() keeps suites and sizes apart", () => {
  const parts = partsOf([
    someRow(),
    someRow({ size: 10_000 }),
    someRow({ suite: "classic" }),
    someRow(),
  ]);
  deepEqual(parts.map((part) => [part.suite, part.size, part.rows.length]), [
    ["table 1", 1_000, 2],
    ["table 1", 10_000, 1],
    ["classic", 1_000, 1],
  ]);
});

Deno.test("showFigure(), showRatio() and showSize() keep three digits that count", () => {
  equal(showFigure(0.21349, "ms"), "0.213 ms");
  equal(showFigure(1_540.4, "µs"), "1540 µs");
  equal(showFigure(12.34, "µs"), "12.3 µs");
  equal(showFigure(null, "MB"), "–");
  equal(showRatio(0.0001234), "0.00012");
  equal(showRatio(0), "0");
  equal(showSize(100_000), "100k");
  equal(showSize(1_000_000), "1m");
  equal(showSize(1_500), "1500");
});
