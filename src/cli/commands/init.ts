/**
 * `sheaf init`: makes an app that works offline, with a server, rules, sign-in
 * and tests. What is there already is left as it is.
 *
 * `npm create @sheaf` is this command, in a package of its own.
 */

import {
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { basename, dirname, join, relative, resolve } from "node:path";
import { escapeControls } from "../output.ts";
import { Failure, usageFailure } from "../failure.ts";
import type { Context } from "../session.ts";

/** What a page is made with. */
export const frameworks = ["preact", "react", "plain"] as const;
/** What runs the server and the tests. */
export const runtimes = ["node", "deno", "bun"] as const;

type Framework = typeof frameworks[number];
type Runtime = typeof runtimes[number];

export interface InitOptions {
  readonly framework?: Framework;
  readonly runtime?: Runtime;
  /** What the app has as Sheaf: a range of versions, a tarball, or a folder. */
  readonly sheaf?: string;
}

interface App {
  readonly folder: string;
  readonly name: string;
  readonly framework: Framework;
  readonly runtime: Runtime;
  readonly sheaf: string;
}

/** How each runtime runs a module, the tests and a program of a package. */
const RUN: Readonly<
  Record<Runtime, { module: string; test: string; program: string }>
> = {
  node: { module: "tsx", test: "tsx --test tests/*.test.ts", program: "" },
  deno: {
    module: "deno run -A",
    test: "deno test -A --no-check tests/",
    program: "deno run -A npm:",
  },
  bun: { module: "bun", test: "bun test tests/", program: "bunx --bun " },
};

const INSTALL = {
  node: "npm install",
  deno: "deno install",
  bun: "bun install",
};
const TASK = { node: "npm run", deno: "deno task", bun: "bun run" };

const VERSIONS = {
  preact: { preact: "^11.2.0" },
  react: { react: "^19.3.0", "react-dom": "^19.3.0" },
  plain: {},
} as const;

const TOOLS = {
  preact: {},
  react: { "@types/react": "^19.3.0", "@types/react-dom": "^19.3.0" },
  plain: {},
} as const;

export async function runInit(
  context: Context,
  named: string | undefined,
  options: InitOptions,
): Promise<void> {
  const app = await describe(context, named, options);
  const made: string[] = [];
  const kept: string[] = [];
  for (const [path, text] of filesOf(app)) {
    const before = textAt(join(app.folder, path));
    if (before === undefined) write(join(app.folder, path), text);
    if (before !== text) (before === undefined ? made : kept).push(path);
  }
  tell(context, app, made, kept);
}

/** Asks for what no flag says, where there is somebody to ask. */
async function describe(
  { ask }: Context,
  named: string | undefined,
  options: InitOptions,
): Promise<App> {
  const place = named ?? (ask && (await ask("Folder of the app [my-app]: ")));
  if (place === undefined) {
    throw usageFailure("No folder was named", "init my-app");
  }
  const folder = resolve(place || "my-app");
  const name = basename(folder).toLowerCase();
  if (!/^[a-z][a-z0-9-]{0,60}$/.test(name)) {
    throw usageFailure(
      `"${name}" is no name of a package`,
      "use letters, digits and dashes",
    );
  }
  const framework = options.framework ?? await choose(ask);
  const runtime = options.runtime ?? runtimeHere();
  const sheaf = sourceOf(folder, options.sheaf ?? `^${versionHere()}`);
  return { folder, name, framework, runtime, sheaf };
}

async function choose(ask: Context["ask"]): Promise<Framework> {
  const said = await ask?.(`${frameworks.join(", ")} [preact]: `);
  const chosen = said?.trim() || "preact";
  const known = frameworks.find((one) => one === chosen);
  if (known) return known;
  throw usageFailure(`"${chosen}" is none of ${frameworks.join(", ")}`);
}

function runtimeHere(): Runtime {
  if ("Deno" in globalThis) return "deno";
  return "Bun" in globalThis ? "bun" : "node";
}

/** Where the app has Sheaf from; a path counts from the app's folder, not from here. */
function sourceOf(folder: string, source: string): string {
  const isPath = /^[./]|^file:|\.tgz$/.test(source);
  if (!isPath) return source;
  const path = resolve(source.replace(/^file:/, ""));
  return `file:${relative(folder, path) || "."}`;
}

/** The package's own. */
function versionHere(): string {
  const manifest = new URL("../package.json", import.meta.url);
  return JSON.parse(readFileSync(manifest, "utf8")).version;
}

/** The app's files by their paths, as they are written. */
function* filesOf(app: App): Generator<[path: string, text: string]> {
  const { framework } = app;
  const isPlain = framework === "plain";
  const words: Record<string, string> = {
    __NAME__: app.name,
    __FRAMEWORK__: framework,
    __VIEW__: isPlain ? "main.ts" : "app.tsx",
    __MAIN__: isPlain ? "main.ts" : "main.tsx",
    __JSX__: isPlain
      ? ""
      : `,\n    "jsx": "react-jsx",\n    "jsxImportSource": "${framework}"`,
    __INSTALL__: INSTALL[app.runtime],
    __TASK__: TASK[app.runtime],
  };
  const fill = (text: string) =>
    text.replace(/__[A-Z]+__/g, (word) => words[word] ?? word);
  for (const [path, text] of templateFiles("common")) {
    yield [path.replace(/^_gitignore$/, ".gitignore"), fill(text)];
  }
  const parts = isPlain ? ["plain"] : ["components", framework];
  for (const part of parts) {
    for (const [path, text] of templateFiles(part)) {
      yield [`src/${path}`, fill(text)];
    }
  }
  yield ["package.json", jsonText(packageOf(app))];
  if (app.runtime === "deno") yield ["deno.json", jsonText(denoConfig(app))];
}

/** Beside the script in the package; the sources have it where that is made. */
const TEMPLATE = import.meta.url.endsWith(".ts")
  ? "../../../tools/release/template/"
  : "template/";

function* templateFiles(part: string): Generator<[path: string, text: string]> {
  const root = new URL(`${TEMPLATE}${part}/`, import.meta.url);
  let paths: string[];
  try {
    paths = readdirSync(root, { recursive: true, encoding: "utf8" });
  } catch (cause) {
    throw new Failure(
      "not-found",
      `There is no template here: ${(cause as Error).message}`,
      "the npm package has it: npx @sheaf/sheaf init",
    );
  }
  for (const path of paths.sort()) {
    const file = new URL(path.replaceAll("\\", "/"), root);
    if (statSync(file).isFile()) {
      yield [path.replaceAll("\\", "/"), readFileSync(file, "utf8")];
    }
  }
}

function packageOf({ name, framework, runtime, sheaf }: App) {
  const { module, test, program } = RUN[runtime];
  return {
    name,
    private: true,
    type: "module",
    scripts: {
      dev: `${module} server/dev.ts`,
      build: `${program}vite build`,
      start: `${module} server/main.ts`,
      test,
      check: `${program}${runtime === "deno" ? "typescript/tsc" : "tsc"}`,
    },
    dependencies: {
      ...(runtime !== "deno" || !sheaf.startsWith("file:")) &&
        { "@sheaf/sheaf": sheaf },
      ...VERSIONS[framework],
    },
    devDependencies: {
      ...TOOLS[framework],
      "@types/node": "^22.0.0",
      ...runtime === "node" && { tsx: "^4.20.0" },
      typescript: "^5.9.0",
      // Deno installs no 8.4.0: it names a package that there is not.
      vite: "~8.3.8",
    },
  };
}

/** Deno has local packages by links. */
function denoConfig({ sheaf }: App) {
  if (!sheaf.startsWith("file:")) return { nodeModulesDir: "auto" };
  const range = `^${versionHere()}`;
  return {
    nodeModulesDir: "auto",
    links: [sheaf.slice("file:".length)],
    imports: {
      "@sheaf/sheaf": `npm:@sheaf/sheaf@${range}`,
      "@sheaf/sheaf/": `npm:/@sheaf/sheaf@${range}/`,
    },
  };
}

const jsonText = (value: unknown) => `${JSON.stringify(value, null, 2)}\n`;

function textAt(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    if ((error as { code?: string }).code === "ENOENT") return undefined;
    throw error;
  }
}

function write(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}

function tell(
  { out }: Context,
  { folder, runtime }: App,
  made: readonly string[],
  kept: readonly string[],
): void {
  const place = relative(".", folder) || ".";
  out.line(
    escapeControls(
      made.length > 0
        ? `Made ${made.length} files in ${place}`
        : `Nothing to do: ${place} has all files`,
    ),
  );
  for (const path of kept) out.line(escapeControls(`Kept as it is: ${path}`));
  if (made.length === 0) return;
  const run = TASK[runtime];
  out.line("");
  if (place !== ".") out.line(escapeControls(`  cd ${place}`));
  out.line(`  ${INSTALL[runtime]}`);
  out.line(`  ${run} dev      the app, with its server; open it in two tabs`);
  out.line(`  ${run} test     its rules, and two devices that sync`);
  out.line(`  ${run} build; ${run} start     as it is deployed`);
}
