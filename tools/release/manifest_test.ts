/** The clone's own package.json leads to the package that `deno task release` makes in it. */

import { deepEqual } from "node:assert/strict";
import { config, manifest } from "./manifest.ts";

interface Manifest {
  readonly name: string;
  readonly bin: Record<string, string>;
  readonly exports: Record<string, Record<string, string>>;
}

/** Where a subpath leads, by its own entry or by that for all others. */
function leadsTo({ exports }: Manifest, subpath: string) {
  const target = exports[subpath] ?? exports["./*"] ?? {};
  return ["types", "default"].map((condition) =>
    target[condition]?.replace("*", subpath.slice(2))
  );
}

Deno.test("npm install of the clone gives what the package gives", () => {
  const url = new URL("../../package.json", import.meta.url);
  const clone: Manifest = JSON.parse(Deno.readTextFileSync(url));
  const made = manifest(new Set()) as unknown as Manifest;
  deepEqual(clone.name, made.name);
  deepEqual(clone.bin, { sheaf: `.release/package/${made.bin["sheaf"]}` });
  for (const subpath of Object.keys(config.exports)) {
    const paths = leadsTo(made, subpath);
    deepEqual(
      leadsTo(clone, subpath),
      paths.map((path) => path?.replace("./", "./.release/package/")),
    );
  }
});
