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
import { commitsOf } from "./judge.ts";

/** Adds up what the marks say and compares. */
export function checkSums(cast: Cast): void {
  const { clients, stage } = cast;
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
 * Marks that stand in two commits, or were taken back in two: what was built on
 * what a lost server had taken, and the next one refuses, is written again, and
 * others may bring it as it was when a witness shows it.
 */
function twiceIn({ stage, server }: Cast): Set<string> {
  const twice = new Set<string>();
  if (!stage.blames.has("wipe")) return twice;
  for (const name of stage.repositories) {
    const served = server.replica(name);
    const once = new Set<string>();
    for (const { operations } of served ? commitsOf(served) : []) {
      for (
        const { what, shape: { collection }, id, generation } of operations
      ) {
        if (collection !== Mark.name) continue;
        const one = `${what} ${id} ${generation}`; // Done again, it is another one.
        if (once.has(one)) twice.add(id);
        once.add(one);
      }
    }
  }
  return twice;
}

/**
 * Tallies with an increment that was refused after it had been taken back: the
 * undo is a commit like others, and stands without it. And those of which a
 * crash may have lost the note that it was taken back, so that it was again. And
 * those that were tried again, when somebody else handed the first try in; or
 * that stand twice.
 */
function tornIn(cast: Cast): Set<string> {
  const { clients, stage } = cast;
  const twice = twiceIn(cast);
  const torn = new Set<string>();
  const byName = new Map(clients.map((client) => [client.name, client]));
  for (const entry of stage.ledger.entries) {
    const { repository, tally, turn, author, mark } = entry;
    const isAnew = stage.relayed.has(mark) && entry.isRetried;
    if (isAnew || twice.has(mark)) torn.add(`${repository} ${tally}`);
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
