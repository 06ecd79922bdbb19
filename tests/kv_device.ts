/**
 * Devices with a key-value store that tell each other what they wrote, for
 * tests.
 */

import {
  type Database,
  memoryStorage,
  openDatabase,
  type Repository,
  type Schema,
  type World,
} from "../mod.ts";
import { replicaOf } from "../src/db/internals.ts";
import { type Kv, openKv } from "../src/kv/mod.ts";

/** One device. */
export class Device implements AsyncDisposable {
  readonly #world: World;
  readonly #schemas: readonly Schema[];
  readonly #storage = memoryStorage();
  db!: Database;
  repository!: Repository;

  constructor(world: World, schemas: readonly Schema[] = []) {
    this.#world = world;
    this.#schemas = schemas;
  }

  async open(): Promise<this> {
    this.db = await openDatabase({
      storage: this.#storage,
      world: this.#world,
      rootKey: new Uint8Array(32).fill(9),
      mode: "trusted",
      schemas: this.#schemas,
    });
    this.repository = await this.db.repository("board");
    return this;
  }

  get kv(): Kv {
    return openKv(this.repository);
  }

  close(): Promise<void> {
    return this.db.close();
  }

  checkpoint(): Promise<void> {
    return this.repository.checkpoint();
  }

  /** Gives all that it knows to another device. */
  async tell(other: Device): Promise<void> {
    await this.repository.durable();
    const { records } = replicaOf(this.repository).port().read(0, Infinity);
    replicaOf(other.repository).receive(records);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}
