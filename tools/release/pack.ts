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

const BIN = `#!/usr/bin/env node
import "../dist/cli.js";
`;

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
  return made;
}

/** Makes the package in an empty folder: `package/`, and the tarball beside it. */
export async function pack(target: string): Promise<Packed> {
  const folder = `${target}/package`;
  const made = await buildPackage(folder, await writeDeclarations(folder));
  for (const text of TEXTS) {
    Deno.copyFileSync(`${root}${text}`, `${folder}/${text}`);
  }
  const tarball = `${target}/${tarballName()}`;
  // As npm does it, which a machine with Deno or Bun alone has not.
  await run(target, "tar", "-czf", tarball, "package");
  return {
    folder,
    tarball,
    files: countFiles(folder),
    tarballBytes: Deno.statSync(tarball).size,
    dependencies: Object.keys(made["dependencies"] as object),
  };
}

function countFiles(folder: string): number {
  let count = 0;
  for (const { name, isDirectory } of Deno.readDirSync(folder)) {
    count += isDirectory ? countFiles(`${folder}/${name}`) : 1;
  }
  return count;
}

function tarballName(): string {
  return `${config.name.replace(/^@[^/]+\//, "")}-${config.version}.tgz`;
}
