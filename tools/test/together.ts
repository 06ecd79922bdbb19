/**
 * What a test process runs: the files that `SHEAF_TEST_FILES` names, a line
 * each, in one isolate. To load the database anew takes longer than the tests
 * of most files.
 *
 * @module
 */

import { startFile } from "./preload.ts";

const root = new URL("../../", import.meta.url);
const files = (Deno.env.get("SHEAF_TEST_FILES") ?? "").split("\n");

for (const file of files) {
  startFile(file);
  try {
    await import(new URL(file, root).href);
  } catch (cause) {
    Deno.test("the file loads", () => {
      throw cause;
    });
  }
}
