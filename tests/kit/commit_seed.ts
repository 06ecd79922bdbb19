/**
 * Seeds that differ by commit: the same for everybody who tests one commit, and
 * others for the next one.
 *
 * They follow from the commit's hash, read from the repository's own files, as
 * git need not be installed; where there is no repository, from the bytes of
 * the source.
 *
 * @module
 */

import { createHash } from "node:crypto";
import { join } from "node:path";
import { sized } from "./tier.ts";

const ROOT = new URL("../..", import.meta.url).pathname;

const SOURCES = ["deno.json", "crypto", "repo", "server", "src", "sync"];

/** A seed of 28 bits that follows from the commit. */
export function commitSeed(root: string = ROOT): number {
  const hash = commitOf(root) ?? hashOf(root);
  return Number.parseInt(hash.slice(0, 7), 16);
}

/** Seeds from 1 to `pinned`, and in the big tier so many more that differ by commit. */
export function seedsOf(pinned: number, fresh: number): number[] {
  const first = commitSeed();
  return [...upFrom(1, pinned), ...upFrom(first, sized(0, fresh))];
}

/** Runs one seed after the other; an error names the seed that it came of. */
export async function eachSeed(
  seeds: readonly number[],
  run: (seed: number) => Promise<void>,
): Promise<void> {
  for (const seed of seeds) {
    await run(seed).catch((cause) => {
      throw new Error(`Seed ${seed} failed`, { cause });
    });
  }
}

function upFrom(first: number, count: number): number[] {
  return Array.from({ length: count }, (_, i) => first + i);
}

/** The hash of the commit that is checked out, hexadecimal. */
function commitOf(root: string): string | undefined {
  const folder = gitFolderOf(root);
  const head = folder && readText(join(folder, "HEAD"));
  if (folder === undefined || head === undefined) return undefined;
  const name = after("ref: ", head);
  return hashIn(name === undefined ? head : refOf(folder, name));
}

/** The repository's folder; in a worktree a file says where it is. */
function gitFolderOf(root: string): string | undefined {
  const path = join(root, ".git");
  const pointer = readText(path);
  if (pointer === undefined) return isFolder(path) ? path : undefined;
  const folder = after("gitdir: ", pointer);
  return folder && (folder.startsWith("/") ? folder : join(root, folder));
}

/** What a branch points to: a file of its own, or a line among those packed. */
function refOf(folder: string, name: string): string | undefined {
  const common = readText(join(folder, "commondir"));
  const shared = common === undefined
    ? folder
    : common.startsWith("/")
    ? common
    : join(folder, common);
  return readText(join(folder, name)) ?? readText(join(shared, name)) ??
    readText(join(shared, "packed-refs"))?.split("\n")
      .find((line) => line.endsWith(` ${name}`));
}

function hashIn(text: string | undefined): string | undefined {
  return text?.match(/^[0-9a-f]{40,64}/)?.[0];
}

function after(begin: string, text: string): string | undefined {
  return text.startsWith(begin) ? text.slice(begin.length) : undefined;
}

/** A hash of the source, hexadecimal. */
function hashOf(root: string): string {
  const hash = createHash("sha256");
  for (const name of SOURCES) {
    for (const path of filesUnder(join(root, name))) {
      hash.update(Deno.readFileSync(path));
    }
  }
  return hash.digest("hex");
}

function filesUnder(path: string): string[] {
  if (!isFolder(path)) return readText(path) === undefined ? [] : [path];
  return [...Deno.readDirSync(path)].map(({ name }) => name).sort()
    .flatMap((name) => filesUnder(join(path, name)));
}

function isFolder(path: string): boolean {
  try {
    return Deno.statSync(path).isDirectory;
  } catch {
    return false;
  }
}

function readText(path: string): string | undefined {
  try {
    return Deno.readTextFileSync(path).trim();
  } catch {
    return undefined;
  }
}
