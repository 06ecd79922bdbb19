/**
 * Refused commits are withdrawn: what stays is what a replica has that never
 * saw them, here, after a restart, and for every peer.
 */

import { deepEqual, equal, ok } from "node:assert/strict";
import type { Mode } from "../repo/genesis.ts";
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

Deno.test("an element that was added and removed again stays removed at every peer, under the new chain", async () => {
  const place = await AuthorPlace.open();
  const first = place.put("x", "first").commit!;
  place.put("refused", "refused");
  place.write((tx, leaves) =>
    void leaves.create(tx, {
      id: "a",
      title: "a",
      tags: ["old", "stays"],
      steps: ["one", "two", "three"],
      notes: { k: "v" },
      votes: 2,
    })
  );
  place.write((tx, leaves) => {
    leaves.update(tx, "a", {
      tags: { add: ["new", "own"], remove: ["old"] },
      steps: { move: [{ from: 0, to: 2 }], insert: [{ at: 0, value: "zero" }] },
      votes: { increment: 3 },
      notes: { put: { l: "w" }, drop: ["k"] },
    });
    leaves.update(tx, "a", { tags: { remove: ["own"] } });
  });
  place.write((tx, leaves) =>
    void leaves.update(tx, "a", {
      tags: { remove: ["new"] },
      steps: { delete: [1] },
    })
  );
  const before = place.get("a");
  deepEqual(before?.tags, ["stays"]);
  place.replica.withdraw(first.chain, 1, [refusedAt(1)]);
  deepEqual(place.get("a"), before);
  await place.agrees("tags and elements");
  const peer = await place.peer();
  deepEqual(peer.get("a"), before);
});

Deno.test("every commit may be refused: a new chain begins all the same, and the old one never goes on", async () => {
  const place = await AuthorPlace.open();
  const places = ["a", "b", "c"].map((id) => place.put(id, id).commit!);
  const { chain } = places[0]!;
  place.replica.withdraw(chain, 0, [0, 1, 2].map(refusedAt));
  deepEqual(place.editor.table.ids(), []);
  equal(place.editor.table.count, 0);
  equal(place.digest(), (await AuthorPlace.open({ seed: 5 })).digest());
  await place.agrees("nothing left");
  equal(place.replica.graph.lengthOf(chain), 0);
  deepEqual(places.map(({ state }) => state), [
    "refused",
    "refused",
    "refused",
  ]);
  const again = await place.reopened();
  const next = again.put("d", "d").commit!;
  ok(next.chain !== chain, "the old chain is closed");
  equal(again.replica.graph.lengthOf(next.chain), 2, "behind the mark");
  await again.agrees("after all were refused");
});

Deno.test("a withdrawal can begin in the middle of a batch and of a transaction's neighbours", async () => {
  for (const mode of modes) {
    const place = await AuthorPlace.open({ mode });
    // One turn, one batch.
    const places = [..."abcdefgh"].map((id) => place.put(id, id).commit!);
    await place.replica.durable();
    const { chain } = places[0]!;
    place.replica.withdraw(chain, 3, [refusedAt(5)]);
    deepEqual(place.editor.table.ids().sort(), [..."abcdegh"]);
    equal(place.replica.graph.lengthOf(chain), 3);
    deepEqual(places.map(({ number }) => number), [0, 1, 2, 0, 1, 5, 2, 3]);
    await place.agrees(`${mode}, in the middle`);
    const peer = await place.peer();
    equal(peer.replica.graph.lengthOf(chain), 3, "the part that stays travels");
  }
});

Deno.test("withdrawals follow each other: the new chain is refused too", async () => {
  const place = await AuthorPlace.open();
  const places = [..."abcdef"].map((id) => {
    const { commit } = place.put(id, id);
    place.replica.flush();
    return commit!;
  });
  place.write((tx, leaves) => {
    leaves.update(tx, "a", { tags: ["t"] });
    leaves.update(tx, "f", { tags: ["t"] });
  });
  place.write((tx, leaves) => leaves.update(tx, "f", { tags: [] }));
  for (let round = 0; round < 4; round++) {
    const { chain, number } = places[round + 1]!;
    place.replica.withdraw(chain, number, [refusedAt(number)]);
    equal(places[round + 1]!.state, "refused");
    await place.agrees(`round ${round}`);
  }
  deepEqual(place.editor.table.ids().sort(), ["a", "f"]);
  deepEqual(place.get("f")?.tags, []);
  equal(place.replica.refusals().length, 4);
  equal(places[5]!.state, "kept");
  await place.agrees("after four");
  // A checkpoint knows all of it.
  await place.replica.close();
  const again = await place.reopened();
  equal(again.replica.loaded.skipped.length, 0);
  ok(again.replica.loaded.checkpoint !== undefined);
  equal(again.replica.refusals().length, 4);
  await again.agrees("over a checkpoint");
});

Deno.test("what was written in the same turn goes on in the new chain", async () => {
  const place = await AuthorPlace.open();
  const one = place.put("a", "a").commit!;
  await place.replica.durable();
  const two = place.put("b", "b").commit!; // Waits in the queue.
  place.replica.withdraw(one.chain, 0, [refusedAt(0)]);
  const three = place.put("c", "c");
  equal(two.chain, three.commit!.chain);
  deepEqual([two.number, three.commit!.number], [0, 1]);
  await three.durability.promise;
  await place.agrees("one turn");
});
