/**
 * Measurements that are one value, not a time: memory and bytes on disk.
 *
 * @module
 */

import type { Database } from "./engine.ts";
import { idOf, itemsBetween, rankOf, touchAll } from "../harness/items.ts";
import { Model } from "./model.ts";
import { question } from "./questions.ts";
import type { Context } from "./workload.ts";

/** A value, and what was wrong with the answers behind it. */
export interface Value {
  readonly value: number;
  readonly wrong: string | undefined;
}

const megabyte = 1_000_000;
const batchItems = 10_000;
const updatesEach = 10;
const updatesInTransaction = 1_000;

/** Growth of resident memory, in MB, by opening and reading all items and holding them. */
export async function memoryGrowth(
  context: Context,
  isFrugal: boolean,
): Promise<Value> {
  const { folder, shape } = context.store;
  collectGarbage();
  const before = Deno.memoryUsage().rss;
  const database = await context.engine.open(folder, {
    ...shape,
    frugal: isFrugal,
  });
  const items = database.all();
  const sum = touchAll(items);
  collectGarbage();
  const value = (Deno.memoryUsage().rss - before) / megabyte;
  const expected = question("all", context.store.model).expected();
  const isRight = sum === expected && touchAll(items) === expected;
  await database.close();
  return {
    value,
    wrong: isRight ? undefined : `the items add up to ${sum}, not ${expected}`,
  };
}

/** MB on disk, after closing, of all items; with `isRewritten` after ten updates of each. */
export async function diskSize(
  context: Context,
  isRewritten: boolean,
): Promise<Value> {
  const folder = `${context.home}/disk`;
  const shape = {
    indexed: false,
    history: isRewritten,
    exclusive: false,
    frugal: false,
  };
  const database = await context.engine.open(folder, shape);
  await loadAll(database, context.size);
  const updated = isRewritten
    ? await rewriteAll(database, context.size)
    : undefined;
  const wrong = question("count", new Model(context.size)).check(database) ??
    checkRewritten(database, updated);
  await database.close();
  const value = folderBytes(folder) / megabyte;
  Deno.removeSync(folder, { recursive: true });
  return { value, wrong };
}

/** Creates the items of a prepared database. */
export async function loadAll(database: Database, size: number): Promise<void> {
  for (let from = 0; from < size; from += batchItems) {
    await database.createBatch(
      itemsBetween(from, Math.min(size, from + batchItems)),
    );
  }
}

interface Rewritten {
  readonly index: number;
  readonly rank: number;
}

/** Updates every item ten times, in transactions of a thousand; says what the last must hold. */
async function rewriteAll(
  database: Database,
  size: number,
): Promise<Rewritten> {
  let rank = 0;
  for (let turn = 1; turn <= updatesEach; turn++) {
    for (let from = 0; from < size; from += updatesInTransaction) {
      const changes = [];
      for (
        let index = from;
        index < Math.min(size, from + updatesInTransaction);
        index++
      ) {
        rank = rankOf(turn * size + index);
        changes.push({ id: idOf(index), done: (turn & 1) === 1, rank });
      }
      await database.updateBatch(changes);
    }
  }
  return { index: size - 1, rank };
}

function checkRewritten(
  database: Database,
  last: Rewritten | undefined,
): string | undefined {
  if (last === undefined) return undefined;
  const rank = database.get(idOf(last.index))?.rank;
  return rank === last.rank
    ? undefined
    : `the last item has rank ${rank}, not ${last.rank}`;
}

function folderBytes(folder: string): number {
  let bytes = 0;
  for (const entry of Deno.readDirSync(folder)) {
    const path = `${folder}/${entry.name}`;
    bytes += entry.isDirectory ? folderBytes(path) : Deno.statSync(path).size;
  }
  return bytes;
}

/** A full collection, where the process was started with `--expose-gc`. */
export function collectGarbage(): void {
  const collect: unknown = Reflect.get(globalThis, "gc");
  if (typeof collect === "function") collect();
}
