import { deepEqual, equal } from "node:assert/strict";
import { defineSchema, field, memoryStorage, openDatabase } from "../../mod.ts";
import { exportedTarget } from "./database.ts";
import type { RowGroups } from "./field.ts";
import { importRows } from "./importer.ts";

Deno.test("importRows() opens the repository again after so many rows, and knows what it wrote before", async () => {
  const Town = defineSchema("town", { size: field.number() });
  await using db = await openDatabase({
    storage: memoryStorage(),
    schemas: [Town],
  });
  let opened = 0;
  const open = () => {
    opened++;
    return db.repository("r");
  };
  const rows = Array.from(
    { length: 100 },
    (_, size) => ({ id: `t${size}`, size }),
  );
  async function* groups(): RowGroups {
    for (let from = 0; from < 110; from += 10) {
      const all = [...rows, ...rows.slice(0, 10)].slice(from, from + 10);
      yield all.map((values, i) => ({ line: from + i + 1, values }));
      await Promise.resolve();
    }
  }
  const { created, skipped } = await importRows(open, groups(), {
    input: "towns.jsonl",
    target: exportedTarget(Town)!,
    idField: "id",
    isText: false,
    batchRows: 10,
    onConflict: "skip",
    isDryRun: false,
    signal: new AbortController().signal,
  }, 40);
  deepEqual([created, skipped, opened], [100, 10, 3]);
  const towns = (await db.repository("r")).collection(Town);
  equal(towns.get("t0")?.size, 0);
  deepEqual(
    towns.orderBy("size").run().map(({ id, size }) => ({ id, size })),
    rows,
  );
});
