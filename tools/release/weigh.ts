/**
 * What `npm install` brings of a package: its tarball, and all packages that come
 * with it; of ours and of rivals by the same means.
 *
 * @module
 */

import { run } from "./run.ts";

const peers = new URL("../../bench/peers/package.json", import.meta.url);

/** Whose are shown beside ours, in the versions of the bench. */
const RIVALS = ["tinybase", "rxdb"];

/** What comes with a package. */
export interface Weight {
  readonly name: string;
  readonly tarballBytes: number;
  readonly files: number;
  /** Packages that are installed, itself among them. */
  readonly packages: number;
}

/** Ours, by the path of its tarball, and the rivals'. */
export async function weighAll(tarball: string): Promise<Weight[]> {
  const { dependencies } = JSON.parse(await Deno.readTextFile(peers));
  const rivals = RIVALS.map((name) => `${name}@${dependencies[name]}`);
  const weights: Weight[] = [];
  for (const one of [tarball, ...rivals]) weights.push(await weigh(one));
  return weights;
}

async function weigh(specifier: string): Promise<Weight> {
  const folder = await Deno.makeTempDir();
  try {
    const packed = await run(folder, "npm", "pack", "--json", specifier);
    const [{ name, version, size, filename }] = JSON.parse(packed);
    const listed = await run(folder, "tar", "-tzf", filename);
    await Deno.writeTextFile(`${folder}/package.json`, "{}");
    await run(folder, "npm", "install", "--ignore-scripts", specifier);
    const lock = await Deno.readTextFile(`${folder}/package-lock.json`);
    const { packages } = JSON.parse(lock);
    return {
      name: `${name} ${version}`,
      tarballBytes: size,
      files: listed.split("\n").filter((path) => /[^/]$/.test(path)).length,
      packages: Object.keys(packages).filter((path) => path !== "").length,
    };
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}
