import { equal, match, ok } from "node:assert/strict";
import { someFigure, someSuiteRun } from "../report/fixtures.ts";
import { suiteText } from "./terminal.ts";

const write = { operation: "set", durability: "fsync" } as const;
const figures = [
  someFigure({ ...write, median: 0.1, target: { of: "median", value: 0.05 } }),
  someFigure({ ...write, engine: "lmdb", median: 0.2 }),
  someFigure({
    ...write,
    engine: "level",
    durability: "written",
    median: 0.01,
    floor: 0.004,
  }),
  someFigure({ ...write, engine: "rxdb", wrong: "3 keys, not 4" }),
  someFigure({
    ...write,
    engine: "redis",
    median: null,
    skipped: "no address",
  }),
];

Deno.test("suiteText() shows each engine under its row, beside the best of its own durability", () => {
  const lines = suiteText(someSuiteRun("kv", figures), 200);
  const line = (name: string) =>
    lines.find((one) => one.startsWith(`  ${name} `)) ?? "";
  ok(lines.includes("kv: One at a time, 10k items"));
  ok(lines.includes("set"));
  match(line("sheaf-default"), /fsync .*0\.500 of lmdb +ahead, MISSED median/);
  match(line("level"), /floor 4\.00 µs$/);
  match(line("rxdb"), /WRONG$/);
  match(line("redis"), /skipped$/);
  ok(lines.includes("0 of 1 targets met."));
  ok(lines.some((one) => /^MISSED: .*100 µs ≤ 50\.0 µs/.test(one)));
  ok(lines.some((one) => one.startsWith("WRONG: rxdb: 3 keys, not 4")));
  ok(lines.some((one) => one.startsWith("skipped: redis: no address")));
});

Deno.test("suiteText() leaves columns out on a narrow terminal, and says that a run was noisy", () => {
  const noise = {
    loadBefore: 3,
    cpuDrift: 1,
    syncDrift: 1,
    spread: 0,
    warning: "A noisy run: so it was.",
  };
  const run = someSuiteRun("kv", figures, { noise });
  const head = (width: number) =>
    suiteText(run, width).find((one) => one.includes("median")) ?? "";
  equal(head(200).includes("p995"), true);
  equal(head(100).includes("p995"), false);
  const widest = Math.max(
    ...suiteText(run, 100).filter((one) => one.startsWith("  "))
      .map((one) => one.replace(/(ahead|behind|level).*$/, "").length),
  );
  ok(widest <= 100, `${widest} columns`);
  ok(suiteText(run, 100).includes("NOISE: A noisy run: so it was."));
});
