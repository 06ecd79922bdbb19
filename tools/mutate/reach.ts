/**
 * Which lines the tests of a file run, and how long that takes without a
 * mutant. What was measured is kept, for as long as nothing changes that the
 * tests import.
 *
 * @module
 */

import { createHash } from "node:crypto";
import { join, relative } from "node:path";
import type { ModuleGraph } from "../module_graph.ts";
import { steps } from "./nearest.ts";
import type { Sandbox } from "../sandbox.ts";
import { TOOL_SECONDS_MAX, tryTests } from "./trial.ts";

/** What one file of tests reaches. */
export interface Reach {
  readonly ms: number;
  /** Path → numbers of the lines that ran. */
  readonly lines: Readonly<Record<string, readonly number[]>>;
}

/** Why a file of tests is of no use here. */
export interface Useless {
  readonly why: string;
}

type Kept = Record<string, (Reach | Useless) & { readonly hash: string }>;

/**
 * Reads the lines that ran from a report in the format of lcov. A line of which
 * a part did not run counts as none there, but one of its branches was taken.
 */
export function linesOf(lcov: string): Map<string, Set<number>> {
  const found = new Map<string, Set<number>>();
  let lines = new Set<number>();
  for (const text of lcov.split("\n")) {
    if (text.startsWith("SF:")) found.set(text.slice(3), lines = new Set());
    const [, line, count] = /^(?:DA:(\d+),|BRDA:(\d+),\d+,\d+,)(\d+)/.exec(text)
      ?.filter((part) => part !== undefined) ?? [];
    if (count !== undefined && count !== "0") lines.add(Number(line));
  }
  return found;
}

/** What the tests of a file may take without a mutant; more is too slow to be run for each. */
const BASELINE_SECONDS_MAX = 60;

/** What the tests of a file reach while there is no mutant. */
async function measure(
  sandbox: Sandbox,
  path: string,
): Promise<Reach | Useless> {
  const data = await Deno.makeTempDir();
  try {
    const began = performance.now();
    const outcome = await tryTests(sandbox, path, BASELINE_SECONDS_MAX, [
      `--coverage=${data}`,
      "--coverage-raw-data-only",
    ]);
    const ms = Math.round(performance.now() - began);
    if (outcome === "late") return { why: "it takes too long" };
    if (outcome === "failed") return { why: "it fails without a mutant" };
    return { ms, lines: await linesIn(sandbox, data) };
  } finally {
    await Deno.remove(data, { recursive: true });
  }
}

/** Lines that ran, of our own modules that are no tests. */
async function linesIn(
  sandbox: Sandbox,
  data: string,
): Promise<Record<string, number[]>> {
  const args = ["coverage", "--lcov", "--quiet", data];
  const { output } = await sandbox.run(args, { secondsMax: TOOL_SECONDS_MAX });
  const lines: Record<string, number[]> = {};
  for (const [file, ran] of linesOf(output)) {
    const path = relative(sandbox.path, file);
    if (!path.startsWith("..") && ran.size > 0) lines[path] = [...ran];
  }
  return lines;
}

/** What files of tests reach, from a file or measured. */
export class Reaches {
  readonly #root: string;
  readonly #graph: ModuleGraph;
  readonly #kept: Kept;
  readonly #file: string;

  private constructor(
    root: string,
    graph: ModuleGraph,
    file: string,
    kept: Kept,
  ) {
    this.#root = root;
    this.#graph = graph;
    this.#file = file;
    this.#kept = kept;
  }

  /** Opens what was measured before. */
  static async open(root: string, graph: ModuleGraph): Promise<Reaches> {
    const file = join(root, ".data/mutate.json");
    let kept: Kept = {};
    try {
      kept = JSON.parse(await Deno.readTextFile(file)) as Kept; // its own
    } catch (error) {
      if (!(error instanceof Deno.errors.NotFound)) throw error;
    }
    return new Reaches(root, graph, file, kept);
  }

  /** What is known of some files of tests; the others are measured, several at a time. */
  async of(
    tests: readonly string[],
    sandboxes: readonly Sandbox[],
    tell: (message: string) => void,
  ): Promise<Map<string, Reach>> {
    const hashes = new Map<string, string>();
    for (const test of tests) hashes.set(test, await this.#hashOf(test));
    const waiting = tests
      .filter((test) => this.#kept[test]?.hash !== hashes.get(test));
    let left = waiting.length;
    if (left > 0) tell(`${left} files of tests are measured first.`);
    const queue = waiting.values(); // shared: each takes the next
    await Promise.all(sandboxes.map(async (sandbox) => {
      for (const test of queue) {
        const reach = await measure(sandbox, test);
        this.#kept[test] = { ...reach, hash: hashes.get(test)! };
        await this.#save();
        if (--left % 20 === 0 && left > 0) tell(`${left} are left.`);
      }
    }));
    const found = new Map<string, Reach>();
    for (const test of tests) {
      const kept = this.#kept[test]!;
      if ("why" in kept) tell(`${test} is left out: ${kept.why}.`);
      else found.set(test, kept);
    }
    return found;
  }

  async #hashOf(test: string): Promise<string> {
    const hash = createHash("sha256");
    for (const path of [...steps(this.#graph, test).keys()].sort()) {
      try {
        hash.update(await Deno.readTextFile(join(this.#root, path)));
      } catch (error) {
        if (!(error instanceof Deno.errors.NotFound)) throw error; // only in a text
      }
    }
    return hash.digest("hex");
  }

  async #save(): Promise<void> {
    await Deno.mkdir(join(this.#root, ".data"), { recursive: true });
    await Deno.writeTextFile(this.#file, JSON.stringify(this.#kept));
  }
}
