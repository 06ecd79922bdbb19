/**
 * LevelDB as a key-value store: values as JSON, one read by `getSync`; LevelDB
 * itself joins writes that are in flight together. It has no expiry.
 *
 * @module
 */

import { openLevel } from "../engines/level_open.ts";
import {
  type Level,
  type LevelWrite,
  levelWrite,
} from "../engines/level_open.ts";
import { durabilityOf } from "../engines/names.ts";
import type { Durability } from "../harness/figure.ts";
import type { Entry, Value } from "./entries.ts";
import {
  type Answer,
  type Done,
  endOf,
  type Listed,
  noExpiry,
  type Store,
} from "./store.ts";

/** Opens one database in `folder`. */
export async function openLevelStore(
  peers: string,
  folder: string,
  engine: "level" | "level-sync",
): Promise<Store> {
  const level = await openLevel(peers, folder);
  return new LevelStore(level, levelWrite(engine), durabilityOf(engine));
}

class LevelStore implements Store {
  readonly expiry = "none";
  readonly durability: Durability;
  readonly #level: Level;
  readonly #write: LevelWrite;

  constructor(level: Level, write: LevelWrite, durability: Durability) {
    this.#level = level;
    this.#write = write;
    this.durability = durability;
  }

  get(key: string): unknown {
    return this.#level.getSync(key);
  }

  exists(key: string): boolean {
    // Bytes, because nobody wants the value parsed.
    return this.#level.getSync(key, { valueEncoding: "buffer" }) !== undefined;
  }

  set(key: string, value: Value): Done {
    return this.#level.put(key, value, this.#write);
  }

  setExpiring(): Done {
    return noExpiry();
  }

  delete(key: string): Done {
    return this.#level.del(key, this.#write);
  }

  load(entries: readonly Entry[]): Done {
    const steps = entries.map(({ key, value }) => ({
      type: "put" as const,
      key,
      value,
    }));
    return this.#level.batch(steps, this.#write);
  }

  async list(prefix: string): Promise<readonly Listed[]> {
    const rows = await this.#level.iterator(rangeOf(prefix)).all();
    return rows.map(([key, value]) => ({ key, value }));
  }

  keys(prefix: string): Answer<readonly string[]> {
    return this.#level.keys(rangeOf(prefix)).all();
  }

  close(): Done {
    return this.#level.close();
  }
}

function rangeOf(prefix: string): { gte: string; lt: string } {
  return { gte: prefix, lt: endOf(prefix) };
}
