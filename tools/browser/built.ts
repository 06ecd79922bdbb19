/**
 * The browser's production build of the package, as it is published: a script for
 * each subpath that pages import, and the chunks that they share.
 *
 * What page and worker load at once are three scripts, common and own. Left to
 * themselves bundlers cut again wherever one of a dozen late modules needs a part:
 * 20 scripts, which compress to 6 KB more.
 *
 * @module
 */

import * as esbuild from "esbuild";
import { minifySync } from "oxc-minify";
import {
  type GetManualChunk,
  type GetModuleInfo,
  type Plugin,
  rollup,
} from "rollup";
import { ownFiles, ownPackage } from "./bundle.ts";
import { production } from "./production.ts";

const root = new URL("../../", import.meta.url).pathname;

/** What a page has where others have the core whole: modules that it shares with a server import that. */
const SHARED = `${root}src/browser/shared.ts`;

/** Subpaths that every page imports some of. */
const CORE: readonly string[] = [".", "./browser", "./worker"];

/** Subpaths that no page imports. */
export const NO_PAGES: readonly string[] = ["./server", "./testing", "./vite"];

/** The name of the files that are made of a subpath, without their endings. */
export function outputName(subpath: string): string {
  return subpath === "." ? "mod" : subpath.replace(/^\.\//, "");
}

/** Packages that are part of it: those of the core. */
const INSIDE = /^@noble\//;

/** One script. */
export interface BuiltScript {
  readonly code: string;
  /** What each source has in it. */
  readonly bytes: ReadonlyMap<string, number>;
}

/** The scripts, by their paths. */
export type Built = ReadonlyMap<string, BuiltScript>;

let built: Promise<Built> | undefined;

/** Builds it, once. */
export function buildPages(): Promise<Built> {
  return built ??= build();
}

async function build(): Promise<Built> {
  const own = [...ownFiles().set(".", SHARED)];
  // What stands last here stands together in what both load: it compresses to 0.5 KB less.
  const files = [
    ...own.filter(([subpath]) => ![...CORE, ...NO_PAGES].includes(subpath)),
    ...own.filter(([subpath]) => CORE.includes(subpath)),
  ];
  const bundle = await rollup({
    input: Object.fromEntries(
      files.map(([subpath, path]) => [outputName(subpath), path]),
    ),
    plugins: [sources, minified],
    logLevel: "silent",
  });
  const { output } = await bundle.generate({
    format: "es",
    generatedCode: "es2015",
    chunkFileNames: "chunks/[hash].js",
    manualChunks: chunkOf,
  });
  await bundle.close();
  return new Map(output.flatMap((chunk) => {
    if (chunk.type !== "chunk") return [];
    const { code, modules } = chunk;
    const bytes = Object.entries(modules).map(([path, { renderedLength }]) =>
      [nameOf(path), renderedLength] as const
    );
    return [[chunk.fileName, { code, bytes: new Map(bytes) }]];
  }));
}

/**
 * Who loads a module, at once or late: page, worker or both; what neither loads
 * at once is cut by who needs what. What one of them loads late is in no script
 * that the other one has to itself, or it would come with all of that.
 */
const chunkOf: GetManualChunk = (path, { getModuleInfo }) => {
  const files = ownFiles();
  const loads = ["./browser", "./worker"].map((subpath) => {
    const start = files.get(subpath)!;
    if (loadedWith(start, getModuleInfo, false).has(path)) return "at once";
    return loadedWith(start, getModuleInfo, true).has(path) ? "late" : "never";
  });
  return loads.includes("at once") ? loads.join() : undefined;
};

/** What is loaded with a module, at once or ever. */
function loadedWith(
  start: string,
  getModuleInfo: GetModuleInfo,
  isLate: boolean,
): Set<string> {
  const loaded = new Set([start]);
  // It grows while it is walked through.
  for (const path of loaded) {
    const info = getModuleInfo(path);
    for (const next of info?.importedIds ?? []) loaded.add(next);
    if (!isLate) continue;
    for (const next of info?.dynamicallyImportedIds ?? []) loaded.add(next);
  }
  return loaded;
}

/** Writes the scripts into a folder. */
export async function writePages(folder: string): Promise<void> {
  for (const [path, { code }] of await buildPages()) {
    const file = `${folder}/${path}`;
    Deno.mkdirSync(file.replace(/\/[^/]*$/, ""), { recursive: true });
    Deno.writeTextFileSync(file, code);
  }
}

/** Where esbuild finds what was built. */
const NAMESPACE = "built";

/** Has an app's bundle take the package as it is published. */
export function publishedPackage(built: Built): esbuild.Plugin[] {
  const scripts = new Map(
    [...ownFiles().keys()].map((subpath) => [
      subpath,
      `${outputName(subpath)}.js`,
    ]),
  );
  return [ownPackage(scripts, NAMESPACE), {
    name: "published-package",
    setup(build) {
      const inside = { filter: /^\./, namespace: NAMESPACE };
      build.onResolve(inside, ({ path, importer }) => ({
        path: new URL(path, `file:///${importer}`).pathname.slice(1),
        namespace: NAMESPACE,
      }));
      build.onLoad({ filter: /.*/, namespace: NAMESPACE }, ({ path }) => ({
        contents: built.get(path)!.code,
        resolveDir: root,
      }));
    },
  }];
}

/** What was built by this input of esbuild's; `undefined` where it is something else. */
export function builtScript(
  built: Built,
  input: string,
): BuiltScript | undefined {
  return built.get(input.replace(`${NAMESPACE}:`, ""));
}

function nameOf(path: string): string {
  return path.replace(root, "").replace(/\?.*/, "");
}

/** Sources as production has them, as JavaScript. */
const sources: Plugin = {
  name: "sources",
  resolveId(name, from) {
    if (name.startsWith("/")) return name;
    if (name.startsWith(".")) {
      const { pathname } = new URL(name, `file://${from}`);
      return `${pathname}${/\?.*/.exec(from ?? "") ?? ""}`; // Of what it imports, too.
    }
    if (!INSIDE.test(name)) return { id: name, external: true };
    const path = new URL(import.meta.resolve(name)).pathname;
    // Pages load SHA-256 at once and SHA-512 late: of this file each gets its part.
    return from?.endsWith("/sha256.ts") ? `${path}?${name}` : path;
  },
  async load(id) {
    const [path = ""] = id.split("?");
    const text = production().sources.get(path) ?? Deno.readTextFileSync(path);
    const { code } = await esbuild.transform(text, {
      loader: "ts",
      target: "es2022",
    });
    return code;
  },
};

/**
 * Shortened by what Vite minifies with: whoever bundles with another one gets 1.5 %
 * less. The names stay instead of maps: an app's own maps lead here.
 */
const minified: Plugin = {
  name: "minified",
  renderChunk(text, { fileName }) {
    const compress = { target: "es2022" };
    const { code, errors } = minifySync(fileName, text, {
      compress,
      mangle: false,
      module: true,
    });
    if (errors.length > 0) throw new Error(errors[0]!.message);
    return code;
  },
};
