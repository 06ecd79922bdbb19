/**
 * A private copy of the tree, in which mutants live: the checkout itself is
 * never changed. One mutant is in it at a time, except where types are asked
 * about.
 *
 * @module
 */

import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { type Mutant, mutated } from "./mutants.ts";
import { linesOf, type Reach, type Useless } from "./reach.ts";

/** How the tests of a file ended. */
export type Outcome = "passed" | "failed" | "late";

/** What the tests of a file may take without a mutant; more is too slow to be run for each. */
const BASELINE_MS_MAX = 60_000;
const ERROR_AT = /\bat (file:\/\/\/\S+?\.tsx?):\d+:\d+/g;

async function filesOf(root: string): Promise<string[]> {
  const { stdout, success } = await new Deno.Command("git", {
    args: ["ls-files", "-z", "--cached", "--others", "--exclude-standard"],
    cwd: root,
    stderr: "inherit",
  }).output();
  if (!success) throw new Error(`${root} is no git checkout.`);
  const paths = new TextDecoder().decode(stdout).split("\0");
  return [...new Set(paths)].filter((path) => path !== "");
}

async function copy(from: string, to: string): Promise<void> {
  await Deno.mkdir(dirname(to), { recursive: true });
  try {
    await Deno.copyFile(from, to);
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error; // removed, not committed
  }
}

/** A copy of the tree. */
export class Sandbox {
  readonly #root: string;
  readonly #folder: string;
  /** What stands in the files that are changed now. */
  readonly #originals = new Map<string, string>();

  private constructor(root: string, folder: string) {
    this.#root = root;
    this.#folder = folder;
  }

  /** Copies what git knows of the tree at `root`; packages are shared. */
  static async make(root: string): Promise<Sandbox> {
    const folder = await Deno.realPath(
      await Deno.makeTempDir({ prefix: "mutate-" }),
    );
    for (const path of await filesOf(root)) {
      await copy(join(root, path), join(folder, path));
    }
    const packages = join(root, "node_modules");
    await Deno.symlink(packages, join(folder, "node_modules"));
    return new Sandbox(root, folder);
  }

  /** Puts a mutant into its file. */
  async put(mutant: Mutant): Promise<void> {
    const { path } = mutant;
    const source = await Deno.readTextFile(join(this.#root, path));
    this.#originals.set(path, source);
    await Deno.writeTextFile(join(this.#folder, path), mutated(source, mutant));
  }

  /** Takes every mutant out. */
  async restore(): Promise<void> {
    for (const [path, source] of this.#originals) {
      await Deno.writeTextFile(join(this.#folder, path), source);
    }
    this.#originals.clear();
  }

  /** Which of these modules do not type-check. */
  async faulty(paths: readonly string[]): Promise<Set<string>> {
    const { stdout, stderr } = await new Deno.Command(Deno.execPath(), {
      args: ["check", "--quiet", "--node-modules-dir=manual", ...paths],
      cwd: this.#folder,
      env: { NO_COLOR: "1" },
    }).output();
    const decoder = new TextDecoder();
    const text = decoder.decode(stdout) + decoder.decode(stderr);
    return new Set(Array.from(
      text.matchAll(ERROR_AT),
      ([, url]) => relative(this.#folder, fileURLToPath(url!)),
    ));
  }

  /** Runs the tests of one file up to the first that fails. */
  async test(
    path: string,
    msMax: number,
    options: readonly string[] = [],
  ): Promise<Outcome> {
    const child = new Deno.Command(Deno.execPath(), {
      args: [
        "test",
        "--allow-all",
        "--no-check",
        "--fail-fast",
        "--quiet",
        "--node-modules-dir=manual",
        ...options,
        path,
      ],
      cwd: this.#folder,
      env: { NO_COLOR: "1" },
      stdin: "null",
      stdout: "null",
      stderr: "null",
      detached: true,
    }).spawn();
    let isLate = false;
    const timer = setTimeout(() => {
      isLate = true;
      endGroup(child);
    }, msMax);
    const { success } = await child.status;
    clearTimeout(timer);
    return isLate ? "late" : success ? "passed" : "failed";
  }

  /** What the tests of a file reach while there is no mutant. */
  async measure(path: string): Promise<Reach | Useless> {
    const data = await Deno.makeTempDir();
    try {
      const began = performance.now();
      const outcome = await this.test(path, BASELINE_MS_MAX, [
        `--coverage=${data}`,
        "--coverage-raw-data-only",
      ]);
      const ms = Math.round(performance.now() - began);
      if (outcome === "late") return { why: "it takes too long" };
      if (outcome === "failed") return { why: "it fails without a mutant" };
      return { ms, lines: await this.#linesIn(data) };
    } finally {
      await Deno.remove(data, { recursive: true });
    }
  }

  /** Lines that ran, of our own modules that are no tests. */
  async #linesIn(data: string): Promise<Record<string, number[]>> {
    const { stdout } = await new Deno.Command(Deno.execPath(), {
      args: ["coverage", "--lcov", "--quiet", data],
      cwd: this.#folder,
    }).output();
    const lines: Record<string, number[]> = {};
    for (const [file, ran] of linesOf(new TextDecoder().decode(stdout))) {
      const path = relative(this.#folder, file);
      if (!path.startsWith("..") && ran.size > 0) lines[path] = [...ran];
    }
    return lines;
  }

  /** Removes the copy. */
  async remove(): Promise<void> {
    await Deno.remove(this.#folder, { recursive: true });
  }
}

/** Ends a process and those that it started. */
function endGroup(child: Deno.ChildProcess): void {
  try {
    Deno.kill(-child.pid, "SIGKILL");
  } catch {
    child.kill("SIGKILL");
  }
}
