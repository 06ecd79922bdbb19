/**
 * The mutants of our sources: found by the plugin beside this, named so that
 * a change elsewhere in a file leaves their names as they are, and drawn by a
 * seed in an order that does not depend on what else there is.
 *
 * @module
 */

import { createHash } from "node:crypto";
import { relative } from "node:path";
import { fileURLToPath } from "node:url";
import type { Change } from "./operators.ts";

/** One change of one file. */
export interface Mutant extends Change {
  /** Eight hexadecimal digits. */
  readonly id: string;
  /** From the root of the project. */
  readonly path: string;
  readonly line: number;
  readonly before: string;
}

/** A change of a file, before it has a name. */
export type Place = Omit<Mutant, "id">;

interface Finding {
  readonly filename: string;
  readonly message: string;
}

function hash(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

/** Gives each its name: what changes into what, in which line, the how many-th such one. */
export function named(
  places: readonly Place[],
  lineOf: (place: Place) => string,
): Mutant[] {
  const counts = new Map<string, number>();
  return places.map((place) => {
    const { path, operator, before, after } = place;
    const what = JSON.stringify([
      path,
      operator,
      before,
      after,
      lineOf(place).trim(),
    ]);
    const count = counts.get(what) ?? 0;
    counts.set(what, count + 1);
    return { ...place, id: hash(`${what}${count}`).slice(0, 8) };
  });
}

/** The order in which a seed draws them. */
export function drawn(mutants: readonly Mutant[], seed: string): Mutant[] {
  const ranked = mutants.map((mutant) => ({
    mutant,
    rank: hash(`${seed}:${mutant.id}`),
  }));
  ranked.sort((a, b) => a.rank < b.rank ? -1 : 1);
  return ranked.map(({ mutant }) => mutant);
}

/** The source with the mutant in it. */
export function mutated(source: string, mutant: Mutant): string {
  const { from, to, before, after, path } = mutant;
  if (source.slice(from, to) !== before) {
    throw new Error(`${path} is not the file in which the mutant was found.`);
  }
  return source.slice(0, from) + after + source.slice(to);
}

const SETTINGS = JSON.stringify({
  lint: {
    plugins: [new URL("./operators.ts", import.meta.url).href],
    rules: { tags: [], include: ["mutants/all"] },
  },
});

async function lint(root: string, paths: readonly string[]) {
  const config = await Deno.makeTempFile({ suffix: ".json" });
  try {
    await Deno.writeTextFile(config, SETTINGS);
    const { stdout } = await new Deno.Command(Deno.execPath(), {
      args: ["lint", "--json", "--config", config, ...paths],
      cwd: root,
      stderr: "inherit",
    }).output();
    // Its form is that of `deno lint --json`, version 1.
    const { diagnostics } = JSON.parse(new TextDecoder().decode(stdout)) as {
      diagnostics: Finding[];
    };
    return diagnostics;
  } finally {
    await Deno.remove(config);
  }
}

/** All mutants of the files at `paths`, in their order. */
export async function findMutants(
  root: string,
  paths: readonly string[],
): Promise<Mutant[]> {
  if (paths.length === 0) return [];
  const sources = new Map<string, string>();
  const places: Place[] = [];
  for (const { filename, message } of await lint(root, paths)) {
    const path = relative(root, fileURLToPath(filename));
    const source = sources.get(path) ??
      await Deno.readTextFile(`${root}/${path}`);
    sources.set(path, source);
    const change = JSON.parse(message) as Change; // the plugin's own
    const before = source.slice(change.from, change.to);
    const line = source.slice(0, change.from).split("\n").length;
    places.push({ ...change, path, line, before });
  }
  places.sort((a, b) =>
    a.path === b.path ? a.from - b.from : a.path < b.path ? -1 : 1
  );
  return named(
    places,
    ({ path, line }) => sources.get(path)!.split("\n")[line - 1]!,
  );
}
