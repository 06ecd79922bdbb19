/**
 * What a lost key wrote before anybody certified it: nobody else can have taken
 * it, and nobody ever would. It is written again under the key that signs now.
 *
 * Architecture invariant: one number of a chain stands for one commit. What is
 * written again stands in a new chain; the old one never goes on.
 *
 * @module
 */

import { nameOf } from "./commit.ts";
import type { Replica } from "./replica.ts";

/** Writes again what these keys wrote; the newest of them first, since later chains build upon earlier ones. */
export function rewriteLost(
  replica: Replica,
  lost: readonly Uint8Array[],
): void {
  for (const key of lost.toReversed()) {
    const prefix = nameOf(key, 0, 32);
    for (const { name } of [...replica.graph.chains()]) {
      if (name.startsWith(prefix)) replica.withdraw(name, 0, []);
    }
  }
}
