/**
 * Connects to a Redis at an address, through `ioredis`: commands of one turn go
 * out together (auto-pipelining), nothing is retried, so that a server that
 * does not answer is found out in two seconds.
 *
 * Its durability is the server's setting, asked of it when it lets us:
 * `appendfsync always` is `fsync`; an append-only file otherwise is `written`
 * before the reply; none is `memory`, a dump now and then notwithstanding.
 *
 * @module
 */

import type { Durability } from "../harness/figure.ts";
import { NotHere } from "../harness/suite.ts";
import { loadPeer } from "../peers/load.ts";

const connectMsMax = 2_000;

/** What benches use of a `MULTI`. */
export interface RedisTransaction {
  hset(key: string, ...fieldsAndValues: readonly string[]): RedisTransaction;
  exec(): Promise<unknown>;
}

/** What benches use of Redis; commands by `call`, as its manual names them. */
export interface Redis {
  connect(): Promise<void>;
  call(
    command: string,
    ...args: readonly (string | number)[]
  ): Promise<unknown>;
  get(key: string): Promise<string | null>;
  mget(...keys: readonly string[]): Promise<(string | null)[]>;
  set(
    key: string,
    value: string,
    ...options: readonly (string | number)[]
  ): Promise<unknown>;
  del(...keys: readonly string[]): Promise<number>;
  exists(...keys: readonly string[]): Promise<number>;
  /** Commands that go out together and run as one. */
  multi(): RedisTransaction;
  on(event: "error", listener: (error: Error) => void): unknown;
  disconnect(): void;
}

interface RedisModule {
  readonly Redis: new (
    address: string,
    options: Readonly<Record<string, unknown>>,
  ) => Redis;
}

/** A connected Redis, and what its writes are worth. */
export interface OpenRedis {
  readonly redis: Redis;
  readonly durability: Durability;
}

/** Connects to `address` (`redis://…`); throws `NotHere` when there is none or nobody answers. */
export async function openRedis(
  peers: string,
  address: string | undefined,
): Promise<OpenRedis> {
  if (address === undefined) {
    throw new NotHere("redis: no --redis address is given");
  }
  const { Redis } = await loadPeer<RedisModule>(peers, "ioredis");
  const redis = new Redis(address, {
    lazyConnect: true,
    connectTimeout: connectMsMax,
    enableAutoPipelining: true,
    maxRetriesPerRequest: 0,
    retryStrategy: () => null,
  });
  // Without a listener it would print what `connect` rejects with.
  redis.on("error", () => {});
  try {
    await redis.connect();
    await redis.call("PING");
  } catch (error) {
    redis.disconnect();
    throw new NotHere(`redis: ${placeOf(address)} does not answer`, {
      cause: error,
    });
  }
  return { redis, durability: await durabilityOf(redis) };
}

async function durabilityOf(redis: Redis): Promise<Durability> {
  if (await settingOf(redis, "appendonly") !== "yes") return "memory";
  return await settingOf(redis, "appendfsync") === "always"
    ? "fsync"
    : "written";
}

/** One setting; `undefined` where the server does not tell. */
async function settingOf(
  redis: Redis,
  name: string,
): Promise<string | undefined> {
  try {
    const answer = await redis.call("CONFIG", "GET", name);
    return Array.isArray(answer) ? String(answer[1]) : undefined;
  } catch (error) {
    if (error instanceof Error) return undefined;
    throw error;
  }
}

/** The address without its password. */
function placeOf(address: string): string {
  return URL.parse(address)?.host ?? "the address";
}
