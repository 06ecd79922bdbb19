import { deepEqual, equal, match, ok, rejects } from "node:assert/strict";
import { DatabaseError } from "../../src/base/errors.ts";
import { memoryStorage } from "../../src/storage/memory_storage.ts";
import type { Storage } from "../../src/storage/storage.ts";
import { filesOf, restored } from "../../tests/kit/images.ts";
import {
  lateSession,
  ManualWorld,
  Place,
  sessionOf,
  SlowStorage,
  turns,
} from "../../tests/kit/replica_place.ts";
import { verifyReplica } from "../repair/verify.ts";
import { recordKind } from "../log/format.ts";

function checkpoints(place: Place): string[] {
  return place.storage.list(place.folder).filter((name) =>
    name.startsWith("checkpoint-")
  );
}

/** A storage that cannot create checkpoints while it is told so. */
function narrow(): { storage: Storage; full: { is: boolean } } {
  const storage = memoryStorage();
  const full = { is: false };
  const open = storage.open.bind(storage);
  storage.open = (name, options) => {
    if (full.is && name.endsWith(".new")) {
      throw new DatabaseError("storage-full", "There is no room");
    }
    return open(name, options);
  };
  return { storage, full };
}

Deno.test("checkpoint() holds nothing that the log does not, however writes go on", async () => {
  for (const mode of ["default", "trusted", "fast"] as const) {
    const slow = new SlowStorage();
    const place = await Place.open({ mode, storage: slow });
    await place.write("a", "one");
    slow.isSlow = true;
    const writes: Promise<void>[] = [];
    let isDone = false;
    const done = place.replica.checkpoint().finally(() => isDone = true);
    for (let i = 0; !isDone; i++) {
      writes.push(i % 3 === 0 ? place.write(`b${i}`, "new") : place.vote("a"));
      await Promise.resolve();
      if (i % 7 === 0) slow.finish();
      ok(i < 10_000, "the checkpoint ends under load");
    }
    await done;
    slow.isSlow = false;
    slow.finish();
    await Promise.all(writes);
    await place.replica.durable();
    const votes = place.votes("a");
    const again = await Place.open({ mode, storage: copyOf(place.storage) });
    equal(again.replica.loaded.checkpoint?.number, 1, mode);
    equal(again.votes("a"), votes, mode);
    await Promise.all([place.replica.close(), again.replica.close()]);
  }
});

/** What another process would find, were this one gone. */
function copyOf(storage: Storage): Storage {
  const files: [string, Uint8Array][] = [];
  for (const folder of storage.folders("repositories")) {
    for (const name of storage.list(`repositories/${folder}`)) {
      const path = `repositories/${folder}/${name}`;
      const file = storage.open(path)!;
      const bytes = new Uint8Array(file.size());
      file.readAt(bytes, 0);
      files.push([path, bytes]);
    }
  }
  return memoryStorage(files);
}

Deno.test("checkpoint() called twice at once writes one after the other", async () => {
  const slow = new SlowStorage();
  const place = await Place.open({ storage: slow });
  slow.isSlow = true;
  const writes = [place.write("a", "one")];
  const both = [place.replica.checkpoint(), place.replica.checkpoint()];
  await turns();
  // Behind the picture of the first.
  writes.push(place.write("b", "two"));
  slow.isSlow = false;
  slow.finish();
  await Promise.all([...writes, ...both]);
  equal(place.replica.status().checkpointFailure, undefined);
  deepEqual(checkpoints(place), ["checkpoint-00000002"]);
  await place.replica.close();
});

Deno.test("a checkpoint is put into place only when the log under it is durable", async () => {
  const slow = new SlowStorage();
  const place = await Place.open({ storage: slow });
  slow.isSlow = true;
  const write = place.write("a", "one");
  const done = place.replica.checkpoint();
  for (let i = 0; slow.waiting < 2 && i < 50; i++) await turns();
  equal(slow.waiting, 2, "the log's sync and the checkpoint's are under way");
  slow.releaseAt(1);
  await turns();
  deepEqual(checkpoints(place), ["checkpoint-1.new"]);
  slow.isSlow = false;
  slow.finish();
  await Promise.all([write, done]);
  deepEqual(checkpoints(place), ["checkpoint-00000001"]);
  await place.replica.close();
});

Deno.test("after a failed sync close() writes no checkpoint, and reopening has what was acknowledged", async () => {
  const slow = new SlowStorage();
  const place = await Place.open({ storage: slow });
  await place.write("a", "one");
  slow.isSlow = true;
  const lost = rejects(place.write("b", "two"), { code: "storage-failed" });
  await turns();
  slow.finish(new DatabaseError("storage-failed", "The disk is gone"));
  await lost;
  slow.isSlow = false;
  await rejects(place.replica.close(), { code: "storage-failed" });
  deepEqual(checkpoints(place), []);
  const again = await place.reopen();
  equal(again.text("a"), "one");
  await again.replica.close();
});

Deno.test("after a failed append close() writes no checkpoint of what was lost", async () => {
  const slow = new SlowStorage();
  const place = await Place.open({ storage: slow });
  await place.write("a", "one");
  slow.failure = new DatabaseError("storage-full", "There is no room");
  await rejects(place.write("a", "lost"), { code: "storage-full" });
  slow.failure = undefined;
  await rejects(place.replica.close(), { code: "storage-full" });
  deepEqual(checkpoints(place), []);
  const again = await place.reopen();
  equal(again.text("a"), "one");
  equal(again.replica.graph.commits, 1);
  await again.replica.close();
});

Deno.test("a checkpoint that cannot be written leaves the repository writable, and the next one heals it", async () => {
  const { storage, full } = narrow();
  const place = await Place.open({ storage });
  await place.write("a", "one");
  full.is = true;
  await rejects(place.replica.checkpoint(), { code: "storage-full" });
  const status = place.replica.status();
  equal(status.failure, undefined);
  equal(status.checkpointFailure?.code, "storage-full");
  await place.write("a", "two");
  full.is = false;
  await place.replica.checkpoint();
  equal(place.replica.status().checkpointFailure, undefined);
  await place.replica.close();
});

Deno.test("a checkpoint is written by itself when the log has grown, and tried again after a failure", async () => {
  const { storage, full } = narrow();
  const world = new ManualWorld();
  const place = await Place.open({ storage, world, mode: "trusted" });
  const text = "x".repeat(3 * 1024 * 1024);
  full.is = true;
  for (let i = 0; i < 6; i++) await place.write(`big-${i}`, text);
  await turns();
  equal(place.replica.status().checkpointFailure?.code, "storage-full");
  full.is = false;
  await place.write("small", "one");
  await turns();
  deepEqual(checkpoints(place), [], "it does not try at every write");
  for (let i = 0; i < 6; i++) await place.write(`more-${i}`, text);
  for (let i = 0; i < 50; i++) await turns();
  equal(checkpoints(place).length, 1);
  equal(place.replica.status().checkpointFailure, undefined);
  await place.replica.close();
});

Deno.test("a replica that only receives writes checkpoints by itself, too", async () => {
  const world = new ManualWorld();
  const author = await Place.open({ world, mode: "trusted" });
  const reader = await Place.open({ world, mode: "trusted", seed: 2 });
  const text = "x".repeat(3 * 1024 * 1024);
  for (let i = 0; i < 6; i++) await author.write(`big-${i}`, text);
  const { records } = author.replica.port().read(0, Infinity);
  for (const { kind, bytes } of records) {
    if (kind === recordKind.unsignedBatch) {
      reader.replica.receive([{ kind, bytes }]);
    }
  }
  for (let i = 0; i < 50; i++) await turns();
  equal(checkpoints(reader).length, 1);
  await Promise.all([author.replica.close(), reader.replica.close()]);
});

Deno.test("close() waits for the checkpoint under way, and refuses one that would come later", async () => {
  const slow = new SlowStorage();
  const place = await Place.open({ storage: slow });
  await place.write("a", "one");
  slow.isSlow = true;
  const first = place.replica.checkpoint();
  const second = rejects(place.replica.checkpoint(), { code: "closed" });
  let isClosed = false;
  const closing = place.replica.close().then(() => isClosed = true);
  await turns(50);
  equal(isClosed, false);
  slow.isSlow = false;
  slow.finish();
  await Promise.all([first, second, closing]);
  const again = await place.reopen();
  equal(again.replica.loaded.checkpoint?.number, 1);
  await again.replica.close();
});

Deno.test("close() leaves a fresh checkpoint, and no files of an old one", async () => {
  const place = await Place.open();
  await place.write("a", "one");
  await place.replica.checkpoint();
  await place.write("a", "two");
  await place.replica.close();
  deepEqual(checkpoints(place), ["checkpoint-00000002"]);
  const again = await place.reopen();
  equal(again.replica.loaded.log.end, again.replica.loaded.checkpoint?.covers);
  equal(again.text("a"), "two");
  await again.replica.close();
  deepEqual(checkpoints(place), ["checkpoint-00000002"]);
});

Deno.test("a checkpoint from the future and a damaged one are passed over, told of, and replaced", async () => {
  const place = await Place.open();
  await place.write("a", "one");
  await place.replica.close();
  const file = place.file("checkpoint-00000001");
  place.storage.rename(
    `${place.folder}/checkpoint-00000001`,
    `${place.folder}/checkpoint-00000041`,
  );
  place.spoil("checkpoint-00000041", file.size() - 4096 + 8); // Its format.
  const again = await place.reopen();
  const { recovery } = again.replica.status();
  deepEqual(recovery.skippedCheckpoints.map(({ name }) => name), [
    "checkpoint-00000041",
  ]);
  match(recovery.skippedCheckpoints[0]!.reason, /\w/);
  equal(again.text("a"), "one");
  await again.write("a", "two");
  await again.replica.close();
  deepEqual(checkpoints(place), ["checkpoint-00000042"]);
  const third = await place.reopen();
  equal(third.text("a"), "two");
  deepEqual(third.replica.status().recovery.skippedCheckpoints, []);
  await third.replica.close();
});

Deno.test("a damaged page met while reading is a coded error, and reopening recovers", async () => {
  const place = await Place.open();
  for (let i = 0; i < 2_000; i++) void place.write(`note-${i}`, `text ${i}`);
  for (let i = 0; i < 2_000; i++) void place.vote(`note-${i}`);
  await place.replica.close();
  const again = await place.reopen();
  const pages = again.file("checkpoint-00000001").size() / 4096;
  for (let page = 0; page < pages - 8; page++) {
    again.spoil("checkpoint-00000001", page * 4096 + 100);
  }
  let code: string | undefined;
  try {
    again.text("note-7");
  } catch (error) {
    code = (error as DatabaseError).code;
  }
  equal(code, "checkpoint-damaged");
  await again.replica.close();
  const third = await place.reopen();
  equal(third.text("note-7"), "text 7");
  equal(third.votes("note-1999"), 1);
  await third.replica.close();
});

Deno.test("a checkpoint waits for the seals of what it covers: the log's bytes change with them", async () => {
  const late = lateSession(sessionOf(1));
  const place = await Place.open({ session: late.session });
  const write = place.write("a", "one");
  place.replica.flush();
  let isWritten = false;
  const written = place.replica.checkpoint().then(() => isWritten = true);
  await turns();
  equal(isWritten, false);
  late.signOne();
  await Promise.all([write, written]);
  const again = await place.reopen({
    storage: restored(filesOf(place.storage)),
  });
  equal(again.text("a"), "one");
  const { replica } = again;
  equal(replica.loaded.checkpoint?.covers, replica.loaded.log.end);
  const report = await verifyReplica(
    replica.loaded,
    {},
    () => Promise.resolve(),
  );
  deepEqual([report.ok, report.damage], [true, undefined]);
});

Deno.test("Checkpointer writes one in idle time, for a process that may end without a word", async () => {
  const world = new ManualWorld();
  for (const lent of ["new", undefined] as const) {
    const place = await Place.open({ world, lent });
    await place.write("small", "too little to help");
    equal(world.timers, 0);
    await place.write("a", "x".repeat(300_000));
    world.advance(600);
    await place.write("b", "more");
    world.advance(600);
    await turns();
    deepEqual(checkpoints(place), [], "it had no rest yet");
    world.advance(1_000);
    for (let i = 0; i < 50 && checkpoints(place).length === 0; i++) {
      await new Promise((resolve) => setTimeout(resolve));
      world.advance(1);
    }
    const written = checkpoints(place);
    deepEqual(written, lent === "new" ? ["checkpoint-00000001"] : []);
    await place.write("c", "x".repeat(300_000));
    await place.replica.close();
    equal(world.timers, 0, "closing ends the wait");
  }
});
