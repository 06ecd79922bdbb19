/**
 * The scripts of the npm package, with source maps: the core and what goes with
 * it, and the browser's production build.
 *
 * @module
 */

import * as esbuild from "esbuild";
import { writePages } from "../browser/built.ts";
import { production } from "../browser/production.ts";
import { buildCore, packagesInside } from "./core.ts";
import { hintFirstRead } from "./hints.ts";
import { entryPoints, packageOf } from "./manifest.ts";

const root = new URL("../../", import.meta.url).pathname;

/** What the packages inside ask of who hands them on. */
function licensesInside(): string {
  return packagesInside().map((name) => {
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
  const { outputs } = await buildCore(dist, entryPoints());
  await hintFirstRead(dist);
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
