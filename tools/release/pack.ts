/**
 * Makes the npm package of the sources: a folder as it is published, and the
 * tarball of it.
 *
 * @module
 */

import { writeDeclarations } from "./declarations.ts";
import { config, manifest } from "./manifest.ts";
import { run } from "./run.ts";
import { buildScripts } from "./scripts.ts";

const root = new URL("../../", import.meta.url).pathname;

/** What is published as it is. */
const TEXTS = ["README.md", "LICENSE", "CHANGELOG.md"];

const CREATE_NAME = "@sheaf/create";

const BIN = `#!/usr/bin/env node
import "../dist/cli.js";
`;

const CREATE = `#!/usr/bin/env node
// \`npm create @sheaf\` is \`sheaf init\`.
process.argv.splice(2, 0, "init");
const sheaf = import.meta.resolve("@sheaf/sheaf/package.json");
await import(new URL("bin/sheaf.js", sheaf).href);
`;

/** What \`sheaf init\` makes apps of. */
const TEMPLATE = "tools/release/template";

/** A package that was made. */
export interface Packed {
  /** The folder that is published. */
  readonly folder: string;
  readonly tarball: string;
  readonly files: number;
  readonly tarballBytes: number;
  readonly dependencies: readonly string[];
}

/**
 * Builds what runs into a folder: scripts, manifest and program.
 *
 * @param more packages that the package needs besides
 */
export async function buildPackage(
  folder: string,
  more: ReadonlySet<string> = new Set(),
): Promise<Record<string, unknown>> {
  const made = manifest(more.union(await buildScripts(folder)));
  Deno.mkdirSync(`${folder}/bin`, { recursive: true });
  Deno.writeTextFileSync(
    `${folder}/package.json`,
    `${JSON.stringify(made, null, 2)}\n`,
  );
  Deno.writeTextFileSync(`${folder}/bin/sheaf.js`, BIN, { mode: 0o755 });
  copyFolder(`${root}${TEMPLATE}`, `${folder}/dist/template`);
  return made;
}

function copyFolder(from: string, to: string): void {
  Deno.mkdirSync(to, { recursive: true });
  for (const { name, isDirectory } of Deno.readDirSync(from)) {
    const copy = isDirectory ? copyFolder : Deno.copyFileSync;
    copy(`${from}/${name}`, `${to}/${name}`);
  }
}

/** Makes the package in an empty folder: `package/`, and the tarball beside it. */
export async function pack(target: string): Promise<Packed> {
  const folder = `${target}/package`;
  const made = await buildPackage(folder, await writeDeclarations(folder));
  for (const text of TEXTS) {
    Deno.copyFileSync(`${root}${text}`, `${folder}/${text}`);
  }
  const agents = `${root}${TEMPLATE}/common/AGENTS.md`;
  Deno.copyFileSync(agents, `${folder}/AGENTS.md`);
  const tarball = `${target}/${tarballName()}`;
  // As npm does it, which a machine with Deno or Bun alone has not.
  await run(target, "tar", "-czf", tarball, "package");
  await packCreate(`${target}/create`);
  return {
    folder,
    tarball,
    files: countFiles(folder),
    tarballBytes: Deno.statSync(tarball).size,
    dependencies: Object.keys(made["dependencies"] as object),
  };
}

/** Makes `@sheaf/create`, as `npm create` asks for it. */
async function packCreate(target: string): Promise<void> {
  const folder = `${target}/package`;
  Deno.mkdirSync(folder, { recursive: true });
  const { name, version, license } = config;
  const made = {
    name: CREATE_NAME,
    version,
    description: "Makes an app with Sheaf",
    license,
    type: "module",
    engines: { node: ">=20" },
    bin: { create: "create.js" },
    dependencies: { [name]: version },
  };
  const text = `${JSON.stringify(made, null, 2)}\n`;
  Deno.writeTextFileSync(`${folder}/package.json`, text);
  Deno.writeTextFileSync(`${folder}/create.js`, CREATE, { mode: 0o755 });
  Deno.copyFileSync(`${root}LICENSE`, `${folder}/LICENSE`);
  const tarball = `${target}/../${tarballName(CREATE_NAME)}`;
  await run(target, "tar", "-czf", tarball, "package");
  Deno.removeSync(target, { recursive: true });
}

function countFiles(folder: string): number {
  let count = 0;
  for (const { name, isDirectory } of Deno.readDirSync(folder)) {
    count += isDirectory ? countFiles(`${folder}/${name}`) : 1;
  }
  return count;
}

function tarballName(name = config.name): string {
  return `${name.replace(/^@[^/]+\//, "")}-${config.version}.tgz`;
}
