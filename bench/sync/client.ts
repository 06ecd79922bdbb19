/**
 * One client of the bench's repository, and all that cases have it do. Its
 * methods take and give plain JSON, so that a process can be told to.
 *
 * @module
 */

import {
  type Database,
  defineSchema,
  field,
  openDatabase,
  type Repository,
} from "../../mod.ts";
import { idOf, itemAt, itemsBetween, touch } from "../harness/items.ts";
import { restingBytes } from "./collect.ts";
import type { Stage } from "./place.ts";

/** What the cases write. */
export const ItemSchema = defineSchema("item", {
  title: field.string(),
  done: field.boolean(),
  rank: field.number(),
  tags: field.set(field.string()),
  createdAt: field.number(),
  author: field.string(),
  body: field.string(),
});

/** Whoever waits longer waits for something that does not come. */
const WAIT_MS_MAX = 60_000;
/** Items that trips are written as have greater numbers than any others. */
const TRIPS_FROM = 10_000_000;

/** One client with the bench's repository. */
export class Client {
  private constructor(readonly db: Database, readonly repository: Repository) {}

  /** Opens it; it is not connected yet. */
  static async open(
    stage: Stage,
    name: string,
    rootKey: string,
  ): Promise<Client> {
    const db = await openDatabase({
      path: `${stage.folder}/${name}`,
      mode: stage.mode,
      rootKey,
      schemas: [ItemSchema],
    });
    return new Client(db, await db.repository("bench"));
  }

  /** Its items. */
  get items() {
    return this.repository.collection(ItemSchema);
  }

  async close(): Promise<void> {
    await this.db.close();
  }

  /** Connects and waits until it has everything. */
  async connect(url: string): Promise<void> {
    this.db.connect(url, { session: { anonymous: true } });
    await this.live();
  }

  /** Leaves the server. */
  async leave(): Promise<void> {
    await this.db.connection?.close();
  }

  /** Does not wait out its back-off. */
  retry(): Promise<void> {
    this.db.connection?.retry();
    return Promise.resolve();
  }

  /** Resolves when it is live and everything written is acknowledged. */
  async live(): Promise<void> {
    await this.until(() => {
      const { state, unsent } = this.repository.sync.status;
      return state === "live" && unsent.commits === 0;
    });
  }

  /** Resolves when it has so many items. */
  async has(count: number): Promise<void> {
    await this.until(() => this.items.count() === count);
  }

  /** Resolves when it has so many commits, and nothing left to send. */
  async hasCommits(count: number): Promise<void> {
    await this.until(() => this.repository.status().commits === count);
    await this.live();
  }

  /** Commits that it has. */
  commits(): Promise<number> {
    return Promise.resolve(this.repository.status().commits);
  }

  /** Milliseconds from connecting until so many items are here and the server says that these are all. */
  async get(url: string, count: number): Promise<number> {
    const start = performance.now();
    this.db.connect(url, { session: { anonymous: true } });
    await this.until(() =>
      this.items.count() === count &&
      this.repository.sync.status.state === "live"
    );
    return performance.now() - start;
  }

  /** Resolves when the server has proved that so many items are all. */
  async isProved(count: number): Promise<void> {
    await this.until(() =>
      this.items.count() === count &&
      this.repository.sync.status.equalAt !== undefined
    );
  }

  /** Writes items `from` to `to`; `atOnce` of them are asked for before one is waited for. */
  async write(from: number, to: number, atOnce: number): Promise<void> {
    for (let at = from; at < to; at++) {
      const write = this.items.create(itemAt(at));
      if ((at + 1 - from) % atOnce === 0) await write;
    }
  }

  /** Writes items `0` to `size`, so many in a transaction, and waits until the server has them. */
  async fill(size: number, together = 1_000): Promise<void> {
    for (let from = 0; from < size; from += together) {
      const to = Math.min(size, from + together);
      await this.items.createMany(itemsBetween(from, to));
    }
    await this.live();
  }

  /** Deletes items `from` to `to`. */
  async remove(from: number, to: number): Promise<void> {
    for (let at = from; at < to; at++) {
      const write = this.items.delete(idOf(at));
      if (at % 16 === 15) await write;
    }
  }

  /** Changes `edits` of `size` items; another side and another round change others. */
  async edit(
    { edits, size, round, side }: {
      edits: number;
      size: number;
      round: number;
      side: number;
    },
  ): Promise<void> {
    for (let i = 0; i < edits; i++) {
      const index = (i * 7_919 + side * 3_571 + round * 101) % size;
      await this.items.update(idOf(index), {
        done: i % 2 === 0,
        rank: 1_000_000 * (round * 2 + side + 1) + i,
      });
    }
  }

  /** Workers at once, each with keys of its own, created and then updated round after round. */
  async churn(
    { first, workers, keys, rounds }: {
      first: number;
      workers: number;
      keys: number;
      rounds: number;
    },
  ): Promise<void> {
    await Promise.all(Array.from({ length: workers }, async (_, worker) => {
      const from = first + worker * keys;
      await this.write(from, from + keys, 1);
      for (let round = 1; round <= rounds; round++) {
        for (let at = from; at < from + keys; at++) {
          await this.items.update(idOf(at), {
            done: round % 2 === 0,
            rank: round * 1e6 + at,
          });
        }
      }
    }));
  }

  /** Milliseconds in which every item is read. */
  readAll(): Promise<number> {
    const start = performance.now();
    for (const item of this.items.all()) touch(item);
    return Promise.resolve(performance.now() - start);
  }

  /** Resident bytes when it has come to rest. */
  memory(): Promise<number> {
    return restingBytes();
  }

  /** Answers each trip of another client with one of the same size, until it is closed. */
  answerTrips(): Promise<void> {
    let last = 0;
    this.#follow("there", ([newest]) => {
      if (newest === undefined || newest.rank <= last) return;
      last = newest.rank;
      this.#send("back", newest.rank, newest.body);
    });
    return Promise.resolve();
  }

  /**
   * Milliseconds until a write of this client is seen by a live query of
   * another one: half of the time until that one's answer is seen here.
   */
  async trips(
    first: number,
    count: number,
    body: string,
  ): Promise<number[]> {
    const samples: number[] = [];
    const warm = Math.ceil(count / 5);
    let seen = (_rank: number): void => {};
    using _live = this.#follow("back", ([newest]) => {
      if (newest !== undefined) seen(newest.rank);
    });
    for (let i = 0; i < count + warm; i++) {
      const rank = TRIPS_FROM + first + i;
      const answered = Promise.withResolvers<void>();
      seen = (found) => void (found === rank && answered.resolve());
      const start = performance.now();
      const write = this.#send("there", rank, body);
      await answered.promise;
      if (i >= warm) samples.push((performance.now() - start) / 2);
      await write.synced;
    }
    return samples;
  }

  #send(author: "there" | "back", rank: number, body: string) {
    const number = author === "there" ? rank : 2 * TRIPS_FROM + rank;
    return this.items.create({ ...itemAt(number), author, rank, body });
  }

  #follow(
    author: "there" | "back",
    changed: (rows: readonly { rank: number; body: string }[]) => void,
  ): Disposable {
    return this.items.where({ author }).orderBy("rank", "desc").limit(50)
      .subscribe(({ rows }) => changed(rows));
  }

  /** How many items there are, and a hash of all that they hold. */
  async content(): Promise<{ count: number; hash: string }> {
    const lines = this.items.all().map((item) => JSON.stringify(item)).sort();
    const bytes = new TextEncoder().encode(lines.join("\n"));
    const hash = await crypto.subtle.digest("SHA-256", bytes);
    return { count: lines.length, hash: new Uint8Array(hash).toHex() };
  }

  /** Resolves when the condition holds; asked whenever sync or items changed. */
  until(holds: () => boolean): Promise<void> {
    const held = Promise.withResolvers<void>();
    const check = (): void => {
      if (holds()) held.resolve();
    };
    const timer = setInterval(check, 2);
    const late = setTimeout(
      () => held.reject(new Error(`Waited too long: ${this.#state()}`)),
      WAIT_MS_MAX,
    );
    const unsubscribe = this.repository.sync.subscribe(check);
    const live = this.items.where({}).orderBy("rank").limit(1).subscribe(check);
    queueMicrotask(check);
    return held.promise.finally(() => {
      clearInterval(timer);
      clearTimeout(late);
      unsubscribe();
      live[Symbol.dispose]();
    });
  }

  /** Where it stands, for whoever waited in vain. */
  #state(): string {
    const { sync } = this.repository;
    return JSON.stringify({
      items: this.items.count(),
      commits: this.repository.status().commits,
      sync: { ...sync.status, refusals: sync.status.refusals.length },
      connection: this.db.connection?.status,
    });
  }
}
