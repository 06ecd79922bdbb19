/**
 * `deno task release`: makes the npm package in `.release/` and checks it as a
 * user would have it: installed in empty folders, under each runtime.
 *
 * `--pack` only makes it; `--runtime NAME` (repeatable) checks under those alone;
 * `--rivals` shows what npm brings of it, of TinyBase and of RxDB; `--scripts FOLDER`
 * makes nothing but what runs, there.
 *
 * @module
 */

import { parseArgs } from "node:util";
import { checkUnder, runtimes } from "./check.ts";
import { config } from "./manifest.ts";
import { buildPackage, pack } from "./pack.ts";
import { weighAll } from "./weigh.ts";

const target = new URL("../../.release", import.meta.url).pathname;

const { values } = parseArgs({
  args: Deno.args,
  options: {
    pack: { type: "boolean" },
    rivals: { type: "boolean" },
    scripts: { type: "string" },
    runtime: { type: "string", multiple: true },
  },
});

if (values.scripts !== undefined) {
  await buildPackage(values.scripts);
  Deno.exit(0);
}

await Deno.remove(target, { recursive: true }).catch(() => {});
await Deno.mkdir(target);
const { tarball, tarballBytes, files, dependencies } = await pack(target);
console.log(`${config.name} ${config.version}: ${tarball}`);
console.log(`  ${files} files, ${Math.round(tarballBytes / 1000)} KB packed`);
console.log(`  needs ${dependencies.join(", ")}`);

for (
  const { name, ...brought } of values.rivals ? await weighAll(tarball) : []
) {
  const { tarballBytes, files, packages } = brought;
  console.log(
    `  npm brings ${name}: ${Math.round(tarballBytes / 1000)} KB packed, ` +
      `${files} files, ${packages} packages`,
  );
}

let failed = 0;
for (const name of values.pack ? [] : values.runtime ?? runtimes) {
  try {
    console.log(`  ${name}: ${await checkUnder(name, tarball)}`);
  } catch (error) {
    failed++;
    console.error(`  ${name}: FAILED\n${(error as Error).message}`);
  }
}
Deno.exit(failed === 0 ? 0 : 1);
