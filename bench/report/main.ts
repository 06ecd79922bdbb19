/**
 * `deno task bench:report`: a run's JSON as one HTML page, beside an earlier
 * run when there is one.
 *
 * @module
 */

import { Command } from "commander";
import type { Run } from "../harness/figure.ts";
import { compareRuns, movesText } from "./compare.ts";
import { htmlReport } from "./html.ts";
import { parseRun } from "./read.ts";

interface Given {
  readonly html?: string;
}

/** Files of runs are megabytes at most. */
const runBytesMax = 64 * 1024 * 1024;

function program(): Command {
  return new Command("deno task bench:report")
    .description(
      "Makes one self-contained HTML page of a run, or says what moved between two.",
    )
    .argument("<run>", "what `deno task bench --json` wrote")
    .argument("[earlier]", "an earlier run to set beside it")
    .option("--html <file>", "where to write the page")
    .showHelpAfterError("(--help shows the options)");
}

function main(): number {
  const command = program().parse([...Deno.args], { from: "user" });
  const { html } = command.opts<Given>();
  const [path = "", before] = command.processedArgs as [string?, string?];
  if (html === undefined && before === undefined) {
    return complain("Nothing to do: give --html, or an earlier run.");
  }
  try {
    const run = readRun(path);
    const earlier = before === undefined ? undefined : readRun(before);
    if (earlier !== undefined) {
      console.log(movesText(compareRuns(run, earlier)).join("\n"));
    }
    if (html !== undefined) {
      Deno.writeTextFileSync(html, htmlReport(run, earlier));
    }
    return 0;
  } catch (error) {
    if (error instanceof UnreadableRun) return complain(error.message);
    throw error;
  }
}

/** A file that is no run: said in one line, without a stack. */
class UnreadableRun extends Error {
  override name = "UnreadableRun";
}

function readRun(path: string): Run {
  try {
    const { size } = Deno.statSync(path);
    if (size > runBytesMax) throw new SyntaxError(`It has ${size} bytes`);
    return parseRun(Deno.readTextFileSync(path));
  } catch (error) {
    const isExpected = error instanceof SyntaxError ||
      error instanceof Deno.errors.NotFound;
    if (!isExpected) throw error;
    throw new UnreadableRun(`Cannot read ${path}: ${error.message}`);
  }
}

function complain(text: string): number {
  console.error(text);
  return 1;
}

if (import.meta.main) Deno.exit(main());
