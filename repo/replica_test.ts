import { deepEqual, equal, ok, rejects, throws } from "node:assert/strict";
import { DatabaseError } from "../src/base/errors.ts";
import { limits } from "../src/base/limits.ts";
import type { ItemChange } from "../src/schema/source.ts";
import { memoryStorage } from "../src/storage/memory_storage.ts";
import {
  ManualWorld,
  Note,
  Place,
  SlowStorage,
  turns,
} from "../tests/kit/replica_place.ts";
import type { Transaction } from "./write/transaction.ts";
import { digestOf } from "../tests/kit/digest.ts";
import { recordKind } from "./log/format.ts";

/** Ends a process: what it never closed stays as it is. */
function crash(place: Place): Place {
  return place;
}

function verdicts(
  place: Place,
  from: Parameters<Place["replica"]["receive"]>[0],
) {
  return place.replica.receive(from).map(({ verdict }) => verdict.verdict);
}

Deno.test("transact() shows a write at once and acknowledges it when it is durable", async () => {
  const slow = new SlowStorage();
  const place = await Place.open({ storage: slow });
  slow.isSlow = true;
  let isDurable = false;
  const write = place.write("a", "one").then(() => isDurable = true);
  equal(place.text("a"), "one");
  await turns();
  equal(isDurable, false);
  ok(place.replica.status().unsyncedBytes > 0);
  slow.isSlow = false;
  slow.finish();
  await write;
  equal(place.replica.status().unsyncedBytes, 0);
  await place.replica.close();
});

Deno.test("a hundred writes of one tick are one batch, one seal, one sync", async () => {
  const slow = new SlowStorage();
  const place = await Place.open({ storage: slow });
  const before = slow.syncs;
  await Promise.all(
    Array.from({ length: 100 }, (_, i) => place.write(`n${i}`, "x")),
  );
  equal(slow.syncs - before, 1);
  const arrivals = await place.arrivals();
  equal(
    arrivals.filter(({ kind }) => kind === recordKind.signedBatch).length,
    1,
  );
  await place.replica.close();
});

Deno.test("after any failure of the log nothing becomes visible any more, and reopening goes on", async () => {
  const slow = new SlowStorage();
  const place = await Place.open({ storage: slow });
  await place.write("a", "one");
  slow.isSlow = true;
  place.write("a", "two").catch(() => {});
  await turns();
  slow.finish(new DatabaseError("storage-failed", "The disk is gone"));
  await turns();
  throws(() => place.write("b", "never"), { code: "storage-failed" });
  equal(place.text("b"), undefined);
  equal(place.replica.status().failure?.code, "storage-failed");
  throws(() => place.replica.receive([]), { code: "storage-failed" });
  await rejects(place.replica.checkpoint(), { code: "storage-failed" });
  slow.isSlow = false;
  await rejects(place.replica.close(), { code: "storage-failed" });
  const again = await place.reopen();
  await again.write("b", "now");
  await again.replica.close();
});

Deno.test("a log that failed under a foreign batch takes no local write either", async () => {
  const author = await Place.open({ seed: 2 });
  await author.write("a", "theirs");
  const storage = memoryStorage();
  const place = await Place.open({ storage });
  const { log } = place.replica.loaded;
  const append = log.append.bind(log);
  throws(() => append(1, [new Uint8Array(limits.batchBytesMax + 1)]));
  const file = Object.getPrototypeOf(
    storage.open("database", { create: true }),
  );
  const { writeAt } = file;
  file.writeAt = () => {
    throw new DatabaseError("storage-full", "There is no room");
  };
  try {
    const arrivals = await author.arrivals();
    throws(() => place.replica.receive(arrivals), { code: "storage-full" });
  } finally {
    file.writeAt = writeAt;
  }
  throws(() => place.write("b", "never"), { code: "storage-readonly" });
  equal(place.text("b"), undefined);
  await place.replica.close().catch(() => {});
  await author.replica.close();
});

Deno.test("a transaction whose callback closes the repository did not happen", async () => {
  for (const mode of ["default", "fast"] as const) {
    const place = await Place.open({ mode });
    await place.write("a", "one");
    let closing: Promise<void> | undefined;
    throws(() =>
      place.replica.transact((tx) => {
        const table = place.replica.state.table(Note.name);
        const cell = tx.cellOf(table, "a")!;
        const { shape, generation } = cell;
        tx.put(table, { what: "delete", shape, id: "a", generation }, cell);
        closing = place.replica.close();
      }), { code: "closed" });
    await closing;
    const again = await place.reopen();
    equal(again.text("a"), "one");
    await again.replica.close();
  }
});

Deno.test("close() twice is close() once, and everything says closed afterwards", async () => {
  const place = await Place.open();
  place.write("a", "one");
  equal(place.replica.close(), place.replica.close());
  await place.replica.close();
  throws(() => place.write("b", "two"), { code: "closed" });
  throws(() => place.replica.check(), { code: "closed" });
  await rejects(place.replica.durable(), { code: "closed" });
  await rejects(place.replica.checkpoint(), { code: "closed" });
});

Deno.test("close() during a slow sync waits for it and keeps what it covers", async () => {
  const slow = new SlowStorage();
  const place = await Place.open({ storage: slow });
  slow.isSlow = true;
  const write = place.write("a", "one");
  await turns();
  const late = place.write("b", "two");
  let isClosed = false;
  const closing = place.replica.close().then(() => isClosed = true);
  await turns();
  equal(isClosed, false);
  slow.isSlow = false;
  slow.finish();
  await Promise.all([write, late, closing]);
  const again = await place.reopen();
  deepEqual([again.text("a"), again.text("b")], ["one", "two"]);
  equal(again.replica.status().recovery.clean, true);
  await again.replica.close();
});

Deno.test("durable() is not held up by writes that come later", async () => {
  const slow = new SlowStorage();
  const place = await Place.open({ storage: slow });
  slow.isSlow = true;
  place.write("a", "one");
  let isDurable = false;
  const durable = place.replica.durable().then(() => isDurable = true);
  for (let i = 0; i < 20 && !isDurable; i++) {
    void place.write(`b${i}`, "more");
    slow.finish();
    await turns(10);
  }
  equal(isDurable, true);
  await durable;
  slow.isSlow = false;
  slow.finish();
  await place.replica.close();
});

Deno.test("durable() syncs in Fast mode too, and close() leaves no timer", async () => {
  const slow = new SlowStorage();
  const world = new ManualWorld();
  const place = await Place.open({ mode: "fast", storage: slow, world });
  const before = slow.syncs;
  await place.write("a", "one");
  equal(slow.syncs, before);
  await place.replica.durable();
  equal(slow.syncs, before + 1);
  void place.write("b", "two");
  await place.replica.close();
  equal(world.timers, 0);
});

Deno.test("Default mode goes on with its chain, after a close and after a crash", async () => {
  const place = await Place.open();
  await place.write("a", "one");
  const second = await crash(place).reopen();
  equal(second.replica.status().recovery.clean, false);
  await second.write("a", "two");
  await second.replica.close();
  const third = await second.reopen();
  await third.write("a", "three");
  equal(third.replica.graph.size, 1);
  await third.replica.close();
});

Deno.test("Fast mode goes on with its chain after a close only, whatever comes between", async () => {
  const place = await Place.open({ mode: "fast" });
  await place.write("a", "one");
  await place.replica.close();
  const second = await place.reopen();
  await second.write("a", "two");
  equal(second.replica.graph.size, 1);
  await second.replica.durable();
  const third = await crash(second).reopen(); // Opened, not written to, and closed well.
  await third.replica.close();
  const fourth = await third.reopen();
  await fourth.write("a", "three");
  equal(fourth.replica.graph.size, 2);
  equal(
    fourth.replica.graph.lengthOf([...place.replica.graph.chains()][0]!.name),
    2,
  );
  await fourth.replica.close();
});

Deno.test("a copy goes on with a chain of its own", async () => {
  const place = await Place.open();
  await place.write("a", "one");
  const copy = await place.reopen({ isOriginal: false });
  equal(copy.replica.graph.size, 1, "a beginning is no commit");
  const { chain } = copy.replica.device;
  await copy.replica.close();
  const again = await copy.reopen({ isOriginal: true });
  equal(again.replica.device.chain, chain, "and is remembered all the same");
  await again.vote("a");
  equal(again.replica.graph.size, 2);
  equal(again.replica.graph.lengthOf(chain), 1);
  await again.replica.checkpoint();
  await again.replica.close();
});

Deno.test("opening and closing an empty or an untouched repository leaves no commit", async () => {
  for (const mode of ["default", "trusted", "fast"] as const) {
    const place = await Place.open({ mode });
    const { end } = place.replica.loaded.log;
    const again = await crash(place).reopen({ isOriginal: false });
    equal(again.replica.graph.commits, 0);
    equal(again.replica.loaded.log.end, end);
    await again.replica.close();
  }
});

Deno.test("receive() tells once what many commits did, one change per item", async () => {
  const author = await Place.open({ seed: 2 });
  const place = await Place.open();
  await place.write("a", "own");
  const before = place.replica.state.table(Note.name).cellOf("a")?.item;
  for (const text of ["one", "two", "three"]) await author.write("b", text);
  await author.write("a", "four");
  const told: (readonly ItemChange[])[] = [];
  const table = place.replica.state.table(Note.name);
  table.subscribe((changes) => told.push(changes));
  verdicts(place, await author.arrivals());
  deepEqual(
    told.map((changes) =>
      changes.map(({ before, after }) => [before, after?.id])
    ),
    [[[undefined, "b"], [before, "a"]]],
  );
  deepEqual(told[0]![0]!.after, table.cellOf("b")?.item);
  await Promise.all([place.replica.close(), author.replica.close()]);
});

Deno.test("receive() runs callbacks when everything is part of the state", async () => {
  const author = await Place.open({ seed: 2 });
  void author.write("a", "one");
  void author.write("a", "two");
  void author.write("b", "three");
  const place = await Place.open();
  const seen: unknown[] = [];
  const waiting: (() => void)[] = [];
  place.replica.state.table(Note.name).subscribe(() =>
    waiting.push(() => {
      seen.push([place.text("a"), place.text("b")]);
      if (seen.length === 1) void place.vote("a"); // A callback may write.
    })
  );
  place.replica.publishing = (tell) => {
    tell();
    for (const task of waiting.splice(0, 1)) task();
  };
  deepEqual(verdicts(place, await author.arrivals()), [
    "admit-credential",
    "admit",
  ]);
  deepEqual(seen[0], ["two", "three"]);
  await place.replica.close();
  const again = await place.reopen();
  equal(again.votes("a"), place.votes("a"));
  await Promise.all([again.replica.close(), author.replica.close()]);
});

Deno.test("receive() takes collections beyond the limit of local writers, and so does reopening", async () => {
  const author = await Place.open({ seed: 2 });
  for (let i = 0; i < 3; i++) {
    author.replica.transact((tx) => {
      for (let j = 0; j < limits.collectionsMax / 2; j++) {
        writeForeign(tx, author, `c${i}-${j}`);
      }
    });
  }
  const place = await Place.open();
  await place.write("a", "one");
  const judged = verdicts(place, await author.arrivals());
  ok(judged.every((verdict) => verdict.startsWith("admit")));
  throws(() => place.replica.state.table("one-more"), {
    code: "value-too-large",
  });
  await place.replica.durable();
  const again = await crash(place).reopen();
  deepEqual(digestOf(again.replica.state), digestOf(place.replica.state));
  await again.replica.close();
});

/** As a faulty program would, past the limit of `table()`. */
function writeForeign(
  tx: Transaction,
  author: Place,
  collection: string,
): void {
  const table = author.replica.state.table(Note.name);
  const shape = { collection, version: 1, fields: [] };
  tx.cellOf(table, collection);
  const id = collection;
  tx.put(table, { what: "delete", shape, id, generation: 0 }, undefined);
}

Deno.test("without its checkpoint a repository opens to the same state", async () => {
  const place = await Place.open();
  for (let i = 0; i < 50; i++) void place.write(`n${i % 7}`, `text ${i}`);
  await place.replica.close();
  const over = await place.reopen();
  const digest = digestOf(over.replica.state);
  await over.replica.close();
  for (const name of place.storage.list(place.folder)) {
    if (name.startsWith("checkpoint")) {
      place.storage.remove(`${place.folder}/${name}`);
    }
  }
  const anew = await place.reopen();
  equal(anew.replica.loaded.checkpoint, undefined);
  deepEqual(digestOf(anew.replica.state), digest);
  await anew.replica.close();
});

Deno.test("status() tells counts and sizes as they are", async () => {
  const place = await Place.open();
  await place.write("a", "one");
  const other = await Place.open({ seed: 2 });
  await other.write("b", "two");
  place.replica.receive(await other.arrivals());
  await place.replica.durable();
  await place.replica.checkpoint();
  const status = place.replica.status();
  equal(status.commits, 2);
  equal(status.chains, 2);
  equal(status.heads, 2);
  equal(status.logBytes, place.replica.loaded.log.end);
  equal(status.checkpointBytes, place.file("checkpoint-00000001").size());
  equal(status.unsyncedBytes, 0);
  equal(status.parked, 0);
  equal(status.failure, undefined);
  equal(status.recovery.clean, true);
  await place.write("c", "three");
  equal(place.replica.status().heads, 1, "a local commit names every head");
  await Promise.all([place.replica.close(), other.replica.close()]);
});
