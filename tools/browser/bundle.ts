/**
 * Bundles TypeScript for a page: ES modules that share chunks, in a temporary
 * folder. Names of deno.json's import map come from `node_modules`, our own
 * package's names from this checkout.
 *
 * @module
 */

import * as esbuild from "esbuild";
import { keptFolder } from "./kept.ts";

const root = new URL("../../", import.meta.url);

/** The files of our own package, by their subpaths: `./browser`. */
export function ownFiles(): Map<string, string> {
  const { exports } = JSON.parse(
    Deno.readTextFileSync(new URL("deno.json", root)),
  );
  return new Map(
    Object.entries<string>(exports)
      .map(([subpath, path]) => [subpath, new URL(path, root).pathname]),
  );
}

const OWN_NAME = "@sheaf/sheaf";

/** Resolves the names by which an app imports us, to files by their subpaths. */
export function ownPackage(
  files: ReadonlyMap<string, string> = ownFiles(),
  namespace = "file",
): esbuild.Plugin {
  return {
    name: "own-package",
    setup(build) {
      build.onResolve({ filter: /^@sheaf\/sheaf/ }, ({ path }) => {
        const file = files.get(`.${path.slice(OWN_NAME.length)}`);
        return file === undefined
          ? { errors: [{ text: `deno.json exports no "${path}"` }] }
          : { path: file, namespace };
      });
    },
  };
}

/** What every bundle of this project is built with. */
export function bundleOptions(): esbuild.BuildOptions & { bundle: true } {
  return {
    bundle: true,
    splitting: true,
    format: "esm",
    platform: "browser",
    target: "es2024",
    absWorkingDir: root.pathname,
    nodePaths: [new URL("node_modules", root).pathname],
    jsx: "automatic",
    jsxImportSource: "preact",
    legalComments: "none",
    logLevel: "silent",
    plugins: [ownPackage()],
  };
}

/**
 * Options that make modules of texts, by the names of their scripts. Their
 * relative imports start in the root; `packages` is the folder in whose
 * `node_modules` their packages are.
 */
export function textEntries(
  texts: Readonly<Record<string, string>>,
  packages = root.pathname,
): Pick<esbuild.BuildOptions, "entryPoints" | "plugins"> {
  const namespace = "text";
  const plugin: esbuild.Plugin = {
    name: "text-entries",
    setup(build) {
      build.onResolve(
        { filter: /^text:/ },
        ({ path }) => ({ path, namespace }),
      );
      build.onLoad({ filter: /.*/, namespace }, ({ path }) => ({
        contents: texts[path.slice("text:".length)] ?? "",
        loader: "ts",
        resolveDir: root.pathname,
      }));
      build.onResolve(
        { filter: /^[^.]/, namespace },
        ({ path, kind }) => build.resolve(path, { kind, resolveDir: packages }),
      );
    },
  };
  const entryPoints = Object.keys(texts)
    .map((name) => ({ in: `text:${name}`, out: name }));
  return { entryPoints, plugins: [ownPackage(), plugin] };
}

/** Bundles `entries` (name of the script without `.js`, and its source) into `folder`. */
export async function bundle(
  entries: Readonly<Record<string, URL>>,
  folder: string,
  options: esbuild.BuildOptions = {},
): Promise<void> {
  const entryPoints: Record<string, string> = {};
  for (const [name, url] of Object.entries(entries)) {
    entryPoints[name] = url.pathname;
  }
  await esbuild.build({
    ...bundleOptions(),
    entryPoints,
    outdir: folder,
    ...options,
  });
}

/** A folder with the bundle of `entries`, made only where it was not yet, of the same sources. */
export function bundled(
  entries: Readonly<Record<string, URL>>,
): Promise<string> {
  const details = JSON.stringify([entries, esbuild.version]);
  return keptFolder("bundle", details, (folder) => bundle(entries, folder));
}

/** Ends esbuild's process. */
export function endBundling(): Promise<void> {
  return Promise.resolve(esbuild.stop());
}
