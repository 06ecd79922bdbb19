import { equal, match, ok } from "node:assert/strict";
import { sheafEngine } from "./sheaf_engine.ts";
import { timeStart } from "./starts.ts";
import { loadAll } from "./values.ts";
import { shapeOf } from "./workload.ts";

Deno.test("timeStart() times whole processes and empty ones, cold and warm, and tells a wrong answer", async () => {
  const folder = Deno.makeTempDirSync();
  try {
    const shape = shapeOf("plain");
    const database = await (await sheafEngine("fast")).open(folder, shape);
    await loadAll(database, 100);
    await database.close();
    for (const isCold of [true, false]) {
      const order = { contestant: "fast", folder, shape, isCold } as const;
      const found = await timeStart({ ...order, index: 7 });
      equal(found.wrong, undefined);
      for (const ms of [found.floor, ...found.samples ?? []]) {
        ok(Number(ms) > 0);
      }
      match((await timeStart({ ...order, index: 100 })).wrong ?? "", /missing/);
      equal((await timeStart(order)).wrong, undefined, "nothing is read");
    }
  } finally {
    Deno.removeSync(folder, { recursive: true });
  }
});
