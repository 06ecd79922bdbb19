/**
 * The graph of our modules, read from their import statements.
 *
 * What the lint plugin sees of one file, this sees of all of them together:
 * circles of imports, and files that nothing reaches.
 *
 * @module
 */

/** Where a module's imports lead, by its path from the root of the project. */
export type ModuleGraph = ReadonlyMap<string, readonly string[]>;

const IMPORT =
  /^(?:import|export)\s(?!type\b)[^;]*?from\s+"(\.[^"]+)";|\bimport\("(\.[^"]+)"\)/gm;
const IMPORT_OR_TYPE =
  /^(?:import|export)\s[^;]*?from\s+"(\.[^"]+)";|\bimport\("(\.[^"]+)"\)/gm;

/** Relative modules that a source imports, as paths from the root. */
export function importsOf(
  path: string,
  source: string,
  { withTypes }: { readonly withTypes: boolean },
): string[] {
  const pattern = withTypes ? IMPORT_OR_TYPE : IMPORT;
  const code = source.replace(/^\/\*\*[^]*?\*\//gm, "");
  return Array.from(code.matchAll(pattern), ([, from, dynamic]) => {
    const url = new URL(from ?? dynamic ?? "", `file:///${path}`);
    return url.pathname.slice(1);
  });
}

/** One circle of imports, first module repeated at the end; `undefined` when there is none. */
export function findCircle(graph: ModuleGraph): string[] | undefined {
  const done = new Set<string>();
  const trail: string[] = [];
  const visit = (path: string): string[] | undefined => {
    if (done.has(path)) return;
    const start = trail.indexOf(path);
    if (start >= 0) return [...trail.slice(start), path];
    trail.push(path);
    for (const next of graph.get(path) ?? []) {
      const circle = visit(next);
      if (circle !== undefined) return circle;
    }
    trail.pop();
    done.add(path);
  };
  for (const path of graph.keys()) {
    const circle = visit(path);
    if (circle !== undefined) return circle;
  }
}

/** Modules that no entry reaches, in order. */
export function unreached(
  graph: ModuleGraph,
  entries: readonly string[],
): string[] {
  const reached = new Set<string>();
  const waiting = [...entries];
  for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
    if (reached.has(path)) continue;
    reached.add(path);
    waiting.push(...graph.get(path) ?? []);
  }
  return [...graph.keys()].filter((path) => !reached.has(path)).sort();
}
