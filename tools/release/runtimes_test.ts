/** The npm package as a user has it: its tarball, installed under each runtime. */

import { deepEqual, match, ok } from "node:assert/strict";
import { checkUnder, copyConsumer, runtimes } from "./check.ts";
import { config } from "./manifest.ts";
import { pack, type Packed } from "./pack.ts";
import { run } from "./run.ts";

const root = new URL("../../", import.meta.url).pathname;
const target = Deno.makeTempDirSync({ prefix: "sheaf-pack-" });
let packed: Promise<Packed> | undefined;

/** The tarball, made once for all tests of this file. */
function tarball(): Promise<Packed> {
  return packed ??= pack(target);
}

Deno.test.afterAll(() => Deno.removeSync(target, { recursive: true }));

for (const runtime of runtimes) {
  Deno.test(`the package that is installed passes all checks: ${runtime}`, async () => {
    const { tarball: path } = await tarball();
    match(await checkUnder(runtime, path), / 0 failed$|^0 errors$/);
  });
}

Deno.test("a clone is installed as a folder after its release", async () => {
  const { folder } = await tarball();
  const place = Deno.makeTempDirSync({ prefix: "sheaf-folder-" });
  try {
    const clone = `${place}/sheaf`;
    Deno.mkdirSync(`${clone}/.release`, { recursive: true });
    Deno.mkdirSync(`${place}/app`);
    Deno.copyFileSync(`${root}package.json`, `${clone}/package.json`);
    await run(place, "cp", "-r", folder, `${clone}/.release/package`);
    Deno.symlinkSync(`${root}node_modules`, `${clone}/node_modules`);
    copyConsumer(`${place}/app`);
    await run(`${place}/app`, "npm", "install", "../sheaf");
    const said = await run(`${place}/app`, "node", "check.js", "sync", "cli");
    match(said, / 0 failed$/m);
  } finally {
    Deno.removeSync(place, { recursive: true });
  }
});

Deno.test("the tarball has one manifest, all that it names, and no sources", async () => {
  const { folder, tarball: path, dependencies } = await tarball();
  const files = (await run(".", "tar", "-tzf", path)).trim().split("\n")
    .map((name) => name.replace("package/", ""));
  const manifest = JSON.parse(Deno.readTextFileSync(`${folder}/package.json`));
  const { exports, types, bin } = manifest;
  const named = [...pathsIn(exports), types, `./${bin.sheaf}`];
  for (const name of named) {
    ok(files.includes(name.slice(2)), name);
  }
  deepEqual(files.filter((name) => name.endsWith("package.json")), [
    "package.json",
  ]);
  deepEqual(files.filter(isSource), []);
  deepEqual(
    Object.keys(config.exports).filter((one) => !exports[one]),
    [],
  );
  ok(!dependencies.some((name) => manifest.peerDependencies[name]));
});

/** Is this one of Sheaf's own sources, and not of the app that is made? */
function isSource(name: string): boolean {
  return /(?<!\.d)\.tsx?$/.test(name) && !name.startsWith("dist/template/");
}

/** The files that conditions lead to, however deep. */
function pathsIn(target: string | Record<string, unknown>): string[] {
  return typeof target === "string"
    ? [target]
    : Object.values(target).flatMap((one) => pathsIn(one as typeof target));
}
