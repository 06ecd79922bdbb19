/**
 * Sheaf's key-value face behind the suite's interface: one database, a
 * repository for each store. History is kept, as always.
 *
 * @module
 */

import type { Kv } from "../../src/kv/mod.ts";
import { durabilityOf, type SheafName } from "../engines/names.ts";
import { openSheaf } from "../engines/sheaf_open.ts";
import type { Durability } from "../harness/figure.ts";
import type { Entry, Value } from "./entries.ts";
import type { Done, Listed, Store, Stores } from "./store.ts";

/** Opens `count` stores in `folder`. */
export async function openSheafStores(
  folder: string,
  engine: SheafName,
  count: number,
): Promise<Stores> {
  const { openKv } = await import("../../src/kv/mod.ts");
  const { database, repository } = await openSheaf(folder, engine);
  const all = [new SheafStore(openKv(repository), durabilityOf(engine))];
  while (all.length < count) {
    const next = await database.repository(`bench-${all.length}`);
    all.push(new SheafStore(openKv(next), durabilityOf(engine)));
  }
  return { all, close: () => database.close() };
}

class SheafStore implements Store {
  readonly expiry = "exact";
  readonly durability: Durability;
  readonly #kv: Kv;

  constructor(kv: Kv, durability: Durability) {
    this.#kv = kv;
    this.durability = durability;
  }

  get(key: string): unknown {
    return this.#kv.get(key);
  }

  exists(key: string): boolean {
    return this.#kv.exists(key);
  }

  set(key: string, value: Value): Done {
    return this.#kv.set(key, value).durable;
  }

  setExpiring(key: string, value: Value, ttlMs: number): Done {
    return this.#kv.set(key, value, { ttlMs }).durable;
  }

  delete(key: string): Done {
    return this.#kv.delete(key).durable;
  }

  load(entries: readonly Entry[]): Done {
    return this.#kv.setMany(
      entries.map(({ key, value }) => [key, value] as const),
    ).durable;
  }

  list(prefix: string): readonly Listed[] {
    return this.#kv.list({ prefix }).entries;
  }

  keys(prefix: string): readonly string[] {
    return this.#kv.keys({ prefix });
  }

  close(): Done {
    return undefined;
  }
}
