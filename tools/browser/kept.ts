/**
 * What tests make of this project's sources, kept in `node_modules/.cache` while
 * those stay as they are, for all test files and for the next run.
 *
 * Whatever is kept is made in a folder beside it and renamed: a folder that is
 * there is whole, also where two processes make it at once.
 *
 * @module
 */

import { createHash } from "node:crypto";

const root = new URL("../../", import.meta.url);
const cache = new URL("node_modules/.cache/", root).pathname;

/** What may end up in a page, or in the data of a demo. */
const SOURCES = [
  "crypto",
  "deno.json",
  "deno.lock",
  "mod.ts",
  "repo",
  "server",
  "src",
  "sync",
  "tests/browser",
  "tests/kit",
  "tools/browser",
  "web-demo",
];
/** What was made of other sources goes when nobody can be using it any more. */
const OLD_MS = 3_600_000;

function* filesUnder(path: string): Generator<string> {
  if (Deno.statSync(path).isFile) return yield path;
  const entries = [...Deno.readDirSync(path)];
  for (const { name } of entries.sort((a, b) => a.name < b.name ? -1 : 1)) {
    yield* filesUnder(`${path}/${name}`);
  }
}

function hashOf(...parts: readonly (string | Uint8Array)[]): string {
  const hash = createHash("sha256");
  for (const part of parts) hash.update(`${part.length} `).update(part);
  return hash.digest("hex").slice(0, 24);
}

function* contents(): Generator<string | Uint8Array> {
  for (const source of SOURCES) {
    for (const path of filesUnder(new URL(source, root).pathname)) {
      yield path;
      yield Deno.readFileSync(path);
    }
  }
}

let sources: string | undefined;

function exists(path: string): boolean {
  try {
    Deno.statSync(path);
    return true;
  } catch {
    return false;
  }
}

/** Removes what was made under this name of other sources, a while ago. */
function removeOld(name: string, current: string): void {
  for (const entry of Deno.readDirSync(cache)) {
    if (!entry.name.startsWith(name) || entry.name === current) continue;
    const path = `${cache}${entry.name}`;
    try {
      const at = Deno.statSync(path).mtime?.getTime() ?? 0;
      if (Date.now() - at < OLD_MS) continue;
      Deno.removeSync(path, { recursive: true });
    } catch (error) {
      // Another process removes it just now.
      if (!(error instanceof Deno.errors.NotFound)) throw error;
    }
  }
}

/**
 * The folder that `make` fills, from the cache where that has it. Nobody writes
 * to it. `what` says what is in it; `details` all that it is made of besides the
 * sources.
 */
export async function keptFolder(
  what: string,
  details: string,
  make: (folder: string) => Promise<unknown>,
): Promise<string> {
  sources ??= hashOf(...contents());
  const name = `${what}-${hashOf(what, details)}`;
  const kept = `${name}-${sources}`;
  const folder = `${cache}${kept}`;
  if (exists(folder)) return folder;
  const draft = `${folder}-${crypto.randomUUID()}`;
  Deno.mkdirSync(draft, { recursive: true });
  try {
    await make(draft);
    Deno.renameSync(draft, folder);
  } catch (error) {
    // Another process that made it at the same time was first.
    if (!exists(folder)) throw error;
  } finally {
    if (exists(draft)) Deno.removeSync(draft, { recursive: true });
  }
  removeOld(name, kept);
  return folder;
}
