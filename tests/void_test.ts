/**
 * Refused commits are void: what stays is what a replica has that never saw
 * them, here, after a restart, and for every peer.
 */

import { deepEqual, equal, ok, rejects, throws } from "node:assert/strict";
import type { Mode } from "../repo/commit/genesis.ts";
import { AuthorPlace, refusedAt } from "./kit/author_place.ts";
import { faultyStorage, type Files, filesOf } from "./kit/mod.ts";
import { until } from "./kit/patience.ts";
import { isTried } from "./kit/tier.ts";
import { recordKind } from "../repo/log/format.ts";
import { stubLength } from "../src/schema/stub.ts";
import type { Arrival } from "../repo/admission/arrival.ts";

const modes: readonly Mode[] = ["default", "trusted", "fast"];

for (const mode of modes) {
  Deno.test(`a refused commit of a ${mode} repository is undone and what came after it goes on`, async () => {
    const place = await AuthorPlace.open({ mode });
    const kept = place.put("a", "kept").commit!;
    const refused = place.put("b", "refused").commit!;
    const moved = place.put("c", "moved").commit!;
    const { chain } = refused;
    place.replica.refuse(chain, [refusedAt(1)]);
    deepEqual([place.get("a")?.title, place.get("b"), place.get("c")?.title], [
      "kept",
      undefined,
      "moved",
    ]);
    deepEqual([kept, refused, moved].map((one) => place.placeOf(one)), [
      { chain, number: 0, isRefused: false },
      { chain, number: 1, isRefused: true },
      { chain, number: 2, isRefused: false },
    ]);
    equal(place.replica.graph.lengthOf(chain), 3);
    await place.agrees("one refusal");
    place.put("d", "later");
    await place.agrees("and on");
    equal(place.replica.graph.lengthOf(chain), 4);
    equal(place.replica.graph.size, 1);
  });
}

Deno.test("an element that was added and removed again stays removed at every peer", async () => {
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
  place.replica.refuse(first.chain, [refusedAt(1)]);
  deepEqual(place.get("a"), before);
  await place.agrees("tags and elements");
  const peer = await place.peer();
  deepEqual(peer.get("a"), before);
});

Deno.test("every commit may be refused, and the chain goes on", async () => {
  const place = await AuthorPlace.open();
  const places = ["a", "b", "c"].map((id) => place.put(id, id).commit!);
  const { chain } = places[0]!;
  place.replica.refuse(chain, [0, 1, 2].map(refusedAt));
  deepEqual(place.editor.table.ids(), []);
  equal(place.editor.table.count, 0);
  equal(place.digest(), (await AuthorPlace.open({ seed: 5 })).digest());
  await place.agrees("nothing left");
  ok(places.every((one) => place.placeOf(one).isRefused));
  const again = await place.reopened();
  const next = again.put("d", "d").commit!;
  deepEqual([next.chain, next.number], [chain, 3]);
  await again.agrees("after all were refused");
});

Deno.test("a refused commit in the middle of a batch travels as a stub under the batch's seal", async () => {
  for (const mode of modes) {
    const place = await AuthorPlace.open({ mode });
    // One turn, one batch.
    const places = [..."abcdefgh"].map((id) => place.put(id, id).commit!);
    await place.replica.durable();
    const { chain } = places[0]!;
    place.replica.refuse(chain, [refusedAt(5)]);
    deepEqual(place.editor.table.ids().sort(), [..."abcdegh"]);
    deepEqual(places.map(({ number }) => number), [0, 1, 2, 3, 4, 5, 6, 7]);
    await place.agrees(`${mode}, in the middle`);
    const peer = await place.peer();
    equal(peer.replica.graph.lengthOf(chain), 8);
    const { commit } = peer.replica.commits.read(chain, 5)!;
    ok(commit.isVoid && commit.end - commit.payloadAt === stubLength);
  }
});

Deno.test("refusals follow each other", async () => {
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
    place.replica.refuse(chain, [refusedAt(number)]);
    ok(place.placeOf(places[round + 1]!).isRefused);
    await place.agrees(`round ${round}`);
  }
  deepEqual(place.editor.table.ids().sort(), ["a", "f"]);
  deepEqual(place.get("f")?.tags, []);
  equal(place.replica.refusals().length, 4);
  ok(!place.placeOf(places[5]!).isRefused);
  await place.agrees("after four");
  // A checkpoint knows all of it.
  await place.replica.close();
  const again = await place.reopened();
  equal(again.replica.loaded.skipped.length, 0);
  ok(again.replica.loaded.checkpoint !== undefined);
  equal(again.replica.refusals().length, 4);
  await again.agrees("over a checkpoint");
});

Deno.test("what was written in the same turn goes on in its chain", async () => {
  const place = await AuthorPlace.open();
  const one = place.put("a", "a").commit!;
  await place.replica.durable();
  const two = place.put("b", "b").commit!; // Waits in the queue.
  place.replica.refuse(one.chain, [refusedAt(0)]);
  const three = place.put("c", "c");
  equal(two.chain, three.commit!.chain);
  deepEqual([two.number, three.commit!.number], [1, 2]);
  await three.durability.promise;
  await place.agrees("one turn");
});

Deno.test("a copy of a void commit that comes back is a commit like any other", async () => {
  for (const mode of modes) {
    const place = await AuthorPlace.open({ mode });
    const places = [..."abc"].map((id) => place.put(id, id).commit!);
    const { chain } = places[0]!;
    // The server had them after all, and its answer was lost.
    const server = await place.peer();
    place.replica.refuse(chain, [refusedAt(2)]);
    equal(place.get("c"), undefined);
    place.replica.cut([{ chain, from: 2 }], "fork"); // As the server says when it hears of that.
    await server.tell(place);
    equal(place.replica.graph.lengthOf(chain), 3);
    equal(place.get("c")?.title, "c");
    await place.agrees(`${mode}, a copy came back`);
    await place.tell(server);
    deepEqual(await server.knowledge(), await place.knowledge());
    await place.replica.close();
    const again = await place.reopened();
    const next = again.put("d", "d").commit!;
    ok(
      next.chain !== chain,
      "the chain is cut here, also when it is the latest",
    );
    await again.agrees(`${mode}, and on`);
  }
});

Deno.test("what somebody else's commit descends from stays", async () => {
  const place = await AuthorPlace.open();
  const places = [..."abcd"].map((id) => {
    const { commit } = place.put(id, id);
    place.replica.flush();
    return commit!;
  });
  await place.replica.durable();
  const early = await AuthorPlace.open({ seed: 3 });
  const [certificate] = place.replica.port().credentials();
  const arrivals: Arrival[] = [];
  place.replica.loaded.log.records(
    0,
    place.replica.loaded.log.end,
    (kind, body) => {
      if (kind === 3) {
        arrivals.push({ kind: recordKind.signedBatch, bytes: body.slice() });
      }
    },
  );
  early.replica.port().receive([certificate!, ...arrivals.slice(0, 2)]);
  early.put("answer", "to b");
  await early.tell(place);
  // The refusal is of "c"; that "a" and "b" were taken has not been heard.
  place.replica.refuse(places[0]!.chain, [refusedAt(2)]);
  equal(place.replica.graph.lengthOf(places[0]!.chain), 4);
  deepEqual(place.editor.table.ids().sort(), ["a", "answer", "b", "d"]);
  const { chain } = places[0]!;
  deepEqual(
    places.map((one) => place.placeOf(one)),
    [0, 1, 2, 3].map((number) => ({ chain, number, isRefused: number === 2 })),
  );
  await place.agrees("in other hands");
});

Deno.test("a later chain of ours that descends from the refused commit goes with it", async () => {
  const place = await AuthorPlace.open();
  const first = place.put("a", "a").commit!;
  await place.replica.durable();
  const refused = place.put("b", "b").commit!;
  await place.replica.durable();
  // The same device under another session key.
  const next = await place.reopened({ key: 1 });
  const later = next.put("c", "c").commit!;
  const last = next.put("d", "d").commit!;
  ok(later.chain !== first.chain);
  next.replica.refuse(first.chain, [refusedAt(refused.number)]);
  deepEqual(next.editor.table.ids().sort(), ["a", "c", "d"]);
  equal(later.chain, last.chain);
  deepEqual([later.number, last.number], [0, 1]);
  equal(next.replica.graph.size, 2);
  await next.agrees("two chains of ours");
});

Deno.test("a refusal can be retried as a new commit, or discarded, and stays until then", async () => {
  let place = await AuthorPlace.open();
  place.put("x", "x");
  const made = place.write((tx, leaves) =>
    void leaves.create(tx, { id: "a", tags: ["t"], steps: ["one", "two"] })
  ).commit!;
  const changed = place.write((tx, leaves) => {
    leaves.update(tx, "a", { tags: { remove: ["t"] }, steps: { delete: [0] } });
  }).commit!;
  const third = place.put("y", "y").commit!;
  let heard = 0;
  place.replica.onRefusals(() => heard++);
  const { chain } = made;
  place.replica.refuse(chain, [refusedAt(1), refusedAt(2), {
    ...refusedAt(3),
    kept: true,
  }]);
  equal(heard, 1);
  const refusals = place.replica.refusals();
  ok(
    place.replica.refusals() === refusals,
    "the same array while nothing changes",
  );
  deepEqual(refusals.map(({ number, kept, rule }) => [number, kept, rule]), [
    [1, false, "tree leaf.update"],
    [2, false, "tree leaf.update"],
    [3, true, "tree leaf.update"],
  ]);
  deepEqual(refusals[0]!.patch.operations.map(({ what, id }) => [what, id]), [[
    "create",
    "a",
  ]]);
  await place.agrees("three refusals");
  place = await place.reopened();
  const [create, update, other] = place.replica.refusals();
  const retried = place.replica.retry(create!);
  deepEqual(place.get("a")?.tags, ["t"]);
  place.replica.retry(update!);
  deepEqual([place.get("a")?.tags, place.get("a")?.steps], [[], ["two"]]);
  deepEqual(place.replica.refusals(), [other]);
  await retried.durability.promise;
  deepEqual([retried.commit!.chain, retried.commit!.number], [chain, 4]);
  await place.replica.discard(other!);
  deepEqual(place.replica.refusals(), []);
  await rejects(place.replica.discard(other!), { code: "commit-missing" });
  throws(() => place.replica.retry(create!), { code: "commit-missing" });
  await place.agrees("dealt with");
  ok([made, changed, third].every((one) => place.placeOf(one).isRefused));
  // Retried and refused once more.
  const { chain: now, number } = retried.commit!;
  place.replica.refuse(now, [refusedAt(number)]);
  equal(place.replica.refusals().length, 1);
  await place.agrees("refused again");
});

Deno.test("a checkpoint forgets items that only void commits made, and one that holds them is not used", async () => {
  let place = await AuthorPlace.open();
  for (let i = 0; i < 300; i++) place.put(`kept-${i}`, `${i}`);
  await place.replica.checkpoint();
  const from = place.put("ghost", "boo").commit!;
  place.put("kept-7", "seven");
  await place.replica.checkpoint();
  place.replica.refuse(from.chain, [refusedAt(from.number)]);
  await place.agrees("over a checkpoint that holds it");
  const torn = await place.reopened();
  equal(torn.replica.loaded.checkpoint, undefined);
  ok(torn.replica.loaded.skipped[0]!.reason.includes("void"));
  await place.replica.close();
  place = await place.reopened();
  ok(place.replica.loaded.checkpoint !== undefined);
  equal(place.editor.table.cellOf("ghost"), undefined);
  equal(place.editor.table.count, 300);
  ok(!place.editor.table.ids().includes("ghost"));
  await place.agrees("over the next checkpoint");
  place.put("ghost", "back");
  await place.replica.checkpoint();
  equal((await place.reopened()).get("ghost")?.title, "back");
  await place.agrees("made again");
});

/** A repository with refusals, and where its records start. */
async function refusedTwice(mode: Mode) {
  const place = await AuthorPlace.open({ mode });
  const other = await AuthorPlace.open({ mode, seed: 8 });
  const places = [..."abcd"].map((id) => {
    const { commit } = place.put(id, id);
    place.replica.flush();
    return commit!;
  });
  other.put("other", "other");
  await other.tell(place);
  await place.replica.durable();
  const foreign = place.replica.loaded.log.end - 20;
  place.replica.refuse(places[0]!.chain, [refusedAt(2), refusedAt(3)]);
  await place.replica.durable();
  await place.replica.discard(place.replica.refusals()[1]!);
  place.put("e", "e");
  await place.replica.durable();
  const starts: number[] = [];
  const { log } = place.replica.loaded;
  log.records(0, log.end, (_kind, _body, address) => void starts.push(address));
  return { files: filesOf(place.storage), starts, foreign };
}

function spoiled(files: Files, at: number): Files {
  return files.map(([name, bytes]) => {
    if (!name.includes("/log-")) return [name, bytes] as const;
    const damaged = bytes.slice();
    damaged[at]! ^= 0x55;
    return [name, damaged] as const;
  });
}

Deno.test("a repair keeps refusals that stood behind the damage", async () => {
  for (const mode of modes) {
    const { files, foreign } = await refusedTwice(mode);
    const image = spoiled(files, foreign);
    await rejects(AuthorPlace.open({ mode, files: image }), {
      code: "log-damaged",
    });
    const mended = await AuthorPlace.open({ mode, files: image, repair: true });
    const there = [..."abcd"].filter((id) => mended.get(id) !== undefined);
    deepEqual(there, ["a", "b"], mode);
    const [refusal, ...more] = mended.replica.refusals();
    deepEqual([refusal?.number, more.length], [2, 0], mode);
    equal(refusal!.patch.operations[0]!.id, "c");
    await mended.agrees(`${mode}, mended`);
    mended.replica.retry(refusal!);
    equal(mended.get("c")?.title, "c");
    await mended.agrees(`${mode}, mended and retried`);
  }
});

Deno.test("whichever record is damaged, a repair leaves what all replicas agree on", async () => {
  for (const mode of modes) {
    const { files, starts } = await refusedTwice(mode);
    for (const [i, start] of starts.entries()) {
      if (!isTried(i, 3)) continue;
      const options = { mode, files: spoiled(files, start + 30), repair: true };
      const mended = await AuthorPlace.open(options);
      const what = `${mode}, record ${i}`;
      for (const { patch } of mended.replica.refusals()) {
        ok(patch.operations.length > 0);
      }
      await mended.agrees(what);
      mended.put("on", what);
      await mended.agrees(`${what}, and on`);
    }
  }
});

Deno.test("after a refusal a checkpoint is due, also where the log grew by little", async () => {
  const large = "z".repeat(2_000_000);
  for (const isRunning of [false, true]) {
    const place = await AuthorPlace.open();
    place.put("large", large);
    place.replica.flush(); // A batch of its own, which is not written again.
    const { chain, number } = place.put("ghost", "boo").commit!;
    const running = place.replica.checkpoint();
    if (!isRunning) await running;
    place.replica.refuse(chain, [refusedAt(number)]);
    await running;
    await place.replica.close();
    const again = await place.reopened();
    deepEqual(again.replica.loaded.skipped, []);
    ok(again.replica.loaded.checkpoint !== undefined);
    equal(again.get("ghost"), undefined);
    equal(again.get("large")?.title, large);
    await again.agrees(`running: ${isRunning}`);
  }
});

Deno.test("listeners hear of items that changed, and of no others", async () => {
  const place = await AuthorPlace.open();
  place.write((tx, leaves) =>
    void leaves.create(tx, { id: "a", rank: 1, tags: ["t"], notes: { k: "v" } })
  );
  place.put("b", "before");
  const { chain } = place.put("b", "refused").commit!;
  place.put("c", "moved");
  const [a, c] = [place.get("a"), place.get("c")];
  const heard: [unknown, unknown][] = [];
  place.editor.table.subscribe((changes) => {
    for (const { before, after } of changes) {
      heard.push([before?.title, after?.title]);
    }
  });
  place.replica.refuse(chain, [refusedAt(2)]);
  deepEqual(heard, [["refused", "before"]]);
  ok(place.get("a") === a && place.get("c") === c, "the same objects");
  await place.agrees("few changes");
});

Deno.test("Fast mode shares nothing behind a refusal that a power cut could take back", async () => {
  const waiting: (() => void)[] = [];
  let isSlow = false;
  const storage = faultyStorage({
    slow: (done) => void (isSlow ? waiting.push(done) : done()),
  });
  const place = await AuthorPlace.open({ mode: "fast", storage });
  const port = place.replica.port();
  const { chain } = place.put("a", "a").commit!;
  place.put("b", "b");
  await place.replica.durable();
  const isShared = () => port.shareable >= place.replica.loaded.log.end;
  await until(isShared, "all is shareable");
  isSlow = true;
  const at = port.refuse(chain, [refusedAt(1)])!;
  place.put("c", "c");
  place.replica.flush();
  for (let turn = 0; turn < 20; turn++) await Promise.resolve();
  ok(port.shareable < at, "not before the sync");
  isSlow = false;
  for (const done of waiting.splice(0)) done();
  await place.replica.durable();
  await until(() => {
    for (const done of waiting.splice(0)) done();
    return isShared();
  }, "all is shareable after the sync");
  equal(port.lengthOf(chain), 3);
});

Deno.test("chains that are not touched go on right after a refusal", async () => {
  for (const mode of modes) {
    const place = await AuthorPlace.open({ mode });
    const other = await AuthorPlace.open({ mode, seed: 6 });
    other.put("o", "one");
    await other.tell(place);
    const { chain } = place.put("a", "a").commit!;
    place.replica.refuse(chain, [refusedAt(0)]);
    other.put("o", "two");
    await other.tell(place);
    equal(place.get("o")?.title, "two", mode);
    if (mode === "default") {
      ok(place.replica.graph.summary() !== undefined, "hashed to its end");
    }
    await place.agrees(mode);
  }
});

Deno.test("the latest incarnation goes on, though all of it was refused, and no older one", async () => {
  const place = await AuthorPlace.open({ mode: "fast" });
  const old = place.put("a", "a").commit!;
  await place.replica.durable();
  // The process dies: others may have seen more of this chain than is left here.
  const next = await place.reopened();
  const { chain } = next.put("b", "b").commit!;
  next.replica.refuse(chain, [refusedAt(0)]);
  deepEqual(next.replica.refusals().map(({ number }) => number), [0]);
  await next.replica.close();
  const last = await next.reopened();
  const now = last.put("c", "c").commit!;
  ok(now.chain !== old.chain);
  deepEqual([now.chain, now.number], [chain, 1]);
  deepEqual([last.get("a")?.title, last.get("b")], ["a", undefined]);
});

Deno.test("of a batch that another key of the device sealed nobody can give up commits: all of it is cut", async () => {
  const place = await AuthorPlace.open();
  place.put("a", "a");
  await place.replica.durable();
  for (const id of ["b", "c", "d", "e"]) place.put(id, id);
  await place.replica.durable();
  const [chain] = place.replica.graph.vector().keys();
  const next = await place.reopened({ key: 1 });
  next.put("f", "f");
  next.replica.refuse(chain!, [refusedAt(3)]);
  equal(next.replica.graph.lengthOf(chain!), 1);
  deepEqual(next.editor.table.ids().sort(), ["a", "b", "c", "e", "f"]);
  await next.agrees("in batches of an old key");
});
