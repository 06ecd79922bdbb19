/**
 * The core in scripts: ES modules that share chunks. Beside a file for each of
 * ours, which weighs a page as much, they are imported in half the time (Node 24:
 * 72 ms of CPU for 164). Minified, as the maps give every name back: Deno imports
 * them in 11 ms of CPU (the sources take 62).
 *
 * @module
 */

import * as esbuild from "esbuild";

const root = new URL("../../", import.meta.url).pathname;

const packages = Object.keys(
  JSON.parse(Deno.readTextFileSync(`${root}deno.json`)).imports,
);

/** The core itself. */
const CORE = `${root}mod.ts`;

/**
 * Packages that are part of the scripts: those of the core, which Deno needed 5 ms
 * to find, and those of the command line, which nobody else has to download.
 */
const INSIDE = /^(@noble\/|commander$|csv-parse$|msgpackr\/$)/;

/** Those that nobody runs without the core. */
const OVER_CORE = ["src/cli/main.ts", "server/mod.ts"]
  .map((path) => root + path);

/**
 * The core comes with all that is only loaded from it, so that it is cut into half
 * as many chunks: a chunk costs Deno 0.1 ms of CPU to import, and Node 0.4.
 */
const corePlugin: esbuild.Plugin = {
  name: "core",
  setup(build) {
    build.onResolve(
      { filter: /^\./ },
      ({ kind, path, importer }) =>
        kind === "dynamic-import"
          ? {
            path: new URL(path, `file://${importer}`).pathname,
            pluginData: corePlugin,
          }
          : undefined,
    );
    build.onLoad({ filter: /\.ts$/ }, ({ path, pluginData }) => {
      if (pluginData !== corePlugin && !OVER_CORE.includes(path)) return;
      const contents = Deno.readTextFileSync(path);
      return { contents: `${contents}\nimport "${CORE}";`, loader: "ts" };
    });
  },
};

/** Packages that are part of the scripts. */
export function packagesInside(): string[] {
  return packages.filter((name) => INSIDE.test(name));
}

function packagesOutside(): string[] {
  return packages.filter((name) => !INSIDE.test(name))
    .map((name) => name.replace(/\/$/, "/*"));
}

/** Builds entry points, by the names of their scripts, into a folder; gives what went into it. */
export async function buildCore(
  outdir: string,
  entryPoints: Readonly<Record<string, string>>,
  options: esbuild.BuildOptions = {},
): Promise<esbuild.Metafile> {
  const { metafile } = await esbuild.build({
    entryPoints,
    plugins: [corePlugin],
    outdir,
    chunkNames: "chunks/[hash]",
    absWorkingDir: root,
    bundle: true,
    splitting: true,
    format: "esm",
    platform: "neutral",
    target: "es2022",
    external: [...packagesOutside(), "node:*"],
    alias: { stream: "node:stream" }, // As csv-parse calls it.
    minifyIdentifiers: true,
    minifySyntax: true,
    minifyWhitespace: true,
    sourcemap: true,
    metafile: true,
    // In Node only the newest know which module was started.
    define: { "import.meta.main": "true" },
    logLevel: "warning",
    ...options,
  });
  return metafile!;
}
