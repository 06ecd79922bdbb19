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
export function checkSums({ clients, stage }: Cast): void {
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

function itemsOf(replica: Replica, collection: string): Item[] {
  return replica.state.find(collection)?.items() ?? [];
}
