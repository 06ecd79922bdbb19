/**
 * What the npm package says of itself, made from deno.json: there is no second
 * place where an entry point or a version is written.
 *
 * A new subpath is one line in `exports` of deno.json. A package that only who
 * uses a part needs is one name in `PEERS`.
 *
 * @module
 */

import { NO_PAGES, outputName } from "../browser/built.ts";

/** What is read of deno.json. */
export interface Config {
  readonly name: string;
  readonly version: string;
  readonly license: string;
  readonly exports: Readonly<Record<string, string>>;
  readonly imports: Readonly<Record<string, string>>;
}

/** Packages that only those who use a part of ours install. */
const PEERS = [
  "@codemirror/state",
  "@codemirror/view",
  "@opentelemetry/api",
  "jose",
  "preact",
  "prom-client",
  "react",
  "yjs",
];

/** Entries that do something when they are only imported. */
const EFFECTS = ["worker", "production/worker", "cli"];

/** The command line, which is no subpath. */
const CLI = { name: "cli", path: "src/cli/main.ts" } as const;

/** The oldest Node that the package is checked with. */
const NODE_MIN = 20;

/** deno.json. */
export const config: Config = JSON.parse(
  Deno.readTextFileSync(new URL("../../deno.json", import.meta.url)),
);

/** Our own source by the name of the file that is made of it, without its ending. */
export function entryPoints(): Record<string, string> {
  const own = Object.entries(config.exports).map(([subpath, path]) =>
    [outputName(subpath), path.replace(/^\.\//, "")] as const
  );
  return { [CLI.name]: CLI.path, ...Object.fromEntries(own) };
}

function isForPages(subpath: string): boolean {
  return !NO_PAGES.includes(subpath);
}

/**
 * The manifest of the package.
 *
 * @param packages that its scripts and declarations import
 */
export function manifest(
  packages: ReadonlySet<string>,
): Record<string, unknown> {
  const names = [...packages].sort();
  const isPeer = (name: string) => PEERS.includes(name);
  const peers = names.filter(isPeer);
  const { name, version, license } = config;
  return {
    name,
    version,
    description: "An offline-first, synchronizing database",
    license,
    type: "module",
    engines: { node: `>=${NODE_MIN}` },
    exports: { ...exportsOf(), "./package.json": "./package.json" },
    // For resolvers of old that know no `exports`.
    types: typesOf("."),
    bin: { sheaf: "bin/sheaf.js" },
    // A browser has its own WebSocket.
    browser: { ws: false },
    sideEffects: ["bin/*", ...EFFECTS.map((one) => `dist/${one}.js`)],
    dependencies: versionsOf(names.filter((name) => !isPeer(name))),
    peerDependencies: versionsOf(peers),
    peerDependenciesMeta: Object.fromEntries(
      peers.map((name) => [name, { optional: true }]),
    ),
  };
}

function exportsOf(): Record<string, unknown> {
  return Object.fromEntries(
    Object.keys(config.exports).map((subpath) => {
      const name = `${outputName(subpath)}.js`;
      // Vite, webpack and Next.js say "production" by themselves when they build for it.
      const browser = {
        production: `./dist/production/${name}`,
        default: `./dist/${name}`,
      };
      return [subpath, {
        types: typesOf(subpath),
        ...isForPages(subpath) && { browser },
        default: `./dist/${name}`,
      }];
    }),
  );
}

function typesOf(subpath: string): string {
  return `./types/${outputName(subpath)}.d.ts`;
}

function versionsOf(names: readonly string[]): Record<string, string> {
  return Object.fromEntries(names.map((name) => [name, versionOf(name)]));
}

/** As deno.json imports it: `npm:ws@^8` or, for its subpaths, `npm:/ws@^8/`. */
function versionOf(name: string): string {
  const address = config.imports[name] ?? config.imports[`${name}/`];
  const version = address &&
    /^npm:\/?(?:@[^/]+\/)?[^@]+@([^/]+)\/?$/.exec(address)?.[1];
  if (!version) throw new Error(`deno.json imports no package "${name}"`);
  return version;
}

/** The package that a specifier names; `undefined` for files and Node's modules. */
export function packageOf(specifier: string): string | undefined {
  if (/^[./]|^node:/.test(specifier)) return undefined;
  return /^(?:@[^/]+\/)?[^/]+/.exec(specifier)![0];
}
