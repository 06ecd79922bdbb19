import { deepEqual, equal, ok } from "node:assert/strict";
import * as esbuild from "esbuild";
import { buildCore, type Built } from "./core.ts";
import { entryPoints } from "./manifest.ts";

/** Scripts that are loaded with one, itself among them. */
function loadedWith(name: string, { outputs }: Built): string[] {
  const start = Object.keys(outputs).find((path) => path.endsWith(`/${name}`))!;
  const loaded = new Set([start]);
  // It grows while it is walked through.
  for (const path of loaded) {
    for (const { kind, path: next, external } of outputs[path]!.imports) {
      if (kind === "import-statement" && !external) loaded.add(next);
    }
  }
  return [...loaded];
}

Deno.test("buildCore() makes few scripts of the core, the same each time", async () => {
  const folder = Deno.makeTempDirSync();
  try {
    const built = await buildCore(folder, entryPoints());
    const again = await buildCore(folder, entryPoints());
    deepEqual(Object.keys(again.outputs), Object.keys(built.outputs));
    // Node prints the line of an error that nobody caught: a message after 70 KB is lost.
    for (const path of loadedWith("mod.js", built)) {
      const text = Deno.readTextFileSync(
        new URL(`../../${path}`, import.meta.url),
      );
      const longest = Math.max(...text.split("\n").map(({ length }) => length));
      ok(longest < 1500, `a line of ${path} has ${longest} characters`);
    }
    ok(loadedWith("mod.js", built).length <= 8);
    ok(loadedWith("browser.js", built).length <= 8);
    // What a page loads at once has nothing that only the others need.
    const sourcesOf = (name: string) =>
      loadedWith(name, built)
        .flatMap((path) => Object.keys(built.outputs[path]!.inputs));
    const page = sourcesOf("browser.js");
    equal(page.includes("src/storage/disk_storage.ts"), false);
    ok(page.includes("src/browser/mod.ts"));
    // A command is loaded when it is the one that was given, the server with `serve`.
    const program = sourcesOf("cli.js");
    ok(program.includes("src/cli/program.ts"));
    for (const late of ["src/cli/commands/query.ts", "server/server.ts"]) {
      equal(program.includes(late), false);
      ok(built.sources.includes(late), late);
    }
    ok(built.sources.includes("src/storage/disk_storage.ts"));
  } finally {
    await esbuild.stop();
    Deno.removeSync(folder, { recursive: true });
  }
});
