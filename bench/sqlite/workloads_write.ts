/**
 * Workloads that write; the model follows, and what was written is read back.
 *
 * @module
 */

import { numbers } from "../harness/scramble.ts";
import type { Database, Done } from "./engine.ts";
import { readOnce } from "./workloads_read.ts";
import {
  type Change,
  difference,
  idOf,
  type Item,
  itemAt,
  itemsBetween,
} from "../harness/items.ts";
import type { Model } from "./model.ts";
import type { Context, Task } from "./workload.ts";

type Create = (database: Database, items: readonly Item[]) => Done;

/** Creates `count` items a run. */
async function createTask(
  context: Context,
  count: number,
  burst: number,
  create: Create,
): Promise<Task> {
  const database = await context.store.database();
  const { model } = context.store;
  let items: Item[] = [];
  return {
    burst,
    before() {
      items = itemsBetween(model.size, model.size + count);
      return undefined;
    },
    run: () => create(database, items),
    after() {
      model.grow(count);
      return undefined;
    },
    check: () => checkTail(database, model, 2 * count),
  };
}

/** Creates one item, waiting until it is acknowledged. */
export function createOneTask(context: Context): Promise<Task> {
  return createTask(
    context,
    1,
    1,
    (database, items) =>
      items[0] === undefined ? undefined : database.create(items[0]),
  );
}

/** Creates `count` items in one tick, each by a write of its own; figures are for each. */
export function createConcurrentlyTask(
  context: Context,
  count: number,
): Promise<Task> {
  return createTask(
    context,
    count,
    count,
    (database, items) => database.createConcurrently(items),
  );
}

/** Creates `count` items in one transaction; figures are for the whole. */
export function createBatchTask(
  context: Context,
  count: number,
): Promise<Task> {
  return createTask(
    context,
    count,
    1,
    (database, items) => database.createBatch(items),
  );
}

/** Changes one item anywhere in the collection. */
export async function updateTask(context: Context): Promise<Task> {
  const database = await readOnce(context);
  const { model } = context.store;
  const next = numbers(5);
  let index = 0;
  let change: Change = model.change(index);
  return {
    burst: 1,
    before() {
      index = next(model.size);
      change = model.change(index);
      return undefined;
    },
    run: () => database.update(change),
    after() {
      model.apply(index, change);
      return undefined;
    },
    check: () => difference(database.get(idOf(index)), model.item(index)),
  };
}

/** Loads all items into a new database in one transaction. */
export function bulkLoadTask(context: Context): Task {
  const folder = `${context.home}/bulk`;
  let items: Item[] | undefined = itemsBetween(0, context.size);
  let database: Database | undefined;
  let wrong: string | undefined;
  return {
    burst: 1,
    async before() {
      database = await context.engine.open(folder, context.store.shape);
    },
    run: () => database?.createBatch(items ?? []),
    async after() {
      const last = context.size - 1;
      if (database?.count() !== context.size) {
        wrong ??= `${database?.count()} items, not ${context.size}`;
      }
      wrong ??= difference(
        database?.get(idOf(last)),
        itemAt(last),
      );
      await database?.close();
      Deno.removeSync(folder, { recursive: true });
      return wrong;
    },
    check: () => wrong,
    end() {
      items = undefined;
      return undefined;
    },
  };
}

/** Are the last `count` items there as they were created? */
function checkTail(
  database: Database,
  model: Model,
  count: number,
): string | undefined {
  if (database.count() !== model.size) {
    return `it holds ${database.count()} items, not ${model.size}`;
  }
  for (
    let index = Math.max(0, model.size - count);
    index < model.size;
    index++
  ) {
    const wrong = difference(database.get(idOf(index)), model.item(index));
    if (wrong !== undefined) return wrong;
  }
  return undefined;
}
