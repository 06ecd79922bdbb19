/**
 * Somebody who subscribes to what is in a repository and reads nothing himself:
 * what he was told must be what is there, at every moment.
 *
 * @module
 */

import { isDeepStrictEqual } from "node:util";
import { openedOf, replicaOf } from "../../src/db/internals.ts";
import type { Repository } from "../../src/db/repository.ts";
import type { Kv } from "../../src/kv/mod.ts";
import type { LiveChange } from "../../src/query/live.ts";
import type { Query } from "../../src/query/query.ts";
import { type AppSchemas, Mark, Tally } from "./collections.ts";

/** Rows of a query as a list of a page would have them. */
interface Told {
  readonly what: string;
  readonly query: { run(): unknown[] };
  rows: readonly unknown[];
}

/** See the file's header. */
export class Subscriber {
  readonly #repository: Repository;
  readonly #kv: Kv;
  readonly #told: Told[] = [];
  readonly #entries = new Map<string, unknown>();
  /** How the entries differed when they were looked at last. */
  #late: string | undefined;
  #isSetBack = false;
  /** How far the database's clock was ahead of the device's at most, in milliseconds. */
  #latestMs = 0;
  /** What the repository was like when it was looked at last. */
  #seen = "";

  constructor(
    repository: Repository,
    kv: Kv,
    { Card }: AppSchemas,
    user: string,
  ) {
    this.#repository = repository;
    this.#kv = kv;
    const cards = repository.collection(Card);
    this.#follow("cards by rank", cards.orderBy("rank", "desc").limit(3));
    this.#follow(
      "cards that stand",
      cards.where({ rank: { gte: 5 } }).orderBy("title"),
    );
    this.#follow("tallies", repository.collection(Tally).orderBy("total"));
    const own = repository.collection(Mark).where({ owner: user });
    this.#follow("own marks", own.orderBy("id", "desc").limit(5));
    for (const { key, value } of kv.list().entries) {
      this.#entries.set(key, value);
    }
    kv.subscribe({}, (changes) => {
      for (const { key, value, why } of changes) {
        // A villain's entry may be there without a value.
        if (why !== "set") this.#entries.delete(key);
        else this.#entries.set(key, value);
      }
    });
  }

  // deno-lint-ignore no-explicit-any -- The rows of any query.
  #follow(what: string, query: Query<any>): void {
    const told: Told = { what, query, rows: [] };
    const live = query.subscribe((change) => {
      told.rows = played(told.rows, change);
    });
    told.rows = live.rows;
    this.#told.push(told);
  }

  /** Finds out what has expired: who watches is told in the next turn. */
  sweep(): void {
    void this.#kv.size;
  }

  /** Was the clock of the database set back, which follows the server's, against this one of the device? */
  isSetBack(nowMs: number): boolean {
    const offsetMs = openedOf(this.#repository)[0]!.world.now() - nowMs;
    this.#latestMs = Math.max(this.#latestMs, offsetMs);
    return this.#isSetBack ||= offsetMs < this.#latestMs - 1;
  }

  /**
   * Where what it was told is not what is there; `undefined` where it is. Rows
   * are asked for anew where something was admitted since, or all of them.
   */
  difference(isClockSet: boolean, isWhole: boolean): string | undefined {
    if (isWhole) this.#seen = "";
    return this.#differentRows() ?? this.#differentEntries(isClockSet);
  }

  #differentRows(): string | undefined {
    const { graph, commits } = replicaOf(this.#repository);
    const seen = `${graph.commits} ${commits.revision}`;
    if (seen === this.#seen) return undefined;
    for (const { what, query, rows } of this.#told) {
      const there = query.run();
      if (isSame(rows, there)) continue;
      return `${what} are ${JSON.stringify(there)}, told was ${
        JSON.stringify(rows)
      }`;
    }
    this.#seen = seen;
    return undefined;
  }

  /**
   * Nobody is told of what a clock that was set back gives back; and where a
   * clock is fast, a timer is late: what differs must do so at the next look.
   */
  #differentEntries(isClockSet: boolean): string | undefined {
    const late = this.#late;
    this.#late = isClockSet ? undefined : this.#entriesUntold();
    return late === this.#late ? late : undefined;
  }

  #entriesUntold(): string | undefined {
    const there = this.#kv.list().entries;
    const isAll = there.length === this.#entries.size &&
      there.every(({ key, value }) =>
        isDeepStrictEqual(this.#entries.get(key), value)
      );
    if (isAll) return undefined;
    const keys = (list: Iterable<string>) => [...list].sort().join();
    return `the keys ${keys(there.map(({ key }) => key))} are there, told was ${
      keys(this.#entries.keys())
    }`;
  }
}

function isSame(rows: readonly unknown[], there: readonly unknown[]): boolean {
  return rows.length === there.length &&
    rows.every((row, index) =>
      row === there[index] || isDeepStrictEqual(row, there[index])
    );
}

/** The rows after a change, from those before it, as its documentation says. */
function played(
  rows: readonly unknown[],
  { added, removed, moved, changed }: LiveChange<unknown>,
): unknown[] {
  const gone = new Set([
    ...removed.map(({ index }) => index),
    ...moved.map(({ from }) => from),
  ]);
  const list = rows.filter((_, index) => !gone.has(index));
  const come = [
    ...added,
    ...moved.map(({ row, to }) => ({ row, index: to })),
  ].sort((a, b) => a.index - b.index);
  for (const { row, index } of come) list.splice(index, 0, row);
  for (const { row, index } of changed) list[index] = row;
  return list;
}
