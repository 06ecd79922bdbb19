import { doesNotMatch, equal, match, ok } from "node:assert/strict";
import { docReport } from "./doc.ts";
import { someFigure, someRun, someSuiteRun } from "./fixtures.ts";

const suites = someRun().suites;
const browser =
  "<!-- browser: written by the bench of the browser -->\n\n## In a browser\n\n<!-- end of browser -->";

Deno.test("docReport() names machine, versions, commit, command, date and noise of every suite", () => {
  const page = docReport(suites, undefined);
  for (const { suite } of suites) {
    ok(page.includes(`deno task bench ${suite}\n`), suite);
  }
  match(page, /- Some CPU, 2 cores, 8 GiB, .*ext4, append \+ fdatasync 101 µs/);
  match(
    page,
    /at abc1234, Deno 2\.9\.6, V8 15\.0, SQLite 3\.50\.0, 2026-01-02/,
  );
  match(
    page,
    /load before 0\.1; after ÷ before: CPU 1\.01, fdatasync 0\.97; median spread 5 %/,
  );
  match(page, /- \*\*The machine was busy/);
  match(page, /- LMDB 3\.4\.2, LevelDB 2\.0\.0/);
});

Deno.test("docReport() names durability above each column, and beside a figure that has another", () => {
  const page = docReport([
    someSuiteRun("kv", [
      someFigure({ operation: "set", durability: "fsync", median: 1 }),
      someFigure({ operation: "set all", durability: "written", median: 2 }),
      someFigure({
        engine: "lmdb",
        operation: "set",
        durability: "fsync",
        median: 3,
      }),
    ]),
  ], undefined);
  match(page, /\| operation \| Sheaf Default, fsync \| LMDB, fsync \|/);
  match(page, /\| set \| 1\.00 ms \(2\.00 ms\) ▲ \| 3\.00 ms \(6\.00 ms\) \|/);
  match(page, /\| set all \| 2\.00 ms \(4\.00 ms\), written \| {2}\|/);
});

Deno.test("docReport() lists what is behind with its reason, and confesses where there is none", () => {
  const page = docReport([
    someSuiteRun("kv", [
      someFigure({ operation: "no such row", median: 2 }),
      someFigure({ operation: "no such row", engine: "lmdb", median: 1 }),
    ]),
    someSuiteRun("sqlite", [
      someFigure({
        suite: "sqlite",
        operation: "open, fresh process",
        median: 9,
      }),
      someFigure({
        suite: "sqlite",
        operation: "open, fresh process",
        engine: "sqlite-full",
        median: 1,
      }),
    ]),
  ], undefined);
  match(
    page,
    /- \*\*no such row\*\*: [oO]ne at a time, 10k, Sheaf Default: 2\.0× slower than LMDB, 2\.00 ms against 1\.00 ms\. Why: reason not found yet\./,
  );
  match(page, /9\.0× slower than SQLite FULL, .* SQLite comes compiled/);
});

Deno.test("docReport() says met and MISSED, WRONG, FAILED and skipped", () => {
  const page = docReport([
    someSuiteRun("kv", [
      someFigure({ median: 1, target: { of: "median", value: 2 } }),
      someFigure({
        operation: "set",
        median: 3,
        target: { of: "median", value: 2 },
      }),
      someFigure({ engine: "liar", median: 0.1, wrong: "3 <items>, not 4" }),
      someFigure({ engine: "broken", median: null, failed: "ended\nwith | 1" }),
      someFigure({ engine: "absent", median: null, skipped: "no address" }),
    ]),
  ], undefined);
  match(page, /≤ 2\.00 ms met/);
  match(page, /≤ 2\.00 ms \*\*MISSED\*\*/);
  match(page, /\*\*1 target missed\*\*/);
  match(page, /\*\*WRONG\*\*/);
  match(page, /- liar: WRONG: 3 &lt;items>, not 4 \(1 row\)/);
  match(page, /- broken: FAILED: ended with \\\| 1 \(1 row\)/);
  match(page, /- absent: skipped: no address/);
  match(page, /\| 1 of 2 \|/);
});

Deno.test("docReport() keeps the notes and the browser's section, however often it runs", () => {
  const first = docReport(suites, undefined);
  match(first, /None yet\./);
  const written = first.replace("None yet.", "The row is missed because…")
    .replace("## What the figures", `${browser}\n\n## What the figures`);
  const second = docReport(suites, written);
  equal(second, written);
  equal(docReport(suites, second), written);
});

Deno.test("docReport() warns of a quick run", () => {
  const [first] = suites;
  ok(first !== undefined);
  const quick = { ...first, command: "deno task bench sqlite --quick" };
  match(docReport([quick], undefined), /\*\*A quick run/);
  doesNotMatch(docReport([first], undefined), /A quick run/);
});
