/**
 * Checks a tarball under a runtime: in an empty folder that has nothing but it
 * and the runtime, both by `npm install`.
 *
 * @module
 */

import { config } from "./manifest.ts";
import { run } from "./run.ts";
import { buildVectors } from "./vectors.ts";

/** What the package is checked under; the first four are also npm's packages of those runtimes. */
export const runtimes: readonly string[] = [
  "node@20",
  "node@22",
  "node@24",
  "bun",
  "deno",
  "types",
  "jsr",
];

const consumer = new URL("consumer/", import.meta.url).pathname;
const root = new URL("../../", import.meta.url).pathname;
const cache = new URL("../../node_modules/.cache/release/", import.meta.url);
const EMPTY = JSON.stringify({ private: true, type: "module" });

/** Copies what checks a package into a folder. */
export function copyConsumer(folder: string): void {
  for (const { name } of Deno.readDirSync(consumer)) {
    Deno.copyFileSync(`${consumer}${name}`, `${folder}/${name}`);
  }
  Deno.writeTextFileSync(`${folder}/package.json`, EMPTY);
}

/** Runs all checks; gives their summary, throws what failed. */
export async function checkUnder(
  runtime: string,
  tarball: string,
): Promise<string> {
  const folder = Deno.makeTempDirSync({ prefix: "sheaf-release-" });
  try {
    copyConsumer(folder);
    if (runtime === "jsr") return await checkLinked(folder);
    if (runtime === "types") return await checkTypes(folder, tarball);
    await buildVectors(`${folder}/vectors.js`);
    await run(folder, "npm", "install", tarball);
    const said = await run(folder, ...await programOf(runtime), "check.js");
    return said.trim();
  } finally {
    Deno.removeSync(folder, { recursive: true });
  }
}

/** How a module is run under a runtime; npm brings it where it is not here. */
export async function programOf(
  runtime: string,
): Promise<[string, ...string[]]> {
  if (runtime === "deno") return [Deno.execPath(), "run", "--allow-all"];
  const place = `${cache.pathname}${runtime}`;
  const [name = ""] = runtime.split("@");
  const program = `${place}/node_modules/.bin/${name}`;
  try {
    Deno.statSync(program);
  } catch {
    Deno.mkdirSync(place, { recursive: true });
    await run(place, "npm", "install", "--prefix", place, runtime);
  }
  return [program];
}

/** A TypeScript project as strict as they come, without types of Node. */
async function checkTypes(folder: string, tarball: string): Promise<string> {
  const peers = [
    ...["preact", "react", "@types/react", "yjs"],
    ...["@codemirror/state", "@codemirror/view"],
  ];
  await run(folder, "npm", "install", tarball, "typescript@5.9", ...peers);
  const project = {
    compilerOptions: {
      target: "es2022",
      lib: ["es2022", "dom"],
      module: "nodenext",
      strict: true,
      exactOptionalPropertyTypes: true,
      skipLibCheck: false,
      noEmit: true,
      types: [],
    },
    files: ["types.ts"],
  };
  Deno.writeTextFileSync(`${folder}/tsconfig.json`, JSON.stringify(project));
  await run(folder, "npx", "tsc", "-p", ".");
  return "0 errors";
}

/** What JSR would take, and a program that has it from there, by a link to the sources. */
async function checkLinked(folder: string): Promise<string> {
  const deno = Deno.execPath();
  await run(root, deno, "publish", "--dry-run", "--allow-dirty");
  const { name, version } = config;
  const imports = {
    [name]: `jsr:${name}@^${version}`,
    [`${name}/`]: `jsr:/${name}@^${version}/`,
  };
  const project = { links: [root], imports, nodeModulesDir: "none" };
  Deno.writeTextFileSync(`${folder}/deno.json`, JSON.stringify(project));
  await run(folder, deno, "check", "types.ts");
  const suites = ["storage", "crash", "server"];
  return (await run(folder, deno, "run", "-A", "check.js", ...suites)).trim();
}
