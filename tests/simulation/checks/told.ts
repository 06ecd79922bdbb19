/**
 * Who subscribed was told: the rows and entries that were told, change by
 * change, are those that somebody finds who asks anew.
 *
 * @module
 */

import { check } from "../failure.ts";
import type { Cast } from "../simulation.ts";

/** What has expired is found; who watches is told of it in the next turn. */
export function sweepAll({ clients }: Cast): void {
  for (const { state, desks } of clients) {
    if (state !== "up") continue;
    for (const { subscriber } of desks) subscriber.sweep();
  }
}

/** Compares what everybody was told with what is there. */
export function checkTold({ clients, stage }: Cast, isWhole = false): void {
  for (const client of clients) {
    if (client.state !== "up") continue;
    const isClockSet = stage.blames.has(`clock ${client.name}`);
    for (const { name, subscriber } of client.desks) {
      const isSet = isClockSet || subscriber.isSetBack(client.world.now());
      const difference = subscriber.difference(isSet, isWhole);
      check(
        difference === undefined,
        "told",
        () => `${client.name} ${name}: ${difference}`,
      );
    }
  }
}
