/**
 * Bundles the page, its styles and its service worker into a folder that the
 * server serves.
 *
 * Every file but the page itself bears the hash of its content in its name, and
 * the service worker bears the hash of them all: what is cached is one version
 * as a whole, never a mixture.
 *
 * @module
 */

import * as esbuild from "esbuild";

const here = new URL(".", import.meta.url);
const root = new URL("..", here);
const fromRoot = (path: string) =>
  decodeURIComponent(new URL(path, root).pathname);

/** What was built. */
export interface Built {
  /** Tells one build from another. */
  readonly version: string;
  /** Names of files that the service worker keeps. */
  readonly files: readonly string[];
}

/** Resolves the names by which an app imports Sheaf. */
function sheafNames(): esbuild.Plugin {
  const config: { name: string; exports: Record<string, string> } = JSON.parse(
    Deno.readTextFileSync(new URL("deno.json", root)),
  );
  const names = new Map(
    Object.entries(config.exports).map(([name, path]) => [
      `${config.name}${name.slice(1)}`,
      fromRoot(path),
    ]),
  );
  return {
    name: "sheaf",
    setup(build) {
      build.onResolve({ filter: /^@sheaf\/sheaf/ }, ({ path }) => {
        const file = names.get(path);
        return file === undefined ? undefined : { path: file };
      });
    },
  };
}

const common: esbuild.BuildOptions = {
  bundle: true,
  minify: true,
  format: "esm",
  platform: "browser",
  target: "es2024",
  absWorkingDir: fromRoot("."),
  nodePaths: [fromRoot("node_modules")],
  jsx: "automatic",
  jsxImportSource: "preact",
  legalComments: "none",
  logLevel: "silent",
  plugins: [sheafNames()],
};

/** What a build has beside the app itself. */
export interface BuildOptions {
  /** Does the page bring Sheaf's inspector, for development? (default: false) */
  readonly hasInspector?: boolean;
}

/** Builds everything into the folder `place`, which may hold an older build. */
export async function buildDemo(
  place: string,
  { hasInspector = false }: BuildOptions = {},
): Promise<Built> {
  const folder = await emptyFolder(place);
  const outputs = await buildParts(folder, {
    INSPECTOR: String(hasInspector),
  });
  const names = Object.keys(outputs);
  const app = nameOf(names, "app-", ".js");
  const page = (await Deno.readTextFile(new URL("index.html", here)))
    .replace("{app}", app)
    .replace("{worker}", nameOf(names, "worker-", ".js"))
    .replace("{style}", nameOf(names, "style-", ".css"))
    .replace("{parts}", atOnce(outputs, app).map(preload).join("\n    "));
  await Deno.writeTextFile(`${folder}/index.html`, page);
  for (const name of ["icon.svg", "app.webmanifest"]) {
    await Deno.copyFile(new URL(name, here), `${folder}/${name}`);
  }
  const kept = names.filter((name) => !name.endsWith(".map"));
  const files = [
    "/",
    "/icon.svg",
    "/app.webmanifest",
    ...kept.map((name) => `/${name}`),
  ];
  const version = await hashOf(page);
  await buildServiceWorker(folder, version, files);
  return { version, files };
}

type Outputs = Readonly<Record<string, esbuild.Metafile["outputs"][string]>>;

/** Bundles page, worker and styles together: what both need is one file. Gives all files by name. */
async function buildParts(
  folder: string,
  define: Record<string, string>,
): Promise<Outputs> {
  const { metafile } = await esbuild.build({
    ...common,
    splitting: true,
    metafile: true,
    sourcemap: true,
    entryPoints: {
      app: fromRoot("web-demo/app/main.tsx"),
      worker: fromRoot("web-demo/worker.ts"),
      style: fromRoot("web-demo/style/main.css"),
    },
    define,
    entryNames: "[name]-[hash]",
    chunkNames: "part-[hash]",
    assetNames: "[name]-[hash]",
    loader: { ".woff2": "file" },
    outdir: folder,
  });
  return Object.fromEntries(
    Object.entries(metafile.outputs)
      .map(([path, output]) => [baseName(path), output] as const)
      .sort(([a], [b]) => a < b ? -1 : 1),
  );
}

function baseName(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}

/** What a file imports before it runs, in full; the browser need not find out step by step. */
function atOnce(
  outputs: Outputs,
  name: string,
  found: Set<string> = new Set(),
): readonly string[] {
  for (const { kind, path } of outputs[name]!.imports) {
    const part = baseName(path);
    if (kind !== "import-statement" || found.has(part)) continue;
    found.add(part);
    atOnce(outputs, part, found);
  }
  return [...found];
}

function preload(name: string): string {
  return `<link rel="modulepreload" href="/${name}">`;
}

function nameOf(names: readonly string[], start: string, end: string): string {
  return names.find((name) => name.startsWith(start) && name.endsWith(end))!;
}

async function buildServiceWorker(
  folder: string,
  version: string,
  files: readonly string[],
): Promise<void> {
  await esbuild.build({
    ...common,
    entryPoints: { sw: fromRoot("web-demo/service_worker.ts") },
    define: {
      VERSION: JSON.stringify(version),
      FILES: JSON.stringify(files),
    },
    outdir: folder,
  });
}

async function emptyFolder(place: string): Promise<string> {
  await Deno.mkdir(place, { recursive: true });
  const folder = await Deno.realPath(place);
  for await (const { name } of Deno.readDir(folder)) {
    await Deno.remove(`${folder}/${name}`, { recursive: true });
  }
  return folder;
}

/** The page names all files by their content, so its hash is theirs. */
async function hashOf(text: string): Promise<string> {
  const bytes = new TextEncoder().encode(text);
  const hash = await crypto.subtle.digest("SHA-256", bytes);
  return new Uint8Array(hash).toHex().slice(0, 16);
}

/** Ends the bundler's process. */
export async function endBuilding(): Promise<void> {
  await esbuild.stop();
}
