import { deepEqual, equal, throws } from "node:assert/strict";
import {
  budgetOf,
  commandOf,
  parseModes,
  parseOptions,
  parseSizes,
} from "./options.ts";

Deno.test("parseSizes() takes commas, repetitions, k and m", () => {
  deepEqual(parseSizes("1k,10K", undefined), [1_000, 10_000]);
  deepEqual(parseSizes("1m", [1_000]), [1_000, 1_000_000]);
  deepEqual(parseSizes("2500,2500", undefined), [2_500]);
});

Deno.test("parseSizes() refuses what is no size, too small or too large", () => {
  for (const text of ["", "k", "10x", "-1k", "999", "11m", "1e5"]) {
    throws(() => parseSizes(text, undefined), /not a size/);
  }
});

Deno.test("parseModes() keeps the usual order and refuses unknown ones", () => {
  deepEqual(parseModes("fast,default", undefined), ["default", "fast"]);
  deepEqual(parseModes("trusted", ["default"]), ["default", "trusted"]);
  throws(() => parseModes("quick", undefined), /not one of/);
});

Deno.test("parseOptions() defaults to 100k items and every mode", () => {
  const options = parseOptions([]);
  deepEqual(options.sizes, [100_000]);
  deepEqual(options.modes, ["default", "trusted", "fast"]);
  equal(options.filter, "");
  equal(options.isDoc, false);
});

Deno.test("parseOptions() runs every suite, or those that are named", () => {
  deepEqual(parseOptions([]).suites, ["sqlite", "sync"]);
  const options = parseOptions(["sync", "-q"]);
  deepEqual(options.suites, ["sync"]);
  equal(commandOf(options), "deno task bench sync --size 100k --quick");
});

Deno.test("parseOptions() takes every flag", () => {
  const args =
    "--size 1k --size 10k --mode fast -f read -q --json a.json --csv a.csv --compare b.json --doc --dir d"
      .split(" ");
  const options = parseOptions(args);
  deepEqual(options.sizes, [1_000, 10_000]);
  deepEqual(options.modes, ["fast"]);
  deepEqual([
    options.filter,
    options.json,
    options.csv,
    options.compare,
    options.folder,
  ], [
    "read",
    "a.json",
    "a.csv",
    "b.json",
    "d",
  ]);
  equal(options.isDoc && options.isQuick, true);
  equal(budgetOf(options).rounds < budgetOf(parseOptions([])).rounds, true);
});

Deno.test("commandOf() repeats what bears on the figures", () => {
  equal(commandOf(parseOptions([])), "deno task bench --size 100k");
  const args = "-s 1k,10k -m fast -f read -q --json a.json --doc".split(" ");
  equal(
    commandOf(parseOptions(args)),
    'deno task bench --size 1k,10k --mode fast --filter "read" --quick',
  );
});
