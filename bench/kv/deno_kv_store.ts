/**
 * Deno KV as a key-value store: keys of one part, values as it encodes them.
 * Its expiry is lazy: an entry is gone at the earliest at its moment, and may be
 * read for a while longer (its manual says so). A list of keys reads the values
 * too: it has no other.
 *
 * @module
 */

import {
  type DenoKv,
  denoKvValueBytesMax,
  openDenoKv,
} from "../engines/deno_kv_open.ts";
import { durabilityOf } from "../engines/names.ts";
import type { Entry, Value } from "./entries.ts";
import { type Done, endOf, type Listed, type Store } from "./store.ts";

/** It takes 1,000 changes and 800 KiB in one transaction. */
const batchEntriesMax = 500;
const batchBytesMax = 500_000;
/** The most entries that it fetches at once. */
const pageEntries = 500;

/** Opens one database in `folder`. */
export async function openDenoKvStore(folder: string): Promise<Store> {
  return new DenoKvStore(await openDenoKv(folder));
}

class DenoKvStore implements Store {
  readonly expiry = "lazy";
  readonly durability = durabilityOf("deno-kv");
  readonly valueBytesMax = denoKvValueBytesMax;
  readonly #kv: DenoKv;

  constructor(kv: DenoKv) {
    this.#kv = kv;
  }

  async get(key: string): Promise<unknown> {
    return (await this.#kv.get([key])).value ?? undefined;
  }

  async exists(key: string): Promise<boolean> {
    return (await this.#kv.get([key])).versionstamp !== null;
  }

  set(key: string, value: Value): Done {
    return this.#kv.set([key], value);
  }

  setExpiring(key: string, value: Value, ttlMs: number): Done {
    return this.#kv.set([key], value, { expireIn: ttlMs });
  }

  delete(key: string): Done {
    return this.#kv.delete([key]);
  }

  async load(entries: readonly Entry[]): Promise<void> {
    let batch = this.#kv.atomic();
    let [count, bytes] = [0, 0];
    for (const { key, value } of entries) {
      const size = value.body.length + 200;
      if (count === batchEntriesMax || bytes + size > batchBytesMax) {
        await batch.commit();
        batch = this.#kv.atomic();
        [count, bytes] = [0, 0];
      }
      batch.set([key], value);
      count++;
      bytes += size;
    }
    await batch.commit();
  }

  async list(prefix: string): Promise<readonly Listed[]> {
    const found: Listed[] = [];
    const selector = { start: [prefix], end: [endOf(prefix)] };
    const rows = this.#kv.list(selector, { batchSize: pageEntries });
    for await (const { key, value } of rows) {
      found.push({ key: key[0] ?? "", value });
    }
    return found;
  }

  async keys(prefix: string): Promise<readonly string[]> {
    return (await this.list(prefix)).map(({ key }) => key);
  }

  close(): Done {
    this.#kv.close();
    return undefined;
  }
}
