/**
 * Redis by ioredis, at an address that the user gives: one hash of items as
 * JSON, so that reading all is one command. Many items are a few `HSET`s in one
 * `MULTI`. What an answer promises is asked of the server.
 *
 * The hash is named after the folder of the case and deleted at the end; a
 * case that was killed leaves `sheaf-bench:…` behind.
 *
 * @module
 */

import { type OpenRedis, openRedis } from "../../engines/redis_open.ts";
import type { Item } from "../../harness/items.ts";
import { loadPeer } from "../../peers/load.ts";
import { type Load, ownName, type Store } from "../store.ts";

/** Items of one command: far below what a call of a function can take. */
const perCommand = 5_000;

/** Redis, where an address is given and answers. */
export const redis: Load = async ({ folder, peers, addresses }) => {
  // Before anything is timed: opening finds it loaded.
  if (addresses["redis"] !== undefined) await loadPeer(peers, "ioredis");
  const key = `sheaf-bench:${ownName(folder)}`;
  return {
    open: async () => storeOf(await openRedis(peers, addresses["redis"]), key),
  };
};

function storeOf({ redis, durability }: OpenRedis, key: string): Store {
  return {
    durability,
    insert: (item) => redis.call("HSET", key, item.id, JSON.stringify(item)),
    async insertMany(items): Promise<void> {
      let transaction = redis.multi();
      for (let at = 0; at < items.length; at += perCommand) {
        const part = items.slice(at, at + perCommand);
        transaction = transaction.hset(
          key,
          ...part.flatMap((item) => [item.id, JSON.stringify(item)]),
        );
      }
      await transaction.exec();
    },
    async get(id): Promise<Item | undefined> {
      const text = await redis.call("HGET", key, id);
      return text === null ? undefined : JSON.parse(String(text));
    },
    async all(): Promise<Item[]> {
      const texts = await redis.call("HVALS", key);
      if (!Array.isArray(texts)) throw new TypeError("HVALS gave no list");
      return texts.map((text) => JSON.parse(String(text)));
    },
    close: () => redis.disconnect(),
    remove: () => redis.del(key),
  };
}
