import { deepEqual, equal, match, throws } from "node:assert/strict";
import type { Figure, Run } from "../harness/figure.ts";
import { compareRuns, movedOf, movesText } from "./compare.ts";
import { someFigure, someRun, someSuiteRun } from "./fixtures.ts";
import { parseRun } from "./read.ts";

const runOf = (...figures: Figure[]): Run => ({
  format: 1,
  suites: [someSuiteRun("kv", figures)],
});
const ours = someFigure({ median: 1 });
const rival = someFigure({ engine: "lmdb", median: 2 });

Deno.test("compareRuns() compares ours by ratio, so that a slower machine is no change", () => {
  const slow = (figure: Figure) => ({
    ...figure,
    median: (figure.median ?? 0) * 3,
  });
  const moves = compareRuns(runOf(slow(ours), slow(rival)), runOf(ours, rival));
  deepEqual(moves.map(({ verdict, rival }) => [verdict, rival]), [
    ["noise", "lmdb"],
    // The rival's own median says that the machine is another.
    ["worse", undefined],
  ]);
});

Deno.test("compareRuns() sees a figure of ours that moved, either way and for rates too", () => {
  const rate = { unit: "per s", isMoreBetter: true } as const;
  const change = (median: number, parts: Partial<Figure> = {}) =>
    compareRuns(
      runOf({ ...ours, ...parts, median }, { ...rival, ...parts }),
      runOf({ ...ours, ...parts }, { ...rival, ...parts }),
    )[0]?.verdict;
  equal(change(1.4), "worse");
  equal(change(0.6), "better");
  equal(change(1.05), "noise");
  equal(change(1.4, rate), "better");
  equal(change(0.6, rate), "worse");
});

Deno.test("compareRuns() takes the noise of all four figures into account", () => {
  const unsteady = { spread: 0.2 };
  const [move] = compareRuns(
    runOf({ ...ours, ...unsteady, median: 1.35 }, { ...rival, ...unsteady }),
    runOf({ ...ours, ...unsteady }, { ...rival, ...unsteady }),
  );
  equal(move?.verdict, "noise");
});

Deno.test("compareRuns() leaves out rows that one run lacks or got wrong", () => {
  const wrong = { ...ours, wrong: "3 values, not 4" };
  deepEqual(compareRuns(runOf(wrong), runOf(ours)), []);
  deepEqual(compareRuns(runOf(ours), runOf(wrong)), []);
  deepEqual(compareRuns(runOf(ours), runOf({ ...ours, size: 7 })), []);
});

Deno.test("compareRuns() divides by a rival that both runs have", () => {
  const newcomer = { ...rival, engine: "new", median: 0.5 };
  const [move] = compareRuns(runOf(ours, rival, newcomer), runOf(ours, rival));
  equal(move?.rival, "lmdb");
  equal(move?.change, 1);
});

Deno.test("movedOf() begins with the greatest change, and movesText() counts all", () => {
  const two = someFigure({ operation: "set", median: 1 });
  const moves = compareRuns(
    runOf({ ...ours, median: 0.2 }, { ...two, median: 1.5 }, rival),
    runOf(ours, two, rival),
  );
  deepEqual(movedOf(moves).map(({ verdict }) => verdict), ["better", "worse"]);
  const text = movesText(moves).join("\n");
  match(text, /BETTER −80 %: One at a time, get, 10k, Sheaf Default/);
  match(text, /WORSE \+50 %/);
  match(text, /1 better, 1 worse, 1 within the noise/);
  match(movesText([]).join(), /no row in common/);
});

Deno.test("parseRun() reads one suite's run as a run of that suite", () => {
  const [suite] = someRun().suites;
  deepEqual(parseRun(JSON.stringify(suite)), { format: 1, suites: [suite] });
  throws(
    () => parseRun(JSON.stringify({ ...suite, suite: "other" })),
    /the suite\.suite/,
  );
  throws(
    () => parseRun(JSON.stringify({ ...suite, figures: 1 })),
    SyntaxError,
  );
});

Deno.test("parseRun() reads what was written, and says where something else is wrong", () => {
  const run = someRun();
  deepEqual(parseRun(JSON.stringify(run)), run);
  const refuse = (change: (run: Record<string, unknown>) => void) => {
    const copy = JSON.parse(JSON.stringify(run));
    change(copy);
    try {
      parseRun(JSON.stringify(copy));
    } catch (error) {
      return error instanceof SyntaxError ? error.message : String(error);
    }
    return "nothing";
  };
  match(refuse((run) => run.format = 2), /format 1/);
  match(refuse((run) => run.suites = {}), /format 1/);
  const first = (run: Record<string, unknown>) =>
    (run.suites as { figures: Record<string, unknown>[] }[])[0]?.figures[0] ??
      {};
  match(
    refuse((run) => first(run).median = "1"),
    /suites\[0\].figures\[0\].median/,
  );
  match(refuse((run) => first(run).engine = 7), /engine/);
  match(refuse((run) => first(run).durability = "maybe"), /durability/);
  match(refuse((run) => first(run).distribution = [1, null]), /distribution/);
  match(refuse((run) => first(run).target = { of: "x", value: 1 }), /target/);
  match(refuse((run) => first(run).beside = { mean: "<b>" }), /beside.mean/);
});
