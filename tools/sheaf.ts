/**
 * `deno task sheaf`: the clone's command line, in scripts that are made of its
 * sources when these have changed. They start in half the time.
 *
 * Nobody notices: where no scripts can be made it runs the sources, as it does
 * with `--debug`, whose traces then name them. Only esbuild is started by it, and
 * nothing more once the command line runs.
 *
 * @module
 */

import type * as Core from "./release/core.ts";
import type * as Sources from "../src/cli/main.ts";

const root = new URL("../", import.meta.url);
const target = new URL(".data/core/", root);

// Deno reads what is imported by name before anything runs, needed or not.
const BUILDER = new URL("release/core.ts", import.meta.url);
const SOURCES = new URL("src/cli/main.ts", root);

/** What the newest scripts are, and what they were made of. */
const LABEL = new URL("made.json", target);

/** A server that runs loads scripts late: what is older than this nobody waits for. */
const OLD_MS = 30 * 86_400_000;

/** A source as it was: its path, size, and when it was changed. */
type Source = readonly [path: string, bytes: number, changedMs: number];

interface Made {
  readonly entry: string;
  readonly sources: readonly Source[];
}

function sourceAt(path: string): Source {
  const { size, mtime } = Deno.statSync(new URL(path, root));
  return [path, size, mtime?.getTime() ?? 0];
}

/** The scripts of the sources as they are now; `undefined` where there are none. */
function findMade(): Made | undefined {
  try {
    const made: Made = JSON.parse(Deno.readTextFileSync(LABEL));
    const isFresh = made.sources.every(([path, bytes, changedMs]) => {
      const [, bytesNow, changedMsNow] = sourceAt(path);
      return bytes === bytesNow && changedMs === changedMsNow;
    });
    return isFresh ? made : undefined;
  } catch {
    return undefined; // Never made, or sources are gone.
  }
}

/** Makes them; `undefined` where that is not possible. */
async function make(): Promise<Made | undefined> {
  let draft: string | undefined;
  try {
    Deno.mkdirSync(target, { recursive: true });
    draft = Deno.makeTempDirSync({ dir: target.pathname });
    const startMs = Date.now();
    const { buildCore }: typeof Core = await import(BUILDER.href);
    const { sources: paths, outputs } = await buildCore(draft, {
      cli: "src/cli/main.ts",
    }, {
      entryNames: "[name]-[hash]",
      outExtension: { ".js": ".mjs" },
      sourcemap: false,
    });
    const sources = [...paths, "deno.json"].map(sourceAt);
    // What is changed while it is read is made again the next time.
    if (sources.some(([, , changedMs]) => changedMs >= startMs)) return;
    const names = Object.keys(outputs)
      .map((path) => new URL(path, root).pathname.slice(draft!.length + 1));
    const entry = names.find((name) => name.startsWith("cli-"))!;
    const made = { entry, sources };
    Deno.writeTextFileSync(`${draft}/made.json`, JSON.stringify(made));
    Deno.mkdirSync(new URL("chunks", target), { recursive: true });
    // Each is there as a whole or not at all, the label last.
    for (const name of [...names, "made.json"]) {
      Deno.renameSync(`${draft}/${name}`, new URL(name, target));
    }
    removeOld(target);
    return made;
  } catch {
    return undefined; // A folder that nobody may write to, no esbuild for this machine.
  } finally {
    if (draft !== undefined) Deno.removeSync(draft, { recursive: true });
  }
}

function removeOld(folder: URL): void {
  for (const { name, isDirectory } of Deno.readDirSync(folder)) {
    const path = new URL(name, folder);
    if (isDirectory) removeOld(new URL(`${name}/`, folder));
    else if (Date.now() - sourceAt(path.href)[2] > OLD_MS) {
      Deno.removeSync(path);
    }
  }
}

async function main(): Promise<void> {
  const made = Deno.args.includes("--debug")
    ? undefined
    : findMade() ?? await make();
  Deno.permissions.revokeSync({ name: "run" });
  if (made !== undefined) await import(new URL(made.entry, target).href);
  else {
    const { runProcess }: typeof Sources = await import(SOURCES.href);
    await runProcess();
  }
}

await main();
