import { deepEqual, equal, ok } from "node:assert/strict";
import { seededRandom } from "../../tests/kit/random.ts";
import { Place } from "../../tests/kit/replica_place.ts";
import { memoryStorage } from "../../src/storage/memory_storage.ts";
import type { Arrival } from "../admission/arrival.ts";
import { SALVAGE } from "../log/format.ts";
import { digestOf } from "../../tests/kit/digest.ts";
import { limits } from "../../src/base/limits.ts";

const modes = ["default", "trusted", "fast"] as const;

/** Writes items `from` to `to`, some at a time, so that each few are one record. */
async function fill(place: Place, from: number, to: number): Promise<void> {
  for (let i = from; i < to; i += 20) {
    const done: Promise<void>[] = [];
    for (let n = i; n < Math.min(to, i + 20); n++) {
      done.push(place.write(`n${n}`, `text ${n}`));
    }
    await Promise.all(done);
    await place.replica.durable(); // In Fast mode, too.
  }
}

function missingOf(place: Place, count: number): number[] {
  return Array.from({ length: count }, (_, n) => n)
    .filter((n) => place.text(`n${n}`) !== `text ${n}`);
}

function removeCheckpoints(place: Place): void {
  for (const name of place.storage.list(place.folder)) {
    if (name.startsWith("checkpoint")) {
      place.storage.remove(`${place.folder}/${name}`);
    }
  }
}

/** A replica of the same repository that took everything, as a server has it. */
async function serverOf(place: Place): Promise<Arrival[]> {
  const server = await Place.open({
    mode: place.replica.mode,
    seed: 9,
    storage: memoryStorage(),
  });
  server.replica.receive(await place.arrivals());
  const all = await server.arrivals();
  await server.replica.close();
  return all;
}

Deno.test("repair of a log of 2,000 items with a hole at 5 % keeps all but the hole", async () => {
  for (const mode of modes) {
    for (const hasCheckpoint of [true, false]) {
      const place = await Place.open({ mode });
      await fill(place, 0, 2_000);
      await place.replica.close();
      const size = place.replica.loaded.log.end;
      if (!hasCheckpoint) removeCheckpoints(place);
      place.spoil("log-00000000", Math.floor(size * 0.05));
      const mended = await place.reopen({ repair: true });
      const missing = missingOf(mended, 2_000);
      const { lost, clean } = mended.replica.status().recovery;
      equal(clean, false);
      ok(lost!.commits > 0 && lost!.commits <= 20, String(lost!.commits));
      // The checkpoint of a small log has every item.
      equal(missing.length, hasCheckpoint ? 0 : lost!.commits);
      equal(lost!.uncertain + lost!.commits + graphOf(mended, place), 2_000);
      deepEqual(lost!.items, []);
      await mended.write("after", "more");
      const digest = digestOf(mended.replica.state);
      await mended.replica.close();
      for (let again = 0; again < 2; again++) {
        const next = await mended.reopen();
        deepEqual(digestOf(next.replica.state), digest);
        deepEqual(next.replica.status().recovery.lost, lost);
        equal(next.text("after"), "more");
        await next.replica.close();
      }
      removeCheckpoints(mended);
      const bare = await mended.reopen();
      deepEqual(digestOf(bare.replica.state), digest);
      await bare.replica.close();
    }
  }
});

/** Commits of the chain that the hole is in, as far as they connect. */
function graphOf(mended: Place, place: Place): number {
  const [chain] = [...place.replica.graph.chains()];
  return mended.replica.graph.lengthOf(chain!.name);
}

Deno.test("what a repair could not connect is told to nobody", async () => {
  const place = await Place.open();
  await fill(place, 0, 200);
  await place.replica.close();
  place.spoil("log-00000000", place.replica.loaded.log.end >> 1);
  const mended = await place.reopen({ repair: true });
  await mended.write("n199", "changed");
  const other = await Place.open({ seed: 3 });
  const judged = other.replica.receive(await mended.arrivals());
  ok(judged.every(({ verdict }) => verdict.verdict !== "park"));
  equal(other.replica.graph.commits, mended.replica.graph.commits);
  equal(other.text("n199"), "changed", "what is written now goes out");
  equal(other.text("n150"), undefined);
  await mended.replica.close();
  await other.replica.close();
});

Deno.test("what comes back fills the hole, and nothing counts twice", async () => {
  for (const mode of modes) {
    for (const cut of [0.1, 0.3, 0.6, 0.97]) {
      const place = await Place.open({ mode });
      await fill(place, 0, 100);
      for (let i = 0; i < 60; i++) await place.vote(`n${i % 10}`);
      const all = await serverOf(place);
      const own = place.replica.graph.commits;
      // What the server does not have yet.
      for (let i = 0; i < 10; i++) await place.vote(`n${i}`);
      const digest = digestOf(place.replica.state);
      await place.replica.close();
      place.spoil(
        "log-00000000",
        Math.floor(place.replica.loaded.log.end * cut),
      );
      const mended = await place.reopen({ repair: true });
      const before = mended.replica.status().recovery.lost;
      ok(before !== undefined);
      await mended.vote("n1");
      mended.replica.receive(all);
      equal(mended.votes("n1"), 8);
      equal(mended.votes("n2"), 7);
      deepEqual(missingOf(mended, 100), []);
      const { lost } = mended.replica.status().recovery;
      if (cut < 0.9) equal(lost, undefined, `${mode} ${cut}`);
      if (lost === undefined) {
        ok(mended.replica.graph.commits >= own + 10, "all of it connects");
      }
      const now = digestOf(mended.replica.state);
      await mended.replica.durable();
      await mended.replica.close();
      const next = await mended.reopen();
      deepEqual(digestOf(next.replica.state), now);
      await next.replica.close();
      const files = next.storage.list(next.folder);
      equal(files.includes(SALVAGE), lost !== undefined);
      removeCheckpoints(next);
      const bare = await next.reopen();
      deepEqual(digestOf(bare.replica.state), now, `${mode} ${cut}`);
      await bare.replica.close();
      ok(digest.length === 32);
    }
  }
});

Deno.test("repair takes from the checkpoint what only it still knows", async () => {
  for (const mode of modes) {
    const place = await Place.open({ mode });
    await fill(place, 0, 40);
    const from = place.replica.loaded.log.end;
    for (let i = 0; i < 40; i++) await place.vote(`n${i}`);
    const to = place.replica.loaded.log.end;
    await place.replica.checkpoint();
    await place.vote("n3");
    await place.replica.close();
    const random = seededRandom(3);
    for (let i = 0; i < 60; i++) {
      place.spoil("log-00000000", from + Math.floor(random() * (to - from)));
    }
    const mended = await place.reopen({ repair: true });
    const votes = Array.from({ length: 40 }, (_, n) => mended.votes(`n${n}`));
    deepEqual(votes, votes.map((_, n) => n === 3 ? 2 : 1), mode);
    await mended.vote("n4");
    await mended.replica.close();
    const next = await mended.reopen();
    equal(next.votes("n4"), 2);
    equal(next.votes("n39"), 1);
    await next.replica.close();
  }
});

Deno.test("repair of an empty log shows every item that the checkpoint of a small log has", async () => {
  for (const mode of modes) {
    const place = await Place.open({ mode });
    await fill(place, 0, 2_000);
    for (let i = 0; i < 40; i++) await place.vote(`n${i}`);
    const all = await serverOf(place);
    const digest = digestOf(place.replica.state);
    await place.replica.close();
    ok(place.replica.loaded.log.end < limits.checkpointWholeBytesMax);
    // The second one was made over what the first one has.
    const again = await place.reopen();
    await again.vote("n7");
    const then = digestOf(again.replica.state);
    await again.replica.close();
    place.file("log-00000000").truncate(0);
    const mended = await place.reopen({ repair: true });
    deepEqual(digestOf(mended.replica.state), then);
    const { lost } = mended.replica.status().recovery;
    deepEqual([lost!.itemCount, lost!.commits], [0, 2_041]);
    mended.replica.receive(all);
    await mended.replica.close();
    const next = await mended.reopen();
    ok(digest.length > 0 && next.votes("n39") === 1);
    await next.replica.close();
  }
});

Deno.test("repair of an empty log shows what its checkpoint has of a large log, and names the rest", async () => {
  const place = await Place.open();
  await fill(place, 0, 20);
  await place.write("large", "x".repeat(limits.checkpointWholeBytesMax));
  for (let i = 0; i < 5; i++) await place.vote(`n${i}`);
  const all = await serverOf(place);
  const digest = digestOf(place.replica.state);
  await place.replica.close();
  place.file("log-00000000").truncate(0);
  const mended = await place.reopen({ repair: true });
  deepEqual([mended.text("n4"), mended.votes("n4")], ["text 4", 1]);
  const { lost } = mended.replica.status().recovery;
  equal(lost!.itemCount, 16);
  equal(lost!.commits, place.replica.graph.commits);
  mended.replica.receive(all);
  deepEqual(digestOf(mended.replica.state), digest);
  equal(mended.replica.status().recovery.lost, undefined);
  await mended.replica.close();
  const next = await mended.reopen();
  deepEqual(digestOf(next.replica.state), digest);
  await next.replica.close();
});

Deno.test("a second repair keeps what the first one salvaged", async () => {
  const place = await Place.open();
  await fill(place, 0, 400);
  await place.replica.close();
  removeCheckpoints(place);
  place.spoil("log-00000000", Math.floor(place.replica.loaded.log.end / 3));
  const mended = await place.reopen({ repair: true });
  const first = missingOf(mended, 400).length;
  ok(first <= 20);
  await fill(mended, 400, 600);
  await mended.replica.close();
  removeCheckpoints(mended);
  const at = mended.replica.loaded.log.end;
  mended.spoil("log-00000000", at - Math.floor(at / 4));
  const again = await mended.reopen({ repair: true });
  const second = missingOf(again, 600).length;
  ok(second <= 40, String(second));
  const { lost } = again.replica.status().recovery;
  equal(lost!.commits, second);
  await again.replica.close();
  const next = await again.reopen();
  equal(missingOf(next, 600).length, second);
  await next.replica.close();
});
