/**
 * Deno KV on a local file: SQLite behind a thread of its own. A transaction
 * holds at most 1,000 writes and 800 KiB, so what is asked for in one goes in
 * {@linkcode perTransaction} at a time here: each is atomic, all together are not.
 *
 * @module
 */

import { type DenoKv, openDenoKv } from "../../engines/deno_kv_open.ts";
import type { Item } from "../../harness/items.ts";
import { itemOf, type Load, splitItem, type Store } from "../store.ts";

/** Of items of 250 bytes. */
export const perTransaction = 500;
/** The most that one page of a list may hold. */
const pageLength = 500;

/** Deno KV. */
export const denoKv: Load = ({ folder }) => ({
  open: async () => storeOf(await openDenoKv(folder)),
});

function storeOf(kv: DenoKv): Store {
  return {
    insert(item): Promise<unknown> {
      const [id, fields] = splitItem(item);
      return kv.set(["item", id], fields);
    },
    async insertMany(items): Promise<void> {
      for (let at = 0; at < items.length; at += perTransaction) {
        let transaction = kv.atomic();
        for (const item of items.slice(at, at + perTransaction)) {
          const [id, fields] = splitItem(item);
          transaction = transaction.set(["item", id], fields);
        }
        const { ok } = await transaction.commit();
        if (!ok) throw new Error("Deno KV refused a transaction");
      }
    },
    get: async (id) => itemOf(id, (await kv.get(["item", id])).value),
    async all(): Promise<Item[]> {
      const items: Item[] = [];
      const entries = kv.list({ prefix: ["item"] }, { batchSize: pageLength });
      for await (const { key, value } of entries) {
        const item = itemOf(key[1] ?? "", value);
        if (item !== undefined) items.push(item);
      }
      return items;
    },
    close: () => kv.close(),
  };
}
