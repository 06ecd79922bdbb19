/**
 * Redis as a key-value store: values as JSON text, expiry its own. It has no
 * keys in order; for scans a sorted set of the keys stands beside them, as its
 * manual advises, filled by `load`; single sets do not pay for it.
 *
 * Everything lies under a prefix of this store's own, and is removed at the end.
 *
 * @module
 */

import {
  type OpenRedis,
  openRedis,
  type Redis,
} from "../engines/redis_open.ts";
import type { Durability } from "../harness/figure.ts";
import type { Entry, Value } from "./entries.ts";
import { type Done, endOf, type Listed, type Store } from "./store.ts";

const loadEntries = 1_000;

/** Connects to the Redis at `address`. */
export async function openRedisStore(
  peers: string,
  address: string | undefined,
): Promise<Store> {
  return new RedisStore(await openRedis(peers, address));
}

class RedisStore implements Store {
  readonly expiry = "exact";
  readonly durability: Durability;
  readonly #redis: Redis;
  readonly #place = `sheaf-bench:${crypto.randomUUID()}:`;
  readonly #keysPlace = `${this.#place}*keys`;
  readonly #written = new Set<string>();

  constructor({ redis, durability }: OpenRedis) {
    this.#redis = redis;
    this.durability = durability;
  }

  async get(key: string): Promise<unknown> {
    const text = await this.#redis.get(this.#place + key);
    return text === null ? undefined : JSON.parse(text);
  }

  async exists(key: string): Promise<boolean> {
    return await this.#redis.exists(this.#place + key) === 1;
  }

  set(key: string, value: Value): Done {
    this.#written.add(key);
    return this.#redis.set(this.#place + key, JSON.stringify(value));
  }

  setExpiring(key: string, value: Value, ttlMs: number): Done {
    this.#written.add(key);
    const text = JSON.stringify(value);
    return this.#redis.set(this.#place + key, text, "PX", ttlMs);
  }

  delete(key: string): Done {
    return this.#redis.del(this.#place + key);
  }

  async load(entries: readonly Entry[]): Promise<void> {
    for (let from = 0; from < entries.length; from += loadEntries) {
      const part = entries.slice(from, from + loadEntries);
      const members = part.flatMap(({ key }) => [0, key]);
      await Promise.all([
        ...part.map(({ key, value }) => this.set(key, value)),
        this.#redis.call("ZADD", this.#keysPlace, ...members),
      ]);
    }
  }

  async list(prefix: string): Promise<readonly Listed[]> {
    const keys = await this.keys(prefix);
    const texts = await this.#redis.mget(
      ...keys.map((key) => this.#place + key),
    );
    return keys.map((key, at) => ({ key, value: JSON.parse(texts[at] ?? "") }));
  }

  async keys(prefix: string): Promise<readonly string[]> {
    const [from, to] = [`[${prefix}`, `(${endOf(prefix)}`];
    const answer = await this.#redis.call(
      "ZRANGEBYLEX",
      this.#keysPlace,
      from,
      to,
    );
    return Array.isArray(answer) ? answer.map(String) : [];
  }

  async close(): Promise<void> {
    const keys = [...this.#written].map((key) => this.#place + key);
    for (let from = 0; from < keys.length; from += loadEntries) {
      await this.#redis.del(...keys.slice(from, from + loadEntries));
    }
    await this.#redis.del(this.#keysPlace);
    this.#redis.disconnect();
  }
}
