import { deepEqual, equal, throws } from "node:assert/strict";
import { someFigure, someRun, someSuiteRun } from "../report/fixtures.ts";
import { parseRun } from "../report/read.ts";
import { toCsv, toJson } from "./files.ts";
import { readSuiteRuns, storeSuiteRun } from "./stored.ts";

Deno.test("toJson() writes what parseRun() reads back equal", () => {
  const run = someRun();
  deepEqual(parseRun(toJson(run)), run);
});

Deno.test("toCsv() writes a line a figure and quotes what needs it", () => {
  const figure = someFigure({
    operation: 'set, "large"',
    failed: "one\ntwo",
    median: null,
    target: { of: "p99", value: 5 },
    against: { engine: "lmdb", ratio: 0.5 },
    beside: { perSecond: 7 },
  });
  const text = toCsv({ format: 1, suites: [someSuiteRun("kv", [figure])] });
  const [head = "", line = ""] = text.split("\r\n");
  const names = head.split(",");
  equal(line.includes(',"set, ""large""",'), true);
  equal(line.includes('"one\ntwo"'), true);
  const cells = line.replace('"set, ""large"""', "set")
    .replace('"one\ntwo"', "x").split(",");
  equal(cells.length, names.length);
  const cell = (name: string) => cells[names.indexOf(name)];
  deepEqual(
    ["median", "targetOf", "target", "against", "ratio", "perSecond"].map(cell),
    ["", "p99", "5", "lmdb", "0.5", "7"],
  );
});

Deno.test("stored runs are read back in the order of the suites, the last of each", () => {
  const folder = Deno.makeTempDirSync();
  const place = new URL(`file://${folder}/results/`);
  try {
    deepEqual(readSuiteRuns(place), []);
    const { suites } = someRun();
    for (const run of suites.toReversed()) storeSuiteRun(run, place);
    const kv = someSuiteRun("kv", []);
    storeSuiteRun(kv, place);
    deepEqual(
      readSuiteRuns(place),
      suites.map((run) => run.suite === "kv" ? kv : run),
    );
    Deno.writeTextFileSync(new URL("kv.json", place), '{"suite":"kv"}');
    throws(() => readSuiteRuns(place), SyntaxError);
  } finally {
    Deno.removeSync(folder, { recursive: true });
  }
});
