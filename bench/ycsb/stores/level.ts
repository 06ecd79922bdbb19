/**
 * YCSB's table in LevelDB: a record is one value, so an update reads it and
 * writes it anew. LevelDB has no transactions and its writes run on several
 * threads: what is being written is kept here until it can be read back, and the
 * next write of the same record waits for it, so that two updates of one record
 * in flight do not lose each other.
 *
 * @module
 */

import {
  type Level,
  type LevelWrite,
  levelWrite,
  openLevel,
} from "../../engines/level_open.ts";
import { durabilityOf } from "../../engines/names.ts";
import type { Durability } from "../../harness/figure.ts";
import type { FieldName, Fields } from "../records.ts";
import type { Done, Found, Store } from "../store.ts";

/** A record on its way to LevelDB. */
interface Writing {
  readonly fields: Fields;
  readonly done: Promise<void>;
}

class LevelStore implements Store {
  readonly durability: Durability;
  readonly others = [];
  readonly #level: Level;
  readonly #write: LevelWrite;
  readonly #writing = new Map<string, Writing>();

  constructor(level: Level, write: LevelWrite, durability: Durability) {
    this.#level = level;
    this.#write = write;
    this.durability = durability;
  }

  read(key: string): Fields | undefined {
    return fieldsOf(this.#level.getSync(key));
  }

  async scan(key: string, count: number): Promise<readonly Found[]> {
    const found: Found[] = [];
    const range = { gte: key, limit: count };
    for (const [key, value] of await this.#level.iterator(range).all()) {
      const fields = fieldsOf(value);
      if (fields !== undefined) found.push({ key, fields });
    }
    return found;
  }

  update(key: string, field: FieldName, value: string): Done {
    const fields = this.#writing.get(key)?.fields ?? this.read(key);
    if (fields === undefined) throw new RangeError(`There is no ${key}`);
    return this.insert(key, { ...fields, [field]: value });
  }

  async insert(key: string, fields: Fields): Promise<void> {
    const before = this.#writing.get(key)?.done;
    const done = this.#put(key, fields, before);
    this.#writing.set(key, { fields, done });
    await done;
    if (this.#writing.get(key)?.done === done) this.#writing.delete(key);
  }

  async #put(
    key: string,
    fields: Fields,
    before: Promise<void> | undefined,
  ): Promise<void> {
    // Not awaited where there is none: a turn later is not what LevelDB takes.
    if (before !== undefined) await before;
    await this.#level.put(key, fields, this.#write);
  }

  load(records: readonly Found[]): Done {
    return this.#level.batch(
      records.map(({ key, fields }) => ({ type: "put", key, value: fields })),
      this.#write,
    );
  }

  close(): Done {
    return this.#level.close();
  }
}

/** Only records are written. */
function fieldsOf(value: unknown): Fields | undefined {
  return value as Fields | undefined;
}

/** Opens the table in `folder`. */
export async function openLevelStore(
  peers: string,
  folder: string,
  engine: "level" | "level-sync",
): Promise<Store> {
  const level = await openLevel(peers, folder);
  return new LevelStore(level, levelWrite(engine), durabilityOf(engine));
}
