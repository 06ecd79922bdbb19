/**
 * LMDB as `../../engines/lmdb_open.ts` sets it up: synchronous transactions, each
 * of which ends with the sync of LMDB itself, values its own MessagePack, reads
 * of the memory map, without a promise.
 *
 * `lmdb-nosync` never flushes: what was written is the operating system's.
 *
 * @module
 */

import { type Lmdb, openLmdb } from "../../engines/lmdb_open.ts";
import type { Item } from "../../harness/items.ts";
import { loadPeer } from "../../peers/load.ts";
import { itemOf, type Load, splitItem, type Store } from "../store.ts";

/** LMDB, flushed at each commit or never. */
export function lmdb(engine: "lmdb" | "lmdb-nosync"): Load {
  return async ({ folder, peers }) => {
    // Before anything is timed: opening finds it loaded.
    await loadPeer(peers, "lmdb");
    return {
      open: async () => storeOf(await openLmdb(peers, folder, engine)),
    };
  };
}

function storeOf(database: Lmdb): Store {
  const insert = (item: Item): void => {
    database.putSync(...splitItem(item));
  };
  return {
    insert,
    insertMany: (items) =>
      database.transactionSync(() => items.forEach(insert)),
    get: (id) => itemOf(id, database.get(id)),
    all: () =>
      Array.from(
        database.getRange({ snapshot: false }),
        ({ key, value }) => itemOf(key, value),
      ).filter((item) => item !== undefined),
    close: () => database.close(),
  };
}
