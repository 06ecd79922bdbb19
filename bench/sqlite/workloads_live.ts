/**
 * What one write does to a live sorted result of 1,000 items: the written item
 * moves to another place in it.
 *
 * SQLite runs its query again, reading the first `limit` rows, and its write is
 * not counted. With Sheaf the result follows inside the write, so the write's
 * own cost is taken off: before such writes as many items outside the result are
 * written, and that time deducted. Where asked, the whole write is shown. Writes
 * come ten in a tick, since a lone one after a flush measures cold caches.
 *
 * @module
 */

import { numbers } from "../harness/scramble.ts";
import type { Database, Done } from "./engine.ts";
import { type Change, rankEnd } from "../harness/items.ts";
import type { Model } from "./model.ts";
import { compareAll } from "./questions.ts";
import type { Context, Task } from "./workload.ts";

const resultSize = 1_000;
const burst = 10;

/** How a live result is measured. */
export interface LiveOptions {
  /** Rows that SQLite reads again. */
  readonly limit: number;
  /** Is the write's own cost left in? */
  readonly isWhole: boolean;
}

/** Moves one item of a live result a run. */
export async function liveTask(
  context: Context,
  { limit, isWhole }: LiveOptions,
): Promise<Task> {
  const database = await context.store.database();
  const { model } = context.store;
  const range = new LiveRange(model);
  const { from, to } = range;
  const live = database.live(from, to, limit);
  const isDeducted = live.countsWrite && !isWhole;
  let changes: Change[] = [];
  let aloneMs = 0;
  return {
    burst,
    async before() {
      if (isDeducted) aloneMs = await writeOutside(database, range);
      changes = Array.from({ length: burst }, () => range.move());
      for (const change of changes) await live.before(change);
    },
    run() {
      const waits: Promise<unknown>[] = [];
      for (const change of changes) {
        const done = live.update(change);
        if (done !== undefined) waits.push(done);
      }
      return waits.length === 0 ? undefined : Promise.all(waits);
    },
    deducted: () => aloneMs,
    async after() {
      await live.after();
      return undefined;
    },
    check() {
      const wanted = model.inRankRange(from, to).slice(0, limit);
      return compareAll(live.rows().slice(0, limit), model, wanted);
    },
    end() {
      live.close();
      return undefined;
    },
  };
}

/** Writes items outside the result; says how long the synchronous part took. */
async function writeOutside(
  database: Database,
  range: LiveRange,
): Promise<number> {
  const changes = range.outside(burst);
  const waits: Done[] = [];
  const from = performance.now();
  for (const change of changes) waits.push(database.update(change));
  const aloneMs = performance.now() - from;
  await Promise.all(waits);
  return aloneMs;
}

/** The ranks of a live result, and writes within and outside it. */
class LiveRange {
  readonly from: number;
  readonly to: number;
  readonly #model: Model;
  readonly #members: readonly number[];
  readonly #isMember: ReadonlySet<number>;
  readonly #ranks: Set<number>;
  readonly #next = numbers(6);

  constructor(model: Model) {
    const share = Math.min(1, resultSize / model.size);
    const width = Math.ceil(share * rankEnd);
    this.#model = model;
    this.from = Math.floor((rankEnd - width) / 2);
    this.to = this.from + width;
    this.#members = model.inRankRange(this.from, this.to);
    this.#isMember = new Set(this.#members);
    this.#ranks = new Set(
      this.#members.map((index) => model.item(index).rank),
    );
  }

  /** Moves a member to a rank of the range that no other has, in the model. */
  move(): Change {
    const index = this.#members[this.#next(this.#members.length)] ?? 0;
    const width = this.to - this.from;
    let rank = this.from + this.#next(width);
    while (this.#ranks.has(rank)) rank = this.from + this.#next(width);
    this.#ranks.delete(this.#model.item(index).rank);
    this.#ranks.add(rank);
    return this.#applied(index, { ...this.#model.change(index), rank });
  }

  /** Changes items that are not in the range and stay outside, in the model. */
  outside(count: number): Change[] {
    // In a collection as small as the result nothing is outside.
    if (this.#members.length >= this.#model.size) return [];
    return Array.from({ length: count }, () => this.#changeOutside());
  }

  #changeOutside(): Change {
    let index = this.#next(this.#model.size);
    while (this.#isMember.has(index)) index = this.#next(this.#model.size);
    let change = this.#model.change(index);
    while (change.rank >= this.from && change.rank < this.to) {
      change = this.#model.change(index);
    }
    return this.#applied(index, change);
  }

  #applied(index: number, change: Change): Change {
    this.#model.apply(index, change);
    return change;
  }
}
