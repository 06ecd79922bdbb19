/**
 * People at their devices who write to one board and tell each other of it, for
 * tests of undo.
 */

import {
  type Database,
  defineSchema,
  memoryStorage,
  openDatabase,
  type Repository,
  type Storage,
  type World,
} from "../mod.ts";
import { createSigner } from "../crypto/mod.ts";
import { system } from "../src/base/system.ts";
import { replicaOf } from "../src/db/internals.ts";
import { field } from "../src/text/mod.ts";

/** The collection that they write to. */
export const Card = defineSchema("card", {
  title: field.string().default(""),
  rank: field.number().default(0),
  votes: field.counter(),
  tags: field.set(field.string()),
  notes: field.map(field.string()),
  steps: field.list(field.string()),
  note: field.text().default(""),
});

/** Who may erase. */
export const root = createSigner(new Uint8Array(32).fill(9));

/** One clock for all devices: nobody writes at the same moment. */
export function ticking(): World {
  let now = system.now();
  return {
    now: () => now += 5_000,
    monotonic: () => now += 5_000,
    random: (target) => system.random(target),
    after: (_, task) => system.after(0, task),
  };
}

/** One person's device. */
export class Device {
  readonly #world: World;
  readonly storage: Storage;
  database!: Database;
  repository!: Repository;
  /** What listeners threw. */
  readonly errors: unknown[] = [];

  constructor(world: World, storage: Storage = memoryStorage()) {
    this.#world = world;
    this.storage = storage;
  }

  async open(): Promise<this> {
    const [storage, world] = [this.storage, this.#world];
    const rootKey = root.publicKey;
    const mode = "trusted";
    const options = { storage, world, rootKey, mode, schemas: [Card] } as const;
    const onListenerError = (error: unknown) => void this.errors.push(error);
    this.database = await openDatabase({ ...options, onListenerError });
    this.repository = await this.database.repository("board");
    await this.repository.undo.ready;
    return this;
  }

  get cards() {
    return this.repository.collection(Card);
  }

  /** Gives all that it knows to another device. */
  async tell(other: Device): Promise<void> {
    await this.repository.durable();
    const { records } = replicaOf(this.repository).port().read(0, Infinity);
    replicaOf(other.repository).receive(records);
  }

  /** What a reader sees. */
  get board() {
    return this.cards.all().map((card) => JSON.stringify(card)).sort();
  }
}
