/**
 * The scripts of the npm package: ES modules that share chunks, with source maps.
 * Beside a file for each of ours, which weighs a page as much, they are imported in
 * half the time (Node 24: 72 ms of CPU for 164). Minified, as the maps give every
 * name back: Deno imports them in 11 ms of CPU (the sources take 62).
 *
 * @module
 */

import * as esbuild from "esbuild";
import { writePages } from "../browser/built.ts";
import { production } from "../browser/production.ts";
import { config, entryPoints, packageOf } from "./manifest.ts";

const root = new URL("../../", import.meta.url).pathname;

/**
 * Packages that are part of the scripts: those of the core, which Deno needed 5 ms
 * to find, and those of the command line, which nobody else has to download.
 */
const INSIDE = /^(@noble\/|commander$|csv-parse$|msgpackr\/$)/;

/** Those that nobody runs without the core. */
const OVER_CORE = ["cli", "server"].map((name) => root + entryPoints()[name]);

/**
 * The core comes with all that is only loaded from it, so that it is cut into half
 * as many chunks: a chunk costs Deno 0.1 ms of CPU to import, and Node 0.4.
 */
const corePlugin: esbuild.Plugin = {
  name: "core",
  setup(build) {
    const core = root + entryPoints()["mod"];
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
      return { contents: `${contents}\nimport "${core}";`, loader: "ts" };
    });
  },
};

function packagesOutside(): string[] {
  return Object.keys(config.imports)
    .filter((name) => !INSIDE.test(name))
    .map((name) => name.replace(/\/$/, "/*"));
}

/** What the packages inside ask of who hands them on. */
function licensesInside(): string {
  return Object.keys(config.imports).filter((name) => INSIDE.test(name))
    .map((name) => {
      const path = `${root}node_modules/${name}/LICENSE`;
      return `${name.replace(/\/$/, "")}\n\n${Deno.readTextFileSync(path)}`;
    }).join("\n");
}

/**
 * Builds the scripts into `dist/` of a folder, those of the browser's production
 * build into `dist/production/`; gives the packages that they import.
 */
export async function buildScripts(folder: string): Promise<Set<string>> {
  const dist = `${folder}/dist`;
  const outputs = await buildInto(dist);
  await writePages(`${dist}/production`);
  await esbuild.stop();
  const { version, messages } = production();
  Deno.writeTextFileSync(
    `${dist}/messages.json`,
    JSON.stringify({ version, messages }, null, 1),
  );
  Deno.writeTextFileSync(`${dist}/LICENSES.txt`, licensesInside());
  const imports = Object.values(outputs)
    .flatMap(({ imports }) => imports)
    .filter(({ external }) => external);
  return new Set(
    imports.map(({ path }) => packageOf(path)).filter((one) =>
      one !== undefined
    ),
  );
}

async function buildInto(
  outdir: string,
): Promise<esbuild.Metafile["outputs"]> {
  const { metafile } = await esbuild.build({
    entryPoints: entryPoints(),
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
  });
  return metafile!.outputs;
}
