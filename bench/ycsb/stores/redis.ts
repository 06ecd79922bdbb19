/**
 * YCSB's table in Redis, as YCSB's own binding keeps it: a hash a record, and
 * the names of all records in a sorted set, which scans walk in order of the
 * names. Everything lies under a prefix of this run's own and is removed when
 * the store is closed; nothing else in the database is touched.
 *
 * @module
 */

import { openRedis, type Redis } from "../../engines/redis_open.ts";
import type { Durability } from "../../harness/figure.ts";
import { type FieldName, fieldNames, type Fields } from "../records.ts";
import type { Done, Found, Store } from "../store.ts";

const namesAtOnce = 1_000;

class RedisStore implements Store {
  readonly durability: Durability;
  readonly others = undefined;
  readonly #redis: Redis;
  readonly #prefix: string;
  readonly #index: string;

  constructor(redis: Redis, durability: Durability) {
    this.#redis = redis;
    this.durability = durability;
    this.#prefix = `sheaf-ycsb:${crypto.randomUUID()}:`;
    this.#index = `${this.#prefix}index`;
  }

  async read(key: string): Promise<Fields | undefined> {
    const answer = await this.#redis.call("HGETALL", this.#prefix + key);
    return fieldsOf(answer);
  }

  async scan(key: string, count: number): Promise<readonly Found[]> {
    const keys = await this.#names(key, count);
    const records = await Promise.all(keys.map((one) => this.read(one)));
    return keys.flatMap((one, at) => {
      const fields = records[at];
      return fields === undefined ? [] : [{ key: one, fields }];
    });
  }

  async #names(from: string, count: number): Promise<string[]> {
    const answer = await this.#redis.call(
      "ZRANGEBYLEX",
      this.#index,
      `[${from}`,
      "+",
      "LIMIT",
      0,
      count,
    );
    return Array.isArray(answer) ? answer.map(String) : [];
  }

  update(key: string, field: FieldName, value: string): Done {
    return this.#redis.call("HSET", this.#prefix + key, field, value);
  }

  insert(key: string, fields: Fields): Done {
    const parts = fieldNames.flatMap((name) => [name, fields[name]]);
    return Promise.all([
      this.#redis.call("HSET", this.#prefix + key, ...parts),
      this.#redis.call("ZADD", this.#index, 0, key),
    ]);
  }

  load(records: readonly Found[]): Done {
    return Promise.all(
      records.map(({ key, fields }) => this.insert(key, fields)),
    );
  }

  async close(): Promise<void> {
    for (;;) {
      const keys = await this.#names("", namesAtOnce);
      if (keys.length === 0) break;
      await this.#redis.del(...keys.map((key) => this.#prefix + key));
      await this.#redis.call("ZREM", this.#index, ...keys);
    }
    this.#redis.disconnect();
  }
}

/** Redis answers a hash as names and values in turn. */
function fieldsOf(answer: unknown): Fields | undefined {
  if (!Array.isArray(answer) || answer.length === 0) return undefined;
  const fields: Record<string, string> = {};
  for (let at = 0; at < answer.length; at += 2) {
    fields[String(answer[at])] = String(answer[at + 1]);
  }
  return fields as Fields;
}

/** Connects to the Redis at `address`. */
export async function openRedisStore(
  peers: string,
  address: string | undefined,
): Promise<Store> {
  const { redis, durability } = await openRedis(peers, address);
  return new RedisStore(redis, durability);
}
