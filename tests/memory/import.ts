/**
 * Imports so many rows with a repository that is opened again after every 10,000,
 * and prints the most megabytes of heap that were in use: of `import_memory_test.ts`.
 */

import { defineSchema, diskStorage, field, openDatabase } from "../../mod.ts";
import { exportedTarget } from "../../src/cli/database.ts";
import type { RowGroups } from "../../src/cli/field.ts";
import { importRows } from "../../src/cli/importer.ts";

const [folder = "", count = ""] = Deno.args;
const Town = defineSchema("town", {
  name: field.string(),
  size: field.number(),
});
let most = 0;

async function* groups(): RowGroups {
  for (let from = 0; from < Number(count); from += 1_000) {
    yield Array.from({ length: 1_000 }, (_, i) => {
      const size = from + i;
      const values = { id: `t${size}`, name: `Town number ${size}`, size };
      return { line: size + 1, values };
    });
    most = Math.max(most, Deno.memoryUsage().heapUsed);
    await Promise.resolve();
  }
}

const db = await openDatabase({
  storage: diskStorage(folder),
  schemas: [Town],
});
await importRows(() => db.repository("r"), groups(), {
  input: "towns.jsonl",
  target: exportedTarget(Town)!,
  idField: "id",
  isText: false,
  batchRows: 1_000,
  onConflict: "error",
  isDryRun: false,
  signal: new AbortController().signal,
}, 10_000);
await db.close();
console.log((most / 1e6).toFixed(1));
