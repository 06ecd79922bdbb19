/**
 * Sheaf's players, in Deno and in a page alike: one collection with the same
 * indexes as SQLite's table. Queries are made for each call, as an app would.
 *
 * @module
 */

import type { Collection, Database, Query, Repository } from "../../mod.ts";
import { type Ask, indexes } from "./asks.ts";
import type { Change, Player } from "./players.ts";
import type { Done, PlayerStore } from "./store.ts";

type Sheaf = Pick<typeof import("../../mod.ts"), "defineSchema" | "field">;
type PlayerSchema = ReturnType<typeof playerSchema>;

/** The same fields as the columns of SQLite; history is always kept. */
export function playerSchema({ defineSchema, field }: Sheaf) {
  return defineSchema("player", {
    name: field.string(),
    score: field.number(),
    active: field.boolean(),
    world: field.string(),
    createdAt: field.number(),
    lastSeenAt: field.number(),
  }, { indexes });
}

/** Players in Sheaf. */
export class SheafStore implements PlayerStore {
  readonly #database: Database;
  readonly #repository: Repository;
  readonly #schema: PlayerSchema;
  readonly #players: Collection<PlayerSchema>;

  /** Takes over a database that was opened with `schema`, and a repository of it. */
  constructor(
    database: Database,
    repository: Repository,
    schema: PlayerSchema,
  ) {
    this.#database = database;
    this.#repository = repository;
    this.#schema = schema;
    this.#players = repository.collection(schema);
  }

  create(player: Player): Done {
    return this.#players.create(player).durable;
  }

  createMany(players: readonly Player[]): Done {
    return this.#players.createMany(players).durable;
  }

  update({ id, ...fields }: Change): Done {
    return this.#players.update(id, fields).durable;
  }

  updateMany(changes: readonly Change[]): Done {
    return this.#repository.transact((transaction) => {
      const players = transaction.collection(this.#schema);
      for (const { id, ...fields } of changes) players.update(id, fields);
    }).durable;
  }

  saveAll(all: readonly Player[]): Done {
    return this.#repository.transact((transaction) => {
      const players = transaction.collection(this.#schema);
      for (const player of all) players.upsert(player);
    }).durable;
  }

  remove(id: string): Done {
    return this.#players.delete(id).durable;
  }

  removeMany(ids: readonly string[]): Done {
    return this.#repository.transact((transaction) => {
      const players = transaction.collection(this.#schema);
      for (const id of ids) players.delete(id);
    }).durable;
  }

  get(id: string): Player | undefined {
    return this.#players.get(id);
  }

  getMany(ids: readonly string[]): readonly Player[] {
    return this.#players.getMany(ids).filter((player) => player !== undefined);
  }

  ask(ask: Ask): readonly Player[] {
    let query = this.#queryOf(ask);
    if (ask.order !== undefined) {
      const { field, isDown } = ask.order;
      query = query.orderBy(field, isDown ? "desc" : "asc");
    }
    if (ask.limit !== undefined) query = query.limit(ask.limit);
    return query.run();
  }

  count(): number {
    return this.#players.count();
  }

  countOf(ask: Ask): number {
    return this.#queryOf(ask).count();
  }

  pageAfter(last: Player | undefined, limit: number): readonly Player[] {
    const query = this.#players.orderBy("score", "desc").limit(limit);
    return (last === undefined ? query : query.after(last)).run();
  }

  pageAt(offset: number, limit: number): readonly Player[] {
    return this.#players.orderBy("score", "desc").offset(offset).limit(limit)
      .run();
  }

  scoresOf(id: string): readonly number[] {
    const scores: number[] = [];
    for (const { operations } of this.#players.history(id)) {
      for (const { fields } of operations) {
        for (const { name, change } of fields) {
          if (name !== "score" || change.what !== "set") continue;
          scores.push(Number(change.value));
        }
      }
    }
    return scores;
  }

  close(): Done {
    return this.#database.close();
  }

  #queryOf({ worlds, active, ranges }: Ask): Query<Player> {
    const conditions: Record<string, unknown> = {};
    if (worlds !== undefined) {
      conditions["world"] = worlds.length === 1 ? worlds[0] : { in: worlds };
    }
    if (active !== undefined) conditions["active"] = active;
    for (const { field, from, to } of ranges) {
      conditions[field] = to === Infinity
        ? { gte: from }
        : { gte: from, lt: to };
    }
    return this.#players.where(conditions);
  }
}
