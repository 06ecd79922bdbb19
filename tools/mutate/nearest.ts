/**
 * Which tests are nearest to a module: the one beside it, then those that
 * import it in few steps, and of these the ones in its folder and the ones
 * that import least beside it.
 *
 * @module
 */

import { dirname } from "node:path";
import type { ModuleGraph } from "../module_graph.ts";

/** A file of tests. */
export const isTest = (path: string): boolean => /_test\.tsx?$/.test(path);

function turned(graph: ModuleGraph): ModuleGraph {
  const turned = new Map<string, string[]>();
  for (const [path, imports] of graph) {
    for (const to of imports) {
      const from = turned.get(to);
      if (from === undefined) turned.set(to, [path]);
      else from.push(path);
    }
  }
  return turned;
}

/** How many steps it is from `start` to each module. */
export function steps(graph: ModuleGraph, start: string): Map<string, number> {
  const steps = new Map([[start, 0]]);
  for (const [path, distance] of steps) {
    for (const next of graph.get(path) ?? []) {
      if (!steps.has(next)) steps.set(next, distance + 1);
    }
  }
  return steps;
}

/** Finds the tests that are nearest to a module. */
export class Nearest {
  readonly #importers: ModuleGraph;
  /** How many modules a file of tests loads. */
  readonly #sizes = new Map<string, number>();

  constructor(graph: ModuleGraph) {
    this.#importers = turned(graph);
    for (const path of graph.keys()) {
      if (isTest(path)) this.#sizes.set(path, steps(graph, path).size);
    }
  }

  /** The tests that import `path`, nearest first. */
  of(path: string): string[] {
    const beside = path.replace(/\.(tsx?)$/, "_test.$1");
    const ranks = [...steps(this.#importers, path)]
      .filter(([found]) => this.#sizes.has(found))
      .map(([found, distance]) => ({
        found,
        rank: [
          found === beside ? 0 : 1,
          distance,
          dirname(found) === dirname(path) ? 0 : 1,
          this.#sizes.get(found)!,
        ],
      }));
    ranks.sort((a, b) => {
      const at = a.rank.findIndex((value, at) => value !== b.rank[at]);
      if (at >= 0) return a.rank[at]! - b.rank[at]!;
      return a.found < b.found ? -1 : 1;
    });
    return ranks.map(({ found }) => found);
  }
}
