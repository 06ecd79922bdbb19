/**
 * Reads everything in a database through the public API.
 *
 * @module
 */

import type { Repository } from "../../mod.ts";
import { type PlainState, type PlainThing, Tally, Thing } from "./model.ts";

/** Both collections as plain values; `get` and `all` must agree. */
export function readState(repo: Repository): PlainState {
  const things: Record<string, PlainThing> = {};
  const collection = repo.collection(Thing);
  for (const id of collection.keys()) {
    const { name, size, on, tags, votes, steps, notes } = collection.get(id)!;
    things[id] = {
      name,
      size,
      on,
      tags: [...tags].sort(),
      votes,
      steps: [...steps],
      notes: Object.entries(notes).sort(([a], [b]) => a < b ? -1 : 1),
    };
  }
  const tallies: Record<string, number> = {};
  for (const { id, count } of repo.collection(Tally).all()) tallies[id] = count;
  return { things, tallies };
}
