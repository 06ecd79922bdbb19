import { deepEqual, equal, match, throws } from "node:assert/strict";
import { Child } from "../../tests/kit/child.ts";
import {
  commandOf,
  orderOf,
  parseCount,
  parseEngines,
  parseOptions,
  parseSizes,
} from "./options.ts";

Deno.test("parseSizes() takes commas, repetitions, k and m", () => {
  deepEqual(parseSizes("1k,10K", undefined), [1_000, 10_000]);
  deepEqual(parseSizes("1m", [1_000]), [1_000, 1_000_000]);
  deepEqual(parseSizes("2500,2500", undefined), [2_500]);
});

Deno.test("parseSizes() refuses what is no number, too small or too large", () => {
  for (const text of ["", "k", "10x", "-1k", "999", "11m", "1e5"]) {
    throws(() => parseSizes(text, undefined), /not a number/);
    throws(() => parseCount(text), /not a number/);
  }
});

Deno.test("parseEngines() takes commas and repetitions, and refuses what no engine is called", () => {
  deepEqual(parseEngines("sheaf, SQLite-full", ["lmdb"]), [
    "lmdb",
    "sheaf",
    "sqlite-full",
  ]);
  for (const text of ["", "a b", "lmdb,", "../x"]) {
    throws(() => parseEngines(text, undefined), /not the name of an engine/);
  }
});

Deno.test("parseOptions() runs sqlite and sync, or what is named, or all", () => {
  deepEqual(parseOptions([]).suites, ["sqlite", "sync"]);
  deepEqual(parseOptions(["kv", "sync"]).suites, ["sync", "kv"]);
  equal(parseOptions(["all", "kv"]).suites.length, 7);
});

Deno.test("parseOptions() takes every flag", () => {
  const args =
    "ycsb --size 1k --size 10k --engines sheaf,lmdb -f read -q --records 20k --operations 5k --postgres p --redis r --json a --csv b --html c --compare d --dir e"
      .split(" ");
  deepEqual(parseOptions(args), {
    suites: ["ycsb"],
    sizes: [1_000, 10_000],
    engines: ["sheaf", "lmdb"],
    filter: "read",
    isQuick: true,
    records: 20_000,
    operations: 5_000,
    addresses: { postgres: "p", redis: "r" },
    json: "a",
    csv: "b",
    html: "c",
    compare: "d",
    isDoc: false,
    folder: "e",
  });
});

Deno.test("records count in ycsb and compare only, where no size is given; the flag goes before the environment", () => {
  const environment = (name: string) =>
    name === "SHEAF_BENCH_RECORDS" ? "5k" : undefined;
  const options = parseOptions(["all"], environment);
  deepEqual(orderOf(options, "compare").sizes, [5_000]);
  deepEqual(orderOf(options, "ycsb").sizes, [5_000]);
  deepEqual(orderOf(options, "stress").sizes, []);
  const flag = parseOptions(["all", "--records", "7k"], environment);
  deepEqual(orderOf(flag, "ycsb").sizes, [7_000]);
  const size = parseOptions(["all", "--size", "1k"], environment);
  deepEqual(orderOf(size, "ycsb").sizes, [1_000]);
});

Deno.test("commandOf() repeats what bears on the figures, and no address", () => {
  equal(commandOf(parseOptions([]), "sync"), "deno task bench sync");
  const args =
    "ycsb -s 1k,10k -e fast -f read -q --operations 3k --json a.json --redis redis://:secret@host"
      .split(" ");
  equal(
    commandOf(parseOptions(args), "ycsb"),
    'deno task bench ycsb --size 1k,10k --operations 3k --engines fast --filter "read" --quick --redis <address>',
  );
  equal(
    commandOf(parseOptions(args), "sqlite"),
    'deno task bench sqlite --size 1k,10k --engines fast --filter "read" --quick',
  );
});

/** What the bench says of arguments that it does not take. */
async function refusalOf(args: readonly string[]): Promise<string> {
  const { code, err, report } = await Child.run([
    "eval",
    "--no-check",
    `import { parseOptions } from ${
      JSON.stringify(new URL("options.ts", import.meta.url).href)
    }; parseOptions(${JSON.stringify(args)});`,
  ]);
  equal(code, 1, report);
  return err;
}

Deno.test("--doc refuses to store a part of a run as the whole", async () => {
  for (const part of [["--quick"], ["--filter", "x"], ["--engines", "lmdb"]]) {
    const refusal = await refusalOf(["kv", "--doc", ...part]);
    match(refusal, /--doc stores whole runs, and --/);
  }
});

Deno.test("--operations and --records refuse suites that would not count them, and no number", async () => {
  const counted = ["sqlite", "--operations", "5k"];
  match(await refusalOf(counted), /only the suite ycsb takes --operations/);
  const recorded = ["stress", "--records", "5k"];
  match(await refusalOf(recorded), /ycsb and compare take --records/);
  const odd = ["ycsb", "--operations", "0"];
  match(await refusalOf(odd), /"0" is not a number from 1k to 10m/);
});
