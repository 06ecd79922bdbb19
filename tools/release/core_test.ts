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
    ok(loadedWith("mod.js", built).length <= 8);
    ok(loadedWith("browser.js", built).length <= 8);
    // What a page loads at once has nothing that only the others need.
    const page = loadedWith("browser.js", built)
      .flatMap((path) => Object.keys(built.outputs[path]!.inputs));
    equal(page.includes("src/storage/disk_storage.ts"), false);
    ok(page.includes("src/browser/mod.ts"));
    ok(built.sources.includes("src/storage/disk_storage.ts"));
  } finally {
    await esbuild.stop();
    Deno.removeSync(folder, { recursive: true });
  }
});
