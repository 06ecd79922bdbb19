/**
 * SQLite's players: set up as in `../engines/sqlite_open.ts`, a prepared
 * statement for each question, the same indexes as Sheaf's, statistics gathered
 * after loading. The table has rowids, as SQLite's manual leaves it; whether
 * `WITHOUT ROWID` would be quicker or slower for these players was not measured.
 *
 * `FULL` syncs each transaction, `NORMAL` and `OFF` leave that to the system;
 * in memory there is no file at all. Histories are kept by triggers, in a
 * table with an index, and only where they are asked for.
 *
 * @module
 */

import type { DatabaseSync, StatementSync } from "node:sqlite";
import type { SqliteName } from "../engines/names.ts";
import {
  cellsOf,
  openSqlite,
  prepareReader,
  transactSqlite,
} from "../engines/sqlite_open.ts";
import { type Ask, indexes } from "./asks.ts";
import type { Change, Player } from "./players.ts";
import type { Done, PlayerStore } from "./store.ts";

/** What else the store is. */
export interface SqliteSettings {
  /** In memory: no file. */
  readonly isInMemory: boolean;
  /** Are old scores kept? */
  readonly hasHistory: boolean;
}

const columns = "id, name, score, active, world, createdAt, lastSeenAt";
const select = `SELECT ${columns} FROM player`;
/** Ids are asked for so many at a time: a statement for every number would be prepared anew. */
const manyPlaces = 100;
const others = columns.split(", ").slice(1);
const insert = `INSERT INTO player (${columns}) VALUES (?, ?, ?, ?, ?, ?, ?)`;
const upsert = `${insert} ON CONFLICT (id) DO UPDATE SET ${
  others.map((name) => `${name} = excluded.${name}`).join(", ")
}`;
const definition =
  `CREATE TABLE player (id TEXT PRIMARY KEY NOT NULL, name TEXT NOT NULL,
  score INTEGER NOT NULL, active INTEGER NOT NULL, world TEXT NOT NULL,
  createdAt INTEGER NOT NULL, lastSeenAt INTEGER NOT NULL);`;
const historyDefinition =
  `CREATE TABLE history (player TEXT NOT NULL, at INTEGER NOT NULL, score INTEGER NOT NULL,
  active INTEGER NOT NULL, lastSeenAt INTEGER NOT NULL);
CREATE INDEX history_player ON history (player);
CREATE TRIGGER player_created AFTER INSERT ON player BEGIN INSERT INTO history VALUES
  (new.id, unixepoch('subsec') * 1000, new.score, new.active, new.lastSeenAt); END;
CREATE TRIGGER player_changed AFTER UPDATE ON player BEGIN INSERT INTO history VALUES
  (new.id, unixepoch('subsec') * 1000, new.score, new.active, new.lastSeenAt); END;`;

/** Players in SQLite. */
export class SqliteStore implements PlayerStore {
  readonly #handle: DatabaseSync;
  readonly #statements = new Map<string, StatementSync>();

  private constructor(handle: DatabaseSync) {
    this.#handle = handle;
  }

  /** Makes the database in `folder`. */
  static open(
    folder: string,
    engine: SqliteName,
    { isInMemory, hasHistory }: SqliteSettings,
  ): SqliteStore {
    const all = [definition];
    for (const index of indexes) {
      const name = index.join("_");
      all.push(`CREATE INDEX by_${name} ON player (${index.join(", ")});`);
    }
    if (hasHistory) all.push(historyDefinition);
    const sql = all.join("\n");
    return new SqliteStore(openSqlite(folder, engine, sql, { isInMemory }));
  }

  create(player: Player): Done {
    this.#writer(insert).run(...valuesOf(player));
    return undefined;
  }

  createMany(players: readonly Player[]): Done {
    return this.#transact(() => {
      for (const player of players) this.create(player);
    });
  }

  update({ id, score, active, lastSeenAt }: Change): Done {
    const sql =
      "UPDATE player SET score = ?, active = ?, lastSeenAt = ? WHERE id = ?";
    this.#writer(sql).run(score, active ? 1 : 0, lastSeenAt, id);
    return undefined;
  }

  updateMany(changes: readonly Change[]): Done {
    return this.#transact(() => {
      for (const change of changes) this.update(change);
    });
  }

  saveAll(players: readonly Player[]): Done {
    return this.#transact(() => {
      const statement = this.#writer(upsert);
      for (const player of players) statement.run(...valuesOf(player));
    });
  }

  remove(id: string): Done {
    this.#writer("DELETE FROM player WHERE id = ?").run(id);
    return undefined;
  }

  removeMany(ids: readonly string[]): Done {
    return this.#transact(() => {
      for (const id of ids) this.remove(id);
    });
  }

  get(id: string): Player | undefined {
    const row: unknown = this.#reader(`${select} WHERE id = ?`).get(id);
    return row === undefined ? undefined : playerOf(row);
  }

  getMany(ids: readonly string[]): readonly Player[] {
    if (ids.length !== manyPlaces) {
      throw new RangeError(`bulk reads here are of ${manyPlaces} ids`);
    }
    const places = new Array(manyPlaces).fill("?").join(", ");
    const statement = this.#reader(`${select} WHERE id IN (${places})`);
    return playersOf(statement.all(...ids));
  }

  ask(ask: Ask): readonly Player[] {
    const { sql, values } = conditionsOf(ask);
    const { order, limit } = ask;
    const ordered = order === undefined
      ? ""
      : ` ORDER BY ${order.field} ${order.isDown ? "DESC" : "ASC"}`;
    const limited = limit === undefined ? "" : ` LIMIT ${limit}`;
    return playersOf(
      this.#reader(`${select}${sql}${ordered}${limited}`).all(...values),
    );
  }

  count(): number {
    return this.#number("SELECT count(*) FROM player", []);
  }

  countOf(ask: Ask): number {
    const { sql, values } = conditionsOf(ask);
    return this.#number(`SELECT count(*) FROM player${sql}`, values);
  }

  pageAfter(last: Player | undefined, limit: number): readonly Player[] {
    const sql = `${select} WHERE score < ? ORDER BY score DESC LIMIT ?`;
    const below = last?.score ?? Number.MAX_SAFE_INTEGER;
    return playersOf(this.#reader(sql).all(below, limit));
  }

  pageAt(offset: number, limit: number): readonly Player[] {
    const sql = `${select} ORDER BY score DESC LIMIT ? OFFSET ?`;
    return playersOf(this.#reader(sql).all(limit, offset));
  }

  scoresOf(id: string): readonly number[] {
    const sql =
      "SELECT at, score, active, lastSeenAt FROM history WHERE player = ? ORDER BY rowid";
    const rows: readonly unknown[] = this.#reader(sql).all(id);
    return rows.map((row) => Number(cellsOf(row)[1]));
  }

  /** Lets the planner learn what it holds: what its manual advises after loading. */
  learn(): void {
    this.#handle.exec("ANALYZE;");
  }

  close(): Done {
    this.#handle.close();
    return undefined;
  }

  #number(sql: string, values: readonly (string | number)[]): number {
    const row: unknown = this.#reader(sql).get(...values);
    return Number(cellsOf(row)[0]);
  }

  #transact(work: () => void): Done {
    transactSqlite(this.#handle, work);
    return undefined;
  }

  #writer(sql: string): StatementSync {
    let statement = this.#statements.get(sql);
    if (statement === undefined) {
      statement = this.#handle.prepare(sql);
      this.#statements.set(sql, statement);
    }
    return statement;
  }

  #reader(sql: string): StatementSync {
    let statement = this.#statements.get(sql);
    if (statement === undefined) {
      statement = prepareReader(this.#handle, sql);
      this.#statements.set(sql, statement);
    }
    return statement;
  }
}

/** A player in the order of the columns. */
function valuesOf(player: Player): (string | number)[] {
  const { id, name, score, active, world, createdAt, lastSeenAt } = player;
  return [id, name, score, active ? 1 : 0, world, createdAt, lastSeenAt];
}

/** The same text for every variant of a question, so that its statement stays prepared. */
function conditionsOf(
  { worlds, active, ranges }: Ask,
): { sql: string; values: (string | number)[] } {
  const parts: string[] = [];
  const values: (string | number)[] = [];
  if (worlds !== undefined) {
    parts.push(`world IN (${worlds.map(() => "?").join(", ")})`);
    values.push(...worlds);
  }
  if (active !== undefined) {
    parts.push("active = ?");
    values.push(active ? 1 : 0);
  }
  for (const { field, from, to } of ranges) {
    parts.push(`${field} >= ?`);
    values.push(from);
    if (to === Infinity) continue;
    parts.push(`${field} < ?`);
    values.push(to);
  }
  const sql = parts.length === 0 ? "" : ` WHERE ${parts.join(" AND ")}`;
  return { sql, values };
}

function playersOf(rows: readonly unknown[]): Player[] {
  return rows.map(playerOf);
}

/** One row of {@linkcode select} as a player. */
function playerOf(row: unknown): Player {
  const cells = cellsOf(row);
  return {
    id: cells[0] as string,
    name: cells[1] as string,
    score: cells[2] as number,
    active: cells[3] === 1,
    world: cells[4] as string,
    createdAt: cells[5] as number,
    lastSeenAt: cells[6] as number,
  };
}
