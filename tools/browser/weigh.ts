/**
 * Weighs what a page loads: bundles entries, minified and with shared chunks,
 * and says what each chunk holds, and whether it comes at once or later.
 *
 * @module
 */

import { gzipSync } from "node:zlib";
import * as esbuild from "esbuild";
import { bundleOptions, textEntries } from "./bundle.ts";
import {
  buildPages,
  type Built,
  builtScript,
  publishedPackage,
} from "./built.ts";

/** What is weighed: modules by name, each as TypeScript text. */
export interface Scale {
  readonly entries: Readonly<Record<string, string>>;
  /** The folder whose `node_modules` has the packages; by default, this project's. */
  readonly packages?: string;
  /** Sources of ours whose `import()` has happened: they and what they import count as at once. */
  readonly fetched?: readonly string[];
  /** Packages and modules that are weighed elsewhere. */
  readonly external?: readonly string[];
}

/** One script that a browser would load. */
export interface Chunk {
  readonly name: string;
  readonly gzipBytes: number;
  /** Nothing waits for it: only an `import()` brings it. */
  readonly isLazy: boolean;
  /** Share of each source in `gzipBytes`, by its size before compression. */
  readonly shares: ReadonlyMap<string, number>;
}

/** What a scale shows. */
export interface Weight {
  readonly chunks: readonly Chunk[];
  /** Bytes that each entry alone loads at once; what entries share counts for each. */
  readonly entries: ReadonlyMap<string, number>;
  /** What no browser must be given: Node's modules, wasm. */
  readonly forbidden: readonly string[];
}

const FORBIDDEN =
  /\b(?:from|import)\s*\(?["'`]node:[^"'`]+|\bWebAssembly\b|\.wasm\b/g;

type Outputs = esbuild.Metafile["outputs"];

/** Outputs that `starts` load, by static imports alone unless `withLazy`. */
function reached(
  outputs: Outputs,
  starts: readonly string[],
  withLazy: boolean,
): Set<string> {
  const seen = new Set<string>();
  const visit = (path: string): void => {
    if (seen.has(path)) return;
    seen.add(path);
    for (const { path: next, kind, external } of outputs[path]?.imports ?? []) {
      const isFollowed = withLazy || kind === "import-statement";
      if (external !== true && isFollowed) visit(next);
    }
  };
  starts.forEach(visit);
  return seen;
}

function nameOf(path: string): string {
  return path.replace("bundle/", "");
}

function sharesOf(
  inputs: Outputs[string]["inputs"],
  gzipBytes: number,
  built: Built,
): Map<string, number> {
  const sizes = Object.entries(inputs).flatMap(([path, { bytesInOutput }]) => {
    const bytes = builtScript(built, path)?.bytes ?? new Map([[path, 1]]);
    const all = [...bytes.values()].reduce((sum, one) => sum + one, 0);
    return Array.from(
      bytes,
      ([source, one]) => [source, bytesInOutput * one / all] as const,
    );
  });
  const sum = sizes.reduce((total, [, size]) => total + size, 0);
  return new Map(
    sizes.map(([path, size]) => [path, gzipBytes * size / Math.max(1, sum)]),
  );
}

/** Weighs what a browser loads for `scale`. */
export async function weigh(scale: Scale): Promise<Weight> {
  const options = bundleOptions();
  const texts = textEntries(scale.entries, scale.packages);
  const built = await buildPages();
  const { metafile, outputFiles } = await esbuild.build({
    ...options,
    ...texts,
    plugins: [...publishedPackage(built), ...texts.plugins ?? []],
    external: [...scale.external ?? []],
    minify: true,
    write: false,
    metafile: true,
    outdir: "bundle",
  });
  const contents = new Map(
    outputFiles.map(({ path, contents }) => [path, contents] as const),
  );
  const starts = Object.entries(metafile.outputs)
    .filter(([, { entryPoint }]) => entryPoint?.startsWith("text:"))
    .map(([path]) => path);
  const fetched = (scale.fetched ?? []).map((source) => {
    const found = Object.entries(metafile.outputs)
      .find(([, { entryPoint = "" }]) =>
        entryPoint === source ||
        builtScript(built, entryPoint)?.bytes.has(source)
      );
    if (found === undefined) throw new Error(`Nothing imports ${source}`);
    return found[0];
  });
  const eager = reached(metafile.outputs, [...starts, ...fetched], false);
  const chunks: Chunk[] = [];
  const forbidden: string[] = [];
  for (const path of reached(metafile.outputs, starts, true)) {
    const bytes = contents.get(`${options.absWorkingDir}${path}`);
    const output = metafile.outputs[path];
    if (bytes === undefined || output === undefined) continue;
    const gzipBytes = gzipSync(bytes, { level: 9 }).length;
    chunks.push({
      name: nameOf(path),
      gzipBytes,
      isLazy: !eager.has(path),
      shares: sharesOf(output.inputs, gzipBytes, built),
    });
    forbidden.push(...forbiddenIn(new TextDecoder().decode(bytes)));
  }
  const sizes = new Map(chunks.map(({ name, gzipBytes }) => [name, gzipBytes]));
  const entries = new Map(starts.map((start) => {
    const loaded = [...reached(metafile.outputs, [start], false)];
    const bytes = loaded.map((path) => sizes.get(nameOf(path)) ?? 0);
    return [nameOf(start), bytes.reduce((sum, size) => sum + size, 0)];
  }));
  return { chunks, entries, forbidden };
}

/** What a script names that no browser has, or that we do not ship. */
export function forbiddenIn(text: string): string[] {
  return [...new Set(text.match(FORBIDDEN) ?? [])];
}
