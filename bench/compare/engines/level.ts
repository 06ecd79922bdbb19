/**
 * LevelDB as `../../engines/level_open.ts` sets it up: values are its `json`;
 * reads are `getSync`, which spares a thread and a promise. A put reaches the
 * operating system; with `sync` (`level-sync`) it is flushed. The batch is atomic.
 *
 * @module
 */

import {
  type Level,
  type LevelStep,
  type LevelWrite,
  levelWrite,
  openLevel,
} from "../../engines/level_open.ts";
import type { Item } from "../../harness/items.ts";
import { loadPeer } from "../../peers/load.ts";
import { itemOf, type Load, splitItem, type Store } from "../store.ts";

/** LevelDB, flushed at each write or not. */
export function level(engine: "level" | "level-sync"): Load {
  return async ({ folder, peers }) => {
    // Before anything is timed: opening finds it loaded.
    await loadPeer(peers, "classic-level");
    const write = levelWrite(engine);
    return { open: async () => storeOf(await openLevel(peers, folder), write) };
  };
}

function storeOf(database: Level, write: LevelWrite): Store {
  return {
    insert: (item) => database.put(...splitItem(item), write),
    insertMany: (items) => database.batch(items.map(stepOf), write),
    get: (id) => itemOf(id, database.getSync(id)),
    async all(): Promise<Item[]> {
      const entries = await database.iterator({}).all();
      return entries.map(([id, fields]) => itemOf(id, fields))
        .filter((item) => item !== undefined);
    },
    close: () => database.close(),
  };
}

function stepOf(item: Item): LevelStep {
  const [key, value] = splitItem(item);
  return { type: "put", key, value };
}
