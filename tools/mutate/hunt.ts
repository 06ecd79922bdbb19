/**
 * Runs the nearest tests against mutants, several at a time, each in a copy
 * of the tree, and says which mutants lived.
 *
 * Tests are run where they reach the mutant's line and pass without it; what
 * takes much longer than then has found the mutant.
 *
 * @module
 */

import { join } from "node:path";
import { importsOf, type ModuleGraph } from "../module_graph.ts";
import type { Mutant } from "./mutants.ts";
import { isTest, Nearest } from "./nearest.ts";
import { type Reach, Reaches } from "./reach.ts";
import { Sandbox } from "../sandbox.ts";
import { filesAtFault, put, tryTests } from "./trial.ts";

/** What became of a mutant. */
export interface Fate {
  readonly mutant: Mutant;
  /** The tests that found it; absent when it lived. */
  readonly killedBy?: string;
  /** The files of tests that ran until then. */
  readonly ran: readonly string[];
}

/** How to hunt. */
export interface HuntOptions {
  readonly root: string;
  /** How many files of tests are run against a mutant at most. */
  readonly testsMax: number;
  readonly jobs: number;
  /** May this file of tests run for each mutant? */
  readonly isQuick: (path: string) => boolean;
  readonly report: (fate: Fate) => void;
  /** Hears what goes on, and which tests are of no use. */
  readonly tell: (message: string) => void;
}

/** What takes less has not found the mutant by being late. */
const MUTANT_MS_MIN = 20_000;
/** Other processes make a run slower than the one without a mutant was. */
const SLOWER_MAX = 6;

/** The modules below `root`, without tests that are too large. */
async function graphOf(
  root: string,
  isQuick: (path: string) => boolean,
): Promise<ModuleGraph> {
  const graph = new Map<string, string[]>();
  for (const path of await sourcesOf(root, ".")) {
    if (isTest(path) && !isQuick(path)) continue;
    const source = await Deno.readTextFile(join(root, path));
    graph.set(path, importsOf(path, source, { withTypes: false }));
  }
  return graph;
}

/** The modules at or below a path. */
export async function sourcesOf(root: string, path: string): Promise<string[]> {
  if ((await Deno.stat(join(root, path))).isFile) return [path];
  const found: string[] = [];
  for await (const { name, isDirectory } of Deno.readDir(join(root, path))) {
    const inside = path === "." ? name : `${path}/${name}`;
    if (name === "node_modules" || name.startsWith(".")) continue;
    if (isDirectory) found.push(...await sourcesOf(root, inside));
    else if (/\.tsx?$/.test(name)) found.push(inside);
  }
  return found.sort();
}

/** The first `count` mutants that type-check, in their order. */
export async function soundOf(
  root: string,
  mutants: readonly Mutant[],
  count: number,
): Promise<Mutant[]> {
  await using sandbox = await Sandbox.open(root);
  const sound: Mutant[] = [];
  let next = 0;
  while (sound.length < count && next < mutants.length) {
    // Some do not type-check.
    const size = Math.ceil((count - sound.length) * 1.3);
    const some = mutants.slice(next, next + size);
    next += size;
    const faulty = await faultyOf(sandbox, some);
    sound.push(...some.filter((mutant) => !faulty.has(mutant)));
  }
  return sound.slice(0, count);
}

/** A file holds one mutant at a time, so that an error is that one's. */
async function faultyOf(
  sandbox: Sandbox,
  mutants: readonly Mutant[],
): Promise<Set<Mutant>> {
  const faulty = new Set<Mutant>();
  let waiting = [...mutants];
  while (waiting.length > 0) {
    const round = new Map<string, Mutant>();
    for (const mutant of waiting) {
      if (!round.has(mutant.path)) round.set(mutant.path, mutant);
    }
    for (const mutant of round.values()) await put(sandbox, mutant);
    const paths = await filesAtFault(sandbox, [...round.keys()]);
    await sandbox.restore();
    for (const path of paths) {
      const mutant = round.get(path);
      if (mutant !== undefined) faulty.add(mutant);
    }
    waiting = waiting.filter((mutant) => round.get(mutant.path) !== mutant);
  }
  return faulty;
}

/** Tests that run a program of these folders as a process, of which no line is counted. */
const PROCESSES: readonly (readonly [folder: string, tests: string[]])[] = [
  ["src/cli/", ["tests/cli_test.ts", "tests/cli_import_test.ts"]],
];

function startersOf(path: string): string[] {
  return PROCESSES.find(([folder]) => path.startsWith(folder))?.[1] ?? [];
}

/** The tests that reach a mutant, nearest first. */
function testsFor(
  { path, line }: Mutant,
  nearest: Nearest,
  reaches: ReadonlyMap<string, Reach>,
): string[] {
  const reaching = nearest.of(path)
    .filter((test) => reaches.get(test)?.lines[path]?.includes(line));
  const starting = startersOf(path).filter((test) => reaches.has(test));
  return [...new Set([...reaching, ...starting])];
}

async function attack(
  mutant: Mutant,
  tests: readonly [test: string, baseline: number][],
  sandbox: Sandbox,
): Promise<Fate> {
  const ran: string[] = [];
  await put(sandbox, mutant);
  try {
    for (const [test, baseline] of tests) {
      const msMax = Math.max(MUTANT_MS_MIN, SLOWER_MAX * baseline);
      const outcome = await tryTests(sandbox, test, msMax / 1_000);
      ran.push(test);
      if (outcome !== "passed") return { mutant, killedBy: test, ran };
    }
    return { mutant, ran };
  } finally {
    await sandbox.restore();
  }
}

/** What becomes of each mutant when its nearest tests meet it. */
export async function hunt(
  mutants: readonly Mutant[],
  options: HuntOptions,
): Promise<Fate[]> {
  const { root, jobs, testsMax, isQuick, report, tell } = options;
  const graph = await graphOf(root, isQuick);
  const nearest = new Nearest(graph);
  const near = new Set(
    mutants.flatMap(({ path }) => [...nearest.of(path), ...startersOf(path)])
      .filter((test) => graph.has(test)),
  );
  const sandboxes: Sandbox[] = [];
  try {
    for (let job = 0; job < jobs; job++) {
      sandboxes.push(await Sandbox.open(root));
    }
    const kept = await Reaches.open(root, graph);
    const reaches = await kept.of([...near].sort(), sandboxes, tell);
    const fates = new Map<Mutant, Fate>();
    const waiting = mutants.values(); // shared: each takes the next
    await Promise.all(sandboxes.map(async (sandbox) => {
      for (const mutant of waiting) {
        const tests = testsFor(mutant, nearest, reaches).slice(0, testsMax);
        const timed = tests.map((test): [string, number] => [
          test,
          reaches.get(test)!.ms,
        ]);
        const fate = await attack(mutant, timed, sandbox);
        fates.set(mutant, fate);
        report(fate);
      }
    }));
    return mutants.map((mutant) => fates.get(mutant)!);
  } finally {
    await Promise.all(
      sandboxes.map((sandbox) => sandbox[Symbol.asyncDispose]()),
    );
  }
}
