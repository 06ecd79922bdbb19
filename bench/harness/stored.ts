/**
 * The last full run of each suite, kept with the project: docs/benchmarks.md
 * is written from all of them, so that one suite can be run again alone.
 *
 * @module
 */

import { parseSuiteRun } from "../report/read.ts";
import type { SuiteRun } from "./figure.ts";
import { everySuite } from "./options.ts";

const folder = new URL("../results/", import.meta.url);

/** Keeps a suite's run in place of its last. */
export function storeSuiteRun(run: SuiteRun, place: URL = folder): void {
  Deno.mkdirSync(place, { recursive: true });
  Deno.writeTextFileSync(
    new URL(`${run.suite}.json`, place),
    // One figure a line: small enough to keep, and a change can be read.
    `${JSON.stringify({ ...run, figures: [] }).replace(/\[\]\}$/, "[\n")}${
      run.figures.map((figure) => JSON.stringify(figure)).join(",\n")
    }\n]}\n`,
  );
}

/** The runs that are kept, in the order of the suites; throws `SyntaxError` if a file holds something else. */
export function readSuiteRuns(place: URL = folder): SuiteRun[] {
  const runs: SuiteRun[] = [];
  for (const suite of everySuite) {
    try {
      const text = Deno.readTextFileSync(new URL(`${suite}.json`, place));
      runs.push(parseSuiteRun(text));
    } catch (error) {
      if (!(error instanceof Deno.errors.NotFound)) throw error;
    }
  }
  return runs;
}
