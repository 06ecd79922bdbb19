/** The scripts of the npm package under the Node that is here; `runtimes_test.ts` asks of all, installed. */

import { deepEqual, match } from "node:assert/strict";
import { copyConsumer } from "./check.ts";
import { buildPackage } from "./pack.ts";
import { run } from "./run.ts";

const cache = new URL("../../node_modules/.cache/", import.meta.url).pathname;

async function hasNode(): Promise<boolean> {
  try {
    await run(".", "node", "--version");
    return true;
  } catch {
    return false; // A machine with Deno alone.
  }
}

Deno.test({
  name: "the package runs under Node: storage, kill -9, sync, server, program",
  ignore: !await hasNode(),
  async fn() {
    Deno.mkdirSync(cache, { recursive: true });
    // Beside our own packages, which it finds as a sandbox would.
    const folder = Deno.makeTempDirSync({ dir: cache, prefix: "package-" });
    try {
      const made = await buildPackage(
        `${folder}/node_modules/@sheaf/sheaf`,
      );
      deepEqual(made["dependencies"], { ws: "^8.18.0" });
      copyConsumer(folder);
      const scripts = `${folder}/node_modules/@sheaf/sheaf/dist`;
      const licenses = Deno.readTextFileSync(`${scripts}/LICENSES.txt`);
      for (const inside of ["@noble/hashes", "commander", "msgpackr"]) {
        match(licenses, new RegExp(`^${inside}\n\n.*MIT License`, "m"));
      }
      match(await run(folder, "node", "check.js"), /^13 passed, 0 failed$/m);
    } finally {
      Deno.removeSync(folder, { recursive: true });
    }
  },
});
