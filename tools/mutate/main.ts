/**
 * `deno task mutate [PATH…]`: makes small mistakes in the sources, one at a
 * time, and runs the nearest tests against each. A mutant that no test finds
 * is a hole in the tests, or changes nothing that anybody can see;
 * `docs/mutants.md` lists what is known of those.
 *
 * It never changes the checkout, and runs no browser, no bench and nothing that
 * only `deno task test:all` runs.
 *
 * @module
 */

import { Command } from "commander";
import { fileURLToPath } from "node:url";
import { tierOf } from "../test/tiers.ts";
import { type Fate, hunt, soundOf, sourcesOf } from "./hunt.ts";
import { drawn, findMutants, type Mutant } from "./mutants.ts";
import { lineOf, summaryOf, survivorsOf } from "./report.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const PRODUCT = ["src", "repo", "sync", "crypto", "server"];

/** Tests and what is a test itself, and what only a page shows. */
const LEFT_OUT = /_test\.tsx?$|\/conformance\.ts$|^src\/inspector\//;

/** Tests of what is no part of the product, and the one that needs a browser. */
const NOT_ASKED = /^(?:bench|web-demo|tools|tests\/browser)\//;

interface Options {
  readonly seed: string;
  readonly count: number;
  readonly tests: number;
  readonly jobs: number;
  readonly list?: true;
  readonly mutant?: string[];
}

function toCount(text: string): number {
  const count = Number(text);
  if (Number.isSafeInteger(count) && count > 0) return count;
  throw new Error(`"${text}" is no number above 0.`);
}

async function candidatesOf(
  paths: readonly string[],
  { seed, mutant: ids }: Options,
): Promise<Mutant[]> {
  const files: string[] = [];
  for (const path of paths) {
    const found = await sourcesOf(ROOT, path.replace(/\/$/, ""));
    files.push(...found.filter((file) => !LEFT_OUT.test(file)));
  }
  const mutants = await findMutants(ROOT, files);
  if (ids === undefined) return drawn(mutants, seed);
  return ids.map((id) => {
    const mutant = mutants.find((mutant) => mutant.id === id);
    if (mutant !== undefined) return mutant;
    throw new Error(`There is no mutant ${id}.`);
  });
}

async function mutate(paths: readonly string[], options: Options) {
  const candidates = await candidatesOf(
    paths.length === 0 ? PRODUCT : paths,
    options,
  );
  // Who names one wants it as it is.
  const mutants = options.mutant === undefined
    ? await soundOf(ROOT, candidates, options.count)
    : candidates;
  if (options.list) {
    for (const mutant of mutants) console.log(lineOf(mutant));
    return;
  }
  const fates = await hunt(mutants, {
    root: ROOT,
    jobs: options.jobs,
    testsMax: options.tests,
    isQuick: (path) => tierOf(path) === "quick" && !NOT_ASKED.test(path),
    report: progress(mutants.length),
    tell: (message) => console.error(message),
  });
  console.log(survivorsOf(fates).join("\n"));
  console.log(summaryOf(fates));
}

/** Says of each what became of it. */
function progress(count: number): (fate: Fate) => void {
  let done = 0;
  return ({ mutant, killedBy, ran }) => {
    const fate = killedBy === undefined
      ? `lived through ${ran.length} files of tests`
      : `found by ${killedBy}`;
    console.error(`${++done}/${count} ${lineOf(mutant)}: ${fate}`);
  };
}

await new Command("deno task mutate")
  .description(
    "Mistakes in the sources, and whether the nearest tests see them",
  )
  .argument("[paths...]", "files or folders; otherwise the product")
  .option("--seed <text>", "what draws them", "1")
  .option("--count <number>", "how many", toCount, 200)
  .option("--tests <number>", "files of tests for each at most", toCount, 12)
  .option("--jobs <number>", "how many at a time", toCount, 2)
  .option("--list", "print them and run nothing")
  .option("--mutant <id...>", "these alone, by the names that are printed")
  .action(mutate)
  .parseAsync(Deno.args, { from: "user" });
