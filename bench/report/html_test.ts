import { deepEqual, doesNotMatch, equal, match, ok } from "node:assert/strict";
import { barScale, logScale } from "./axis.ts";
import { someFigure, someRun, someSuiteRun } from "./fixtures.ts";
import { htmlReport } from "./html.ts";
import { placeOfShare } from "./lines.ts";
import { escapeText, html } from "./markup.ts";

const attack = `"'><script>alert(1)</script><img src=x onerror=alert(2)>&`;

Deno.test("html escapes text, keeps markup, and drops nothing", () => {
  const inner = html`<b>${"<&>"}</b>`;
  equal(
    html`<i title="${'"'}">${inner}${[1, undefined, false, "'"]}</i>`
      .toString(),
    `<i title="&quot;"><b>&lt;&amp;&gt;</b>1&#39;</i>`,
  );
});

Deno.test("htmlReport() lets no foreign text become markup, wherever it stands", () => {
  const figure = someFigure({
    table: attack,
    operation: attack,
    engine: attack,
  });
  const ours = someFigure({ table: attack, operation: attack, median: 9 });
  const run = {
    format: 1,
    suites: [
      someSuiteRun("kv", [
        ours,
        figure,
        { ...figure, engine: "a", wrong: attack },
        { ...figure, engine: "b", failed: attack },
        { ...figure, engine: "c", skipped: attack },
      ], {
        command: attack,
        peers: [attack],
        startedAt: attack,
        machine: {
          os: attack,
          cpu: attack,
          cores: 2,
          memoryGiB: 1,
          fileSystem: attack,
          fdatasyncMicros: 1,
        },
        versions: {
          deno: attack,
          v8: attack,
          sqlite: attack,
          sheaf: attack,
          commit: attack,
          date: attack,
        },
        noise: {
          loadBefore: 0,
          cpuDrift: 1,
          syncDrift: 1,
          spread: 0,
          warning: attack,
        },
      }),
    ],
  } as const;
  const page = htmlReport(run, run);
  doesNotMatch(page, /<script|<img/);
  ok(page.split(escapeText(attack)).length > 20);
});

Deno.test("htmlReport() has no script, loads nothing, and forbids itself both", () => {
  const page = htmlReport(someRun(), someRun(2));
  doesNotMatch(page, /<script|<link|src=|https?:|@import|url\(| on[a-z]+=/);
  match(
    page,
    /Content-Security-Policy"\s+content="default-src 'none'; style-src 'unsafe-inline'"/,
  );
});

Deno.test("htmlReport() says first where we stand", () => {
  const run = {
    format: 1,
    suites: [
      someSuiteRun("kv", [
        someFigure({ median: 1 }),
        someFigure({ engine: "lmdb", median: 2 }),
        someFigure({ operation: "own", median: 2 }),
        someFigure({ operation: "own", engine: "lmdb", median: 1 }),
      ]),
    ],
  } as const;
  const text = htmlReport(run).replaceAll(/<style>.*?<\/style>/gs, "")
    .replaceAll(/<[^>]+>/g, " ").replaceAll(/\s+/g, " ");
  match(
    text,
    /Of 2 comparisons with the best engine of the same durability, Sheaf is ahead in 1 , level in 0 and behind in 1/,
  );
  match(
    text,
    /own Why: reason not found yet\. 2\.0× behind Sheaf Default 2\.00 ms, LMDB 1\.00 ms/,
  );
});

Deno.test("htmlReport() gives a wrong figure no bar and no standing", () => {
  const page = htmlReport({
    format: 1,
    suites: [
      someSuiteRun("kv", [
        someFigure({ median: 1, wrong: "3 values, not 4" }),
        someFigure({ engine: "lmdb", median: 2 }),
      ]),
    ],
  });
  equal(page.match(/class="fill"/g)?.length, 1);
  doesNotMatch(page, /class="chip /);
  match(page, /wrong<\/b>\s*3 values, not 4/);
});

Deno.test("htmlReport() stands bars of work per CPU second by that, not by the median", () => {
  const rate = { unit: "per s", isMoreBetter: true } as const;
  const page = htmlReport({
    format: 1,
    suites: [
      someSuiteRun("kv", [
        someFigure({ ...rate, median: 100, beside: { perCpuSecond: 10 } }),
        someFigure({
          ...rate,
          engine: "lmdb",
          median: 50,
          beside: { perCpuSecond: 40 },
        }),
      ]),
    ],
  });
  const [, work = ""] = page.split("Work per CPU second");
  match(work, /4\.0× behind/);
  doesNotMatch(work.split("</article>")[0] ?? "", /ahead/);
});

Deno.test("htmlReport() sets an earlier run beside, and says what moved", () => {
  const [ours, rival] = [
    someFigure({ median: 1 }),
    someFigure({ engine: "lmdb", median: 2 }),
  ];
  const runOf = (median: number) => ({
    format: 1 as const,
    suites: [someSuiteRun("kv", [{ ...ours, median }, rival])],
  });
  const page = htmlReport(runOf(1.8), runOf(1));
  match(page, /Sheaf: 0 better, 1\s+worse, 0 within the noise/);
  match(page, /\+80 % worse/);
  equal(page.match(/class="then"/g)?.length, 2);
  doesNotMatch(htmlReport(runOf(1)), /side by side/);
});

Deno.test("htmlReport() has for every engine a tick box that hides what is its", () => {
  const page = htmlReport(someRun());
  const boxes = [...page.matchAll(/type="checkbox"\s+id="engine-(\d+)"/g)];
  ok(boxes.length >= 10);
  for (const [, at] of boxes) {
    match(
      page,
      new RegExp(`#engine-${at}:not\\(:checked\\)\\) \\[data-e="${at}"\\]`),
    );
    match(page, new RegExp(`<tr data-e="${at}"`));
  }
});

Deno.test("htmlReport() names every drawing for who cannot see it, or hides it", () => {
  const page = htmlReport(someRun(), someRun(2));
  for (const [svg] of page.matchAll(/<svg[^>]*>/g)) {
    match(svg, /aria-hidden="true"|role="img"\s+aria-label="[^"]+"/);
  }
  match(page, /<polyline class="guide"/);
  match(page, /O\(log n\)/);
});

Deno.test("htmlReport() of an empty run, and of figures without rivals, is a page", () => {
  match(htmlReport({ format: 1, suites: [] }), /This run has no suite/);
  match(
    htmlReport({
      format: 1,
      suites: [
        someSuiteRun("sync", [someFigure({ median: 0, p75: 0, p99: 0 })]),
      ],
    }),
    /No figure of this run has a rival/,
  );
});

Deno.test("barScale() is linear while all bars are seen, else by powers of ten", () => {
  const linear = barScale([1, 10]);
  equal(linear.isLog, false);
  deepEqual([linear.place(0), linear.place(5), linear.place(99)], [0, 0.5, 1]);
  const log = barScale([1, 1_000]);
  equal(log.isLog, true);
  ok(log.place(1) > 0.1 && log.place(1) < 0.2);
  equal(log.place(1_000), 1);
  ok(
    Math.abs(
      log.place(100) - log.place(10) - (log.place(1_000) - log.place(100)),
    ) < 1e-9,
  );
  equal(barScale([]).place(1), 0);
});

Deno.test("logScale() marks powers of ten, and their parts where there are few", () => {
  deepEqual(logScale(1, 10_000).marks, [1, 10, 100, 1_000, 10_000]);
  deepEqual(logScale(1, 10).marks, [1, 2, 5, 10]);
  ok(logScale(1e-6, 1e9).marks.length <= 6);
});

Deno.test("placeOfShare() gives each nine the same room", () => {
  equal(placeOfShare(0), 0);
  ok(Math.abs(placeOfShare(0.9) - 0.25) < 1e-9);
  ok(Math.abs(placeOfShare(0.99) - 0.5) < 1e-9);
  equal(placeOfShare(1), 1);
});
