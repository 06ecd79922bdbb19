/**
 * `deno task bench`: runs, prints, writes.
 *
 * @module
 */

import { killChildren } from "./harness/children.ts";
import type { Run, SuiteRun } from "./harness/figure.ts";
import { toCsv, toJson } from "./harness/files.ts";
import { makeRunFolder, removeFolder } from "./harness/folders.ts";
import { loadNow } from "./harness/noise.ts";
import { type Options, parseOptions } from "./harness/options.ts";
import { Progress } from "./harness/progress.ts";
import { runOne, type Scene, suitesWithCases } from "./harness/run.ts";
import { readSuiteRuns, storeSuiteRun } from "./harness/stored.ts";
import { headerText, suiteText } from "./harness/terminal.ts";
import { compareRuns, movesText } from "./report/compare.ts";
import { docReport } from "./report/doc.ts";
import { suiteProse } from "./report/doc_prose.ts";
import { htmlReport } from "./report/html.ts";
import { parseRun } from "./report/read.ts";
import { killObedient } from "./harness/obedient.ts";

const root = new URL("../", import.meta.url);
/** A run that is broken off must not leave its processes and databases behind. */
const breakingOff: readonly Deno.Signal[] = Deno.build.os === "windows"
  ? ["SIGINT"]
  : ["SIGINT", "SIGTERM", "SIGHUP"];
const docPath = new URL("docs/benchmarks.md", root);
/** Where nobody watches, or the width is not known, everything is shown. */
const widthUnknown = 200;

async function main(): Promise<number> {
  const load = loadNow();
  const options = parseOptions(Deno.args, (name) => Deno.env.get(name));
  const suites = await suitesWithCases(options);
  if (suites.length === 0) return complain(nothingText(options));
  // Read before the long run, so that a wrong file is told at once.
  const earlier = options.compare === undefined
    ? undefined
    : readEarlier(options.compare);
  if (typeof earlier === "string") return complain(earlier);
  const run: Run = {
    format: 1,
    suites: await inFolder(options, load, async (scene) => {
      const done: SuiteRun[] = [];
      for (const suite of suites) {
        done.push(await runOne(suite, options, scene));
        print(done);
        // Each suite is kept as soon as it is there: the next may be broken off.
        write(options, { format: 1, suites: done }, earlier);
      }
      return done;
    }),
  };
  if (earlier !== undefined) {
    console.log(["", ...movesText(compareRuns(run, earlier))].join("\n"));
  }
  return run.suites.some(isBroken) ? 1 : 0;
}

function isBroken({ figures }: SuiteRun): boolean {
  return figures.some(({ wrong, failed }) =>
    wrong !== undefined || failed !== undefined
  );
}

function nothingText({ filter, engines }: Options): string {
  const words = [
    ...(filter === "" ? [] : [`contains "${filter}"`]),
    ...(engines.length === 0 ? [] : [`is of ${engines.join(" or ")}`]),
  ];
  return `No row ${words.join(" and ")}.`;
}

/** Makes the run's folder, and takes it and every process away however the run ends. */
async function inFolder<Result>(
  options: Options,
  load: number,
  work: (scene: Scene) => Promise<Result>,
): Promise<Result> {
  const folder = makeRunFolder(
    options.folder ?? new URL(".data", root).pathname,
  );
  const watcher = new Progress();
  let isBrokenOff = false;
  const interrupt = async (): Promise<void> => {
    isBrokenOff = true;
    killObedient();
    killChildren();
    watcher.end();
    await removeFolder(folder);
    Deno.exit(130);
  };
  for (const signal of breakingOff) Deno.addSignalListener(signal, interrupt);
  try {
    return await work({ folder, load, watcher });
  } catch (cause) {
    // Without its folder the next turn fails before the process has ended.
    if (isBrokenOff) await new Promise<never>(() => {});
    throw cause;
  } finally {
    watcher.end();
    for (const signal of breakingOff) {
      Deno.removeSignalListener(signal, interrupt);
    }
    await removeFolder(folder);
  }
}

/** Shows the suite that has just ended, and what it measured; the machine once, before the first. */
function print(done: readonly SuiteRun[]): void {
  const last = done.at(-1);
  if (last === undefined) return;
  const head = done.length > 1 ? [] : headerText(last.machine, last.versions);
  const measured = ["", ...suiteProse[last.suite]];
  const text = [...head, ...measured, ...suiteText(last, widthOf())];
  console.log(text.join("\n"));
}

function widthOf(): number {
  return Deno.stdout.isTerminal() ? Deno.consoleSize().columns : widthUnknown;
}

/** The earlier run, or why it cannot be read. */
function readEarlier(path: string): Run | string {
  try {
    return parseRun(Deno.readTextFileSync(path));
  } catch (error) {
    const isExpected = error instanceof SyntaxError ||
      error instanceof Deno.errors.NotFound;
    if (!isExpected) throw error;
    return `Cannot compare with ${path}: ${error.message}`;
  }
}

function write(options: Options, run: Run, earlier: Run | undefined): void {
  const { json, csv, html, isDoc } = options;
  if (json !== undefined) Deno.writeTextFileSync(json, toJson(run));
  if (csv !== undefined) Deno.writeTextFileSync(csv, toCsv(run));
  if (html !== undefined) {
    Deno.writeTextFileSync(html, htmlReport(run, earlier));
  }
  const last = run.suites.at(-1);
  if (!isDoc || last === undefined) return;
  storeSuiteRun(last);
  Deno.writeTextFileSync(docPath, docReport(readSuiteRuns(), readPage()));
}

function readPage(): string | undefined {
  try {
    return Deno.readTextFileSync(docPath);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return undefined;
    throw error;
  }
}

function complain(text: string): number {
  console.error(text);
  return 1;
}

if (import.meta.main) Deno.exit(await main());
