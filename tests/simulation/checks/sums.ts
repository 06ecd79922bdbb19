/**
 * Every increment counts once: a tally is the sum of what the marks say.
 *
 * @module
 */

import type { Replica } from "../../../repo/replica.ts";
import type { Item } from "../../../src/schema/patch.ts";
import { Mark, Tally } from "../collections.ts";
import { check } from "../failure.ts";
import type { Cast } from "../simulation.ts";

/** Adds up what the marks say and compares. */
export function checkSums(cast: Cast): void {
  const { clients, stage } = cast;
  // What stood on commits of somebody whose session had ended is written again, and others may bring it as it was: it counts twice.
  if (stage.plan.sessionMs < Infinity && stage.blames.has("wipe")) return;
  const torn = tornIn(cast);
  for (const client of clients) {
    if (client.isRevoked) continue;
    for (const { name, replica } of client.desks) {
      const sums = new Map<string, number>();
      for (const { tally, by } of itemsOf(replica, Mark.name)) {
        if (tally !== "") {
          sums.set(
            tally as string,
            (sums.get(tally as string) ?? 0) + (by as number),
          );
        }
      }
      for (const { id, total } of itemsOf(replica, Tally.name)) {
        if (torn.has(`${name} ${id}`)) continue;
        const sum = sums.get(id as string) ?? 0;
        check(
          total === sum,
          "sums",
          () =>
            `${client.name} ${name}: ${id} is ${total}, its increments are ${sum}`,
        );
      }
    }
  }
  stage.trace.note("sim", "sums-checked");
}

/**
 * Tallies with an increment that was refused after it had been taken back: the
 * undo is a commit like others, and stands without it. And those of which a
 * crash may have lost the note that it was taken back, so that it was again. And
 * those that were tried again, when somebody else handed the first try in.
 */
function tornIn({ clients, stage }: Cast): Set<string> {
  const torn = new Set<string>();
  const byName = new Map(clients.map((client) => [client.name, client]));
  for (const entry of stage.ledger.entries) {
    const { repository, tally, turn, author, mark } = entry;
    const isAnew = stage.relayed.has(mark) && entry.isRetried;
    if (isAnew) torn.add(`${repository} ${tally}`);
    if (turn === undefined || tally === "") continue;
    const isTorn = entry.isForgotten || entry.refused !== undefined ||
      entry.isRetried ||
      entry.isGone || byName.get(author)!.refusedMarks(repository).has(mark);
    if (isTorn) torn.add(`${repository} ${tally}`);
  }
  return torn;
}

function itemsOf(replica: Replica, collection: string): Item[] {
  return replica.state.find(collection)?.items() ?? [];
}
