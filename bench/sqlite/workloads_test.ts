import { equal, ok } from "node:assert/strict";
import type { Database, Engine, Shape } from "./engine.ts";
import type { Item } from "../harness/items.ts";
import { sheafEngine } from "./sheaf_engine.ts";
import { sqliteEngine } from "./sqlite_engine.ts";
import { loadAll } from "./values.ts";
import {
  type Context,
  shapeOf,
  Store,
  type StoreName,
  type Task,
} from "./workload.ts";
import { startTask, takeValue, tasks, values } from "./workloads.ts";
import { rowPlans } from "./table1.ts";

const size = 1_000;

/** Runs `work` with loaded stores of an engine, in a folder of its own. */
async function withStores(
  engine: Engine,
  work: (contextOf: (name: StoreName) => Context) => Promise<void>,
): Promise<void> {
  const home = Deno.makeTempDirSync();
  const stores = new Map<StoreName, Store>();
  for (const name of ["empty", "plain", "indexed"] as const) {
    const itemCount = name === "empty" ? 0 : size;
    const store = new Store(
      engine,
      `${home}/${name}`,
      shapeOf(name),
      itemCount,
    );
    await loadAll(await store.database(), itemCount);
    await store.release();
    stores.set(name, store);
  }
  try {
    await work((name) => {
      const store = stores.get(name);
      ok(store);
      return { engine, home, size, store };
    });
  } finally {
    for (const store of stores.values()) await store.release();
    Deno.removeSync(home, { recursive: true });
  }
}

/** Three runs and a check, as the child does them. */
async function tryTask(task: Task): Promise<string | undefined> {
  let wrong: string | undefined;
  for (let turn = 0; turn < 3; turn++) {
    await task.before?.();
    await task.run();
    const found = await task.after?.();
    wrong ??= found;
  }
  wrong ??= await task.check();
  await task.end?.();
  return wrong;
}

/** Every workload of every row, in the order of the table. */
async function tryEverything(engine: Engine): Promise<void> {
  await withStores(engine, async (contextOf) => {
    for (const { measure } of rowPlans) {
      if (measure.process === "whole") continue;
      const context = contextOf(measure.store);
      if (measure.process === "value") {
        await context.store.release();
        const { value, wrong } = await takeValue(measure.workload, context);
        equal(wrong, undefined, measure.workload);
        ok(Number.isFinite(value));
      } else {
        const task = await startTask(measure.workload, context);
        equal(await tryTask(task), undefined, measure.workload);
      }
    }
  });
}

Deno.test("every workload gets right answers from SQLite", async () => {
  await tryEverything(sqliteEngine("OFF"));
});

Deno.test("every workload gets right answers from Sheaf", async () => {
  await tryEverything(await sheafEngine("default"));
});

Deno.test("every workload and value has a row", () => {
  const used = new Set<string>(rowPlans.map((plan) => plan.measure.workload));
  for (const name of [...Object.keys(tasks), ...Object.keys(values)]) {
    ok(used.has(name), name);
  }
});

/** SQLite, but one item of every answer has another rank, and counts are one off. */
function lyingEngine(): Engine {
  const honest = sqliteEngine("OFF");
  const bend = (item: Item): Item => ({ ...item, rank: item.rank + 1 });
  const bendFirst = (items: readonly Item[]): readonly Item[] =>
    items.map((item, at) => at === 0 ? bend(item) : item);
  return {
    async open(folder: string, shape: Shape): Promise<Database> {
      const database = await honest.open(folder, shape);
      return {
        close: () => database.close(),
        create: (item) => database.create(item),
        createConcurrently: (items) => database.createConcurrently(items),
        createBatch: (items) => database.createBatch(items),
        update: (change) => database.update(change),
        updateBatch: (changes) => database.updateBatch(changes),
        get(id) {
          const item = database.get(id);
          return item === undefined ? undefined : bend(item);
        },
        getMany: (ids) => bendFirst(database.getMany(ids)),
        inRankRange: (from, to) => bendFirst(database.inRankRange(from, to)),
        topOpen: (author, limit) => bendFirst(database.topOpen(author, limit)),
        count: () => database.count() + 1,
        keys: () => database.keys().map((key, at) => at === 0 ? "liar" : key),
        all: () => bendFirst(database.all()),
        live(from, to, limit) {
          const live = database.live(from, to, limit);
          return {
            countsWrite: live.countsWrite,
            before: (change) => live.before(change),
            update: (change) => live.update(change),
            after: () => live.after(),
            rows: () => bendFirst(live.rows()),
            close: () => live.close(),
          };
        },
      };
    },
  };
}

Deno.test("no timed workload believes a database that lies", async () => {
  await withStores(lyingEngine(), async (contextOf) => {
    for (const { measure } of rowPlans) {
      if (measure.process === "value" || measure.process === "whole") continue;
      const task = await startTask(measure.workload, contextOf(measure.store));
      ok(await tryTask(task) !== undefined, measure.workload);
    }
  });
});
