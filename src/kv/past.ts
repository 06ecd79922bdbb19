/**
 * The past of a store: what its entries were at a commit or a moment.
 *
 * Architecture invariant: the clock of the past is of the past as well: whether
 * an entry had ended is asked of the moment, or of the commit's own clock, so the
 * answer is the same on every replica, whenever it is asked.
 *
 * @module
 */

import { type Replica, stateOf } from "../../repo/mod.ts";
import { includesOf } from "../db/history.ts";
import { ReadableKv } from "./readable_kv.ts";

/** The store of a collection as it was at a point of its repository's history. */
export function pastOf<V>(
  replica: Replica,
  collection: string,
  point: string | Date,
): ReadableKv<V> {
  const includes = includesOf(replica, point);
  let moment = typeof point === "string" ? 0 : point.getTime();
  const { state, commits } = replica;
  const past = stateOf(
    commits,
    (name) => state.table(name).view,
    (chain, number, wall) => {
      const isOfPast = includes(chain, number, wall);
      // No commit's clock is behind its ancestors': the latest is its own.
      if (isOfPast) moment = Math.max(moment, wall);
      return isOfPast;
    },
  );
  const table = past.table(collection);
  const clock = { now: () => moment };
  return new ReadableKv({ table, clock, check: () => {} });
}
