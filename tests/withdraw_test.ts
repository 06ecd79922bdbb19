/**
 * Refused commits are withdrawn: what stays is what a replica has that never
 * saw them, here, after a restart, and for every peer.
 */

import { deepEqual, equal, ok } from "node:assert/strict";
import type { Mode } from "../mod.ts";
import { AuthorPlace, refusedAt } from "./kit/author_place.ts";

const modes: readonly Mode[] = ["default", "trusted", "fast"];

for (const mode of modes) {
  Deno.test(`a refused commit of a ${mode} repository is undone and what came after it goes on`, async () => {
    const place = await AuthorPlace.open({ mode });
    const kept = place.put("a", "kept").commit!;
    const refused = place.put("b", "refused").commit!;
    const moved = place.put("c", "moved").commit!;
    const { chain } = refused;
    place.replica.withdraw(chain, 1, [refusedAt(1)]);
    deepEqual([place.get("a")?.title, place.get("b"), place.get("c")?.title], [
      "kept",
      undefined,
      "moved",
    ]);
    deepEqual([kept.chain, kept.number, kept.state], [chain, 0, "kept"]);
    deepEqual([refused.chain, refused.number, refused.state], [
      chain,
      1,
      "refused",
    ]);
    ok(moved.chain !== chain);
    deepEqual([moved.number, moved.state], [0, "kept"]);
    equal(place.replica.graph.lengthOf(chain), 1);
    await place.agrees("one refusal");
    place.put("d", "later");
    await place.agrees("and on");
    equal(place.replica.graph.lengthOf(moved.chain), 2);
  });
}
