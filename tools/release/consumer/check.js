/**
 * The checks that an installed package must pass under a runtime: in a folder
 * that has it, `node check.js [storage crash sync server cli]`. Plain JavaScript,
 * as the oldest Node has no types.
 *
 * @module
 */

import { existsSync } from "node:fs";
import process from "node:process";
import { cli } from "./cli.js";
import { crash } from "./crash.js";
import { beside } from "./place.js";
import { server } from "./server.js";
import { storage } from "./storage.js";
import { sync } from "./sync.js";

const suites = { storage, crash, sync, server, cli };
// Built beside these by `vectors.ts`, where they are asked for.
const built = beside("vectors.js");
if (existsSync(built)) suites.vectors = (await import(built)).vectors;
const names = process.argv.slice(2);

let failed = 0;
let passed = 0;
for (const [name, suite] of Object.entries(suites)) {
  if (names.length > 0 && !names.includes(name)) continue;
  for (const [sentence, check] of Object.entries(await suite())) {
    try {
      await check();
      passed++;
    } catch (error) {
      failed++;
      console.error(`FAILED ${name}: ${sentence}\n${error?.stack ?? error}`);
    }
  }
}
console.log(`${passed} passed, ${failed} failed`);
process.exit(failed === 0 && passed > 0 ? 0 : 1);
