import { deepEqual, equal } from "node:assert/strict";
import { someFigure } from "./fixtures.ts";
import { reasonFor, reasonUnknown } from "./reasons.ts";
import {
  bestRival,
  isAsDurable,
  isMet,
  lostRows,
  noiseOf,
  rowsOf,
  standingsOf,
  standingWords,
} from "./standing.ts";

const ours = someFigure({ durability: "written", median: 1, spread: 0 });
const rival = (engine: string, parts: Parameters<typeof someFigure>[0] = {}) =>
  someFigure({ engine, durability: "written", median: 2, spread: 0, ...parts });

Deno.test("standingsOf() holds each of our figures against the best rival that promises as much", () => {
  const [standing, ...rest] = standingsOf([
    ours,
    rival("slow", { median: 9 }),
    rival("weak", { durability: "queued", median: 0.1 }),
    rival("strong", { durability: "fsync", median: 1.5 }),
    rival("peer"),
  ]);
  equal(rest.length, 0);
  equal(standing?.rival?.engine, "strong");
  equal(standing?.ratio, 1 / 1.5);
  equal(standing?.verdict, "ahead");
  equal(
    standing === undefined ? "" : standingWords(standing),
    "1.5× faster than strong",
  );
});

Deno.test("standingsOf() counts nobody who was wrong, failed, skipped, or is one of ours", () => {
  const [standing] = standingsOf([
    ours,
    rival("liar", { median: 0.1, wrong: "3 items, not 4" }),
    rival("broken", { median: 0.1, failed: "ended with 1" }),
    rival("absent", { median: 0.1, skipped: "not here" }),
    rival("empty", { median: null }),
    rival("sheaf-fast", { median: 0.1 }),
  ]);
  equal(standing?.rival, undefined);
  equal(standing?.verdict, "alone");
  equal(standing?.ratio, null);
});

Deno.test("standingsOf() leaves out a figure of ours that is wrong, however quick", () => {
  deepEqual(standingsOf([{ ...ours, wrong: "no" }, rival("peer")]), []);
});

Deno.test("standingsOf() keeps tables, operations, sizes and units apart", () => {
  const parts = [{ table: "other" }, { operation: "set" }, { size: 1 }, {
    unit: "B" as const,
  }];
  for (const part of parts) {
    const [standing] = standingsOf([ours, rival("peer", part)]);
    equal(standing?.verdict, "alone", JSON.stringify(part));
  }
});

Deno.test("standingsOf() turns rates round, so that below 1 is always ahead", () => {
  const rate = { unit: "per s", isMoreBetter: true } as const;
  const [standing] = standingsOf([
    { ...ours, ...rate, median: 100 },
    rival("faster", { ...rate, median: 300 }),
    rival("slower", { ...rate, median: 50 }),
  ]);
  equal(standing?.rival?.engine, "faster");
  equal(standing?.ratio, 3);
  equal(standing?.verdict, "behind");
  equal(
    standing === undefined ? "" : standingWords(standing),
    "3.0× slower than faster",
  );
});

Deno.test("standingsOf() calls a difference within the noise level, and one beyond it not", () => {
  const verdict = (median: number, spread: number) =>
    standingsOf([{ ...ours, median, spread }, rival("peer", { spread })])[0]
      ?.verdict;
  equal(verdict(2.08, 0), "level");
  equal(verdict(2.2, 0), "behind");
  equal(verdict(1.85, 0), "ahead");
  equal(verdict(2.2, 0.2), "level");
  equal(verdict(1.7, 0.2), "level");
  // Unrest does not excuse everything.
  equal(verdict(3.2, 9), "behind");
});

Deno.test("noiseOf() takes a figure of one process for unsure", () => {
  equal(noiseOf({ ...ours, spread: null }, { ...ours, spread: null }), 1.15);
});

Deno.test("isAsDurable() goes from memory to fsync, and sets reads beside reads only", () => {
  equal(isAsDurable("fsync", "queued"), true);
  equal(isAsDurable("written", "fsync"), false);
  equal(isAsDurable("memory", "queued"), false);
  equal(isAsDurable("none", "none"), true);
  equal(isAsDurable("none", "fsync"), false);
  equal(isAsDurable("fsync", "none"), false);
});

Deno.test("bestRival() passes over a rival that took no time at all", () => {
  equal(bestRival(ours, [ours, rival("odd", { median: 0 })]), undefined);
});

Deno.test("a figure below zero is ahead: it is a difference of two times that cost nothing", () => {
  const [standing] = standingsOf([{ ...ours, median: -0.1 }, rival("peer")]);
  equal(standing?.ratio, 0);
  equal(standing?.verdict, "ahead");
});

Deno.test("isMet() reads targets of ratios, tails and rates", () => {
  const at = { ...ours, median: 10, p99: 20 };
  equal(isMet(at), undefined);
  equal(isMet({ ...at, target: { of: "p99", value: 20 } }), true);
  equal(isMet({ ...at, target: { of: "p99", value: 19 } }), false);
  equal(
    isMet({ ...at, isMoreBetter: true, target: { of: "median", value: 9 } }),
    true,
  );
  equal(
    isMet({ ...at, isMoreBetter: true, target: { of: "median", value: 11 } }),
    false,
  );
  const both = {
    ...at,
    target: { of: "median", value: 10 },
    alsoTargets: [{ of: "p99", value: 20 }],
  } as const;
  equal(isMet(both), true);
  equal(isMet({ ...both, p99: 21 }), false);
  equal(isMet({ ...both, median: 11 }), false);
  const ratio = { ...at, target: { of: "ratio", value: 0.5 } } as const;
  equal(isMet(ratio), false);
  equal(isMet({ ...ratio, against: { engine: "x", ratio: 0.5 } }), true);
  equal(
    isMet({ ...ratio, against: { engine: "x", ratio: 0.1 }, wrong: "no" }),
    false,
  );
});

Deno.test("reasonFor() matches suite, table, operation and engine, the first first", () => {
  const why = (text: string) => ({
    suite: "kv" as const,
    operation: /get/,
    why: text,
  });
  const known = [
    { ...why("table"), table: /^Value/ },
    { ...why("engine"), engine: /fast$/ },
    { ...why("suite"), suite: "stress" as const },
    why("this"),
    why("later"),
  ];
  equal(reasonFor(ours, known)?.why, "this");
  equal(reasonFor({ ...ours, engine: "sheaf-fast" }, known)?.why, "engine");
  equal(reasonFor({ ...ours, operation: "set" }, known), undefined);
  equal(reasonUnknown, "reason not found yet");
});

Deno.test("rowsOf() keeps rows in the order in which they first come", () => {
  const other = someFigure({ operation: "set" });
  const rows = [...rowsOf([ours, other, rival("peer")]).values()];
  deepEqual(rows.map((row) => row.map(({ engine }) => engine)), [
    ["sheaf-default", "peer"],
    ["sheaf-default"],
  ]);
});

Deno.test("lostRows() tells the figures of one operation together, the worst first, and no figure that is not behind", () => {
  const figures = [
    someFigure({ operation: "own", size: 10, median: 3 }),
    someFigure({ operation: "own", size: 10, engine: "lmdb", median: 1 }),
    someFigure({ operation: "own", size: 20, median: 9 }),
    someFigure({ operation: "own", size: 20, engine: "lmdb", median: 1 }),
    someFigure({ operation: "other", median: 5 }),
    someFigure({ operation: "other", engine: "lmdb", median: 1 }),
    someFigure({ operation: "won", median: 1 }),
    someFigure({ operation: "won", engine: "lmdb", median: 5 }),
  ];
  const rows = lostRows(standingsOf(figures));
  deepEqual(
    rows.map(({ operation, standings }) => [
      operation,
      standings.map(({ ours }) => ours.size),
    ]),
    [["own", [20, 10]], ["other", [figures[4]!.size]]],
  );
});
