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

/** What a page has of it. */
const PAGE = `${root}src/browser/mod.ts`;

/**
 * What comes with what else, loaded by nobody without it: the core's parts are then
 * in 7 scripts and not in 33, each of which costs Deno 0.1 ms of CPU, and Node 0.7.
 */
const OVER: Readonly<Record<string, string>> = {
  "src/cli/main.ts": CORE,
  "server/mod.ts": CORE,
  "tests/kit/mod.ts": CORE,
  "src/hooks/preact.ts": PAGE,
  "src/hooks/react.ts": PAGE,
  "src/inspector/mod.ts": PAGE,
  "src/kv/mod.ts": PAGE,
  "src/text/codemirror.ts": PAGE,
  "src/text/mod.ts": PAGE,
};

/** What is loaded late, too: where it has come, all of the core has. */
const LATE = "late";

const overPlugin: esbuild.Plugin = {
  name: "over",
  setup(build) {
    build.onResolve(
      { filter: /^\./ },
      ({ kind, path, importer }) =>
        kind === "dynamic-import"
          ? {
            path: new URL(path, `file://${importer}`).pathname,
            namespace: LATE,
          }
          : undefined,
    );
    build.onLoad({ filter: /./, namespace: LATE }, ({ path }) => ({
      contents: `import "${CORE}";\nexport * from "${path}";`,
      resolveDir: root,
    }));
    build.onLoad({ filter: /\.ts$/ }, ({ path }) => {
      const below = OVER[path.slice(root.length)];
      if (below === undefined) return;
      const contents = Deno.readTextFileSync(path);
      return { contents: `${contents}\nimport "${below}";`, loader: "ts" };
    });
  },
};

/** What was built. */
export interface Built {
  /** Paths of what went into it. */
  readonly sources: readonly string[];
  readonly outputs: esbuild.Metafile["outputs"];
}

/** Packages that are part of the scripts. */
export function packagesInside(): string[] {
  return packages.filter((name) => INSIDE.test(name));
}

function packagesOutside(): string[] {
  return packages.filter((name) => !INSIDE.test(name))
    .map((name) => name.replace(/\/$/, "/*"));
}

/** Builds entry points, by the names of their scripts, into a folder; gives the sources and what was made of them. */
export async function buildCore(
  outdir: string,
  entryPoints: Readonly<Record<string, string>>,
  options: esbuild.BuildOptions = {},
): Promise<Built> {
  const { metafile } = await esbuild.build({
    entryPoints,
    plugins: [overPlugin],
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
    lineLimit: 160, // Node shows the whole line that threw before its message.
    sourcemap: true,
    metafile: true,
    // In Node only the newest know which module was started.
    define: { "import.meta.main": "true" },
    logLevel: "warning",
    ...options,
  });
  const { inputs, outputs } = metafile!;
  const sources = Object.keys(inputs)
    .filter((path) => !path.startsWith(`${LATE}:`));
  return { sources, outputs };
}
