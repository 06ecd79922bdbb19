import { deepEqual, equal, ok, rejects, throws } from "node:assert/strict";
import { crc32 } from "../base/crc32.ts";
import { FakeOpfs, type FakeProcess } from "../../tests/kit/fake_opfs.ts";
import { until } from "../../tests/kit/patience.ts";
import {
  type OpenedStorage,
  storageConformance,
} from "../../tests/kit/storage_conformance.ts";
import { openOpfs } from "./opfs_open.ts";
import { Pool } from "./opfs_pool.ts";
import type { OpfsStorage } from "./opfs_storage.ts";
import type { Storage } from "./storage.ts";

const open = (process: FakeProcess, waitMs = 0) =>
  openOpfs(process.directory, "db", waitMs);

async function openFresh(): Promise<OpenedStorage> {
  const storage = await open(new FakeOpfs().process());
  for (const folder of ["a", "a/b", "a/b/c"]) await storage.prepare(folder);
  return {
    storage,
    reopen: () => storage,
    cleanup: () => storage.close(),
  };
}

for (const { name, run } of storageConformance("openOpfs()", openFresh)) {
  Deno.test(name, run);
}

/** Opens a pool whose folder `r` is prepared. */
async function openPrepared(process: FakeProcess): Promise<OpfsStorage> {
  const storage = await open(process);
  await storage.prepare("r");
  return storage;
}

function write(storage: Storage, name: string, text: string): void {
  const file = storage.open(name, { create: true })!;
  file.writeAt(new TextEncoder().encode(text), 0);
  file.sync();
  file.close();
  storage.syncFolder("r");
}

function read(storage: Storage, name: string): string | undefined {
  const file = storage.open(name);
  if (file === undefined) return undefined;
  const bytes = new Uint8Array(file.size());
  file.readAt(bytes, 0);
  file.close();
  return new TextDecoder().decode(bytes);
}

Deno.test("openOpfs() fences the storage that was open", async () => {
  const opfs = new FakeOpfs();
  const first = await openPrepared(opfs.process());
  write(first, "r/a", "one");
  const file = first.open("r/a")!;
  const codes: string[] = [];
  first.watch(({ code }) => codes.push(code));
  const second = await openPrepared(opfs.process());
  ok(second.term > first.term);
  equal(second.identity(), first.identity());
  const locked = { code: "database-locked" };
  throws(() => file.writeAt(new Uint8Array(1), 0), locked);
  throws(() => file.truncate(0), locked);
  throws(() => file.sync(), locked);
  throws(() => first.open("r/b", { create: true }), locked);
  throws(() => first.rename("r/a", "r/b"), locked);
  throws(() => first.remove("r/a"), locked);
  throws(() => first.syncFolder("r"), locked);
  await rejects(first.prepare("r"), locked);
  deepEqual(codes, ["database-locked"], "told once");
  equal(read(second, "r/a"), "one");
  await first.close();
  write(second, "r/a", "two");
  equal(read(second, "r/a"), "two");
  await second.close();
});

Deno.test("what a file has synced is there after a power cut", async () => {
  const opfs = new FakeOpfs();
  const storage = await openPrepared(opfs.process());
  write(storage, "r/a", "one");
  const file = storage.open("r/a")!;
  file.writeAt(new TextEncoder().encode("two"), 0);
  file.sync();
  const after = await openPrepared(opfs.powerCut("synced").process());
  equal(read(after, "r/a"), "two");
  file.writeAt(new TextEncoder().encode("six"), 0);
  const behind = await openPrepared(opfs.powerCut("synced").process());
  equal(read(behind, "r/a"), "two", "and what it has not is not promised");
});

Deno.test("openOpfs() waits for handles that cannot be shared, and gives up", async () => {
  const opfs = new FakeOpfs({ hasShared: false });
  const first = await openPrepared(opfs.process());
  equal(first.canBeStolen, false);
  await rejects(open(opfs.process()), { code: "database-locked" });
  write(first, "r/a", "still mine");
  const waiting = open(opfs.process(), 1_000);
  await first.close();
  const second = await waiting;
  await second.prepare("r");
  equal(read(second, "r/a"), "still mine");
  await second.close();
});

Deno.test("openOpfs() leaves the file that a living owner was about to change", async () => {
  const opfs = new FakeOpfs();
  const first = await openPrepared(opfs.process());
  write(first, "r/a", "mine");
  write(first, "r/b", "other");
  const ids = () => opfs.entries.keys().toArray();
  const before = ids();
  const second = await openPrepared(opfs.process());
  const term = `sheaf/db/${second.term}-`;
  const copies = ids().filter((id) =>
    id.startsWith(term) &&
    new TextDecoder().decode(opfs.bytes(id)) === "other"
  );
  equal(copies.length, 1, "the file of the intent, and no other");
  ok(ids().length > before.length);
  await first.close();
  await second.close();
});

Deno.test("prepare() and release() keep few handles open", async () => {
  const process = new FakeOpfs().process();
  const storage = await open(process);
  const before = process.handles.size;
  for (let i = 0; i < 50; i++) {
    await storage.prepare(`r${i}`);
    write(storage, `r${i}/a`, "x");
    storage.release(`r${i}`);
  }
  ok(process.handles.size <= before + 4, `${process.handles.size} handles`);
  throws(() => storage.open("r7/a"), /prepare/);
  await Promise.all([storage.prepare("r7"), storage.prepare("r7")]);
  storage.release("r7");
  equal(read(storage, "r7/a"), "x", "it was prepared twice");
  const held = storage.open("r7/a")!;
  storage.release("r7");
  equal(held.size(), 1, "an open file stays open");
  held.close();
  throws(() => storage.open("r7/a"), /prepare/);
  await storage.close();
  equal(process.handles.size, 0);
});

Deno.test("a file that was removed or replaced lives on for who has it open", async () => {
  const storage = await openPrepared(new FakeOpfs().process());
  write(storage, "r/a", "old");
  const file = storage.open("r/a")!;
  write(storage, "r/b", "new");
  storage.rename("r/b", "r/a");
  storage.remove("r/a");
  await storage.prepare("r");
  write(storage, "r/c", "other");
  const bytes = new Uint8Array(3);
  equal(file.readAt(bytes, 0), 3);
  equal(new TextDecoder().decode(bytes), "old");
  file.close();
  await storage.close();
});

Deno.test("a file that nobody has any more is soon gone from the pool, not first at the next opening", async () => {
  const opfs = new FakeOpfs();
  const storage = await openPrepared(opfs.process());
  const has = (text: string) =>
    opfs.entries.keys().some((id) =>
      new TextDecoder().decode(opfs.bytes(id)).startsWith(text)
    );
  write(storage, "r/a", "of no use soon");
  equal(has("of no use soon"), true);
  storage.remove("r/a");
  storage.syncFolder("r");
  await until(() => !has("of no use soon"), "it is gone from the pool");
  await storage.close();
});

Deno.test("openOpfs() keeps what it can of a damaged table, and removes nothing", async () => {
  const opfs = new FakeOpfs();
  const storage = await openPrepared(opfs.process());
  for (const name of ["a", "b", "c"]) write(storage, `r/${name}`, name);
  await storage.close();
  const table = `sheaf/db/${storage.term}-1`;
  const image = opfs.bytes(table).slice();
  const at = new TextDecoder("latin1").decode(image).indexOf("r/b");
  ok(at > 128);
  image[at]! ^= 1;
  opfs.put(table, image);
  const again = await openPrepared(opfs.process());
  const codes: string[] = [];
  again.watch(({ code }) => codes.push(code));
  deepEqual(codes, ["storage-failed"], "also who listens later hears of it");
  equal(read(again, "r/a"), "a");
  equal(read(again, "r/b"), undefined);
  equal(read(again, "r/c"), "c");
  await again.prepare("lost");
  const lost = again.list("lost").map((name) => read(again, `lost/${name}`));
  ok(lost.includes("b"), "its file was kept");
  await again.close();
});

Deno.test("openOpfs() does without files that the browser has lost", async () => {
  const opfs = new FakeOpfs();
  const storage = await openPrepared(opfs.process());
  write(storage, "r/a", "a");
  write(storage, "r/b", "b");
  await storage.close();
  for (const path of opfs.entries.keys()) {
    const text = new TextDecoder().decode(opfs.bytes(path));
    if (text === "a") opfs.entries.delete(path);
  }
  const again = await open(opfs.process());
  const codes: string[] = [];
  again.watch(({ code }) => codes.push(code));
  await again.prepare("r");
  deepEqual(again.list("r"), ["b"]);
  deepEqual(codes, ["storage-evicted"]);
  await again.close();
});

Deno.test("no handle of a file that the browser removed is closed: that never returns", async () => {
  for (const isNoticed of [true, false]) {
    const opfs = new FakeOpfs();
    const process = opfs.process();
    const storage = await openPrepared(process);
    write(storage, "r/a", "a");
    const file = storage.open("r/a")!;
    const codes: string[] = [];
    storage.watch(({ code }) => codes.push(code));
    opfs.evict();
    if (isNoticed) {
      file.sync();
      await until(() => codes.length > 0, "the removal is noticed");
    }
    file.close();
    if (isNoticed) storage.release("r");
    await storage.close();
    deepEqual(codes, ["storage-evicted"]);
    ok(process.handles.size > 0);
    const fresh = await openPrepared(opfs.process());
    equal(read(fresh, "r/a"), undefined);
    await fresh.close();
  }
});

Deno.test("openOpfs() refuses a newer format and leaves it alone", async () => {
  const opfs = new FakeOpfs();
  await (await open(opfs.process())).close();
  const path = "sheaf/db/fence";
  const fence = opfs.bytes(path).slice();
  const at = fence[512] === 83 ? 512 : 1024;
  fence[at + 8] = 2;
  const end = at + 42;
  new DataView(fence.buffer).setUint32(
    end,
    crc32(fence.subarray(at, end)),
    true,
  );
  opfs.put(path, fence);
  await rejects(open(opfs.process()), { code: "format-too-new" });
  deepEqual(opfs.bytes(path), fence);
});

for (const isPrivate of [false, true]) {
  const where = isPrivate ? " in a private window" : "";

  Deno.test(`a full pool${where} fails with storage-full and goes on when there is room`, async () => {
    const opfs = new FakeOpfs();
    opfs.isPrivate = isPrivate;
    const storage = await openPrepared(opfs.process());
    write(storage, "r/a", "a");
    const codes: string[] = [];
    storage.watch(({ code }) => codes.push(code));
    opfs.quotaBytes = opfs.usedBytes() + 10;
    const file = storage.open("r/a")!;
    for (let i = 0; i < 2; i++) {
      throws(() => file.writeAt(new Uint8Array(100), 0), {
        code: "storage-full",
      });
      throws(() => file.truncate(100), { code: "storage-full" });
    }
    deepEqual(codes, ["storage-full"]);
    file.writeAt(new Uint8Array(5), 0);
    storage.rename("r/a", "r/b"); // the table has room of its own
    opfs.quotaBytes = Infinity;
    file.writeAt(new Uint8Array(100), 0);
    file.sync();
    equal(file.size(), 100);
    file.close();
    await storage.close();
  });

  Deno.test(`openOpfs()${where} makes a pool in whole, or says that it has no room`, async () => {
    const whole = new FakeOpfs();
    const first = await open(whole.process());
    const needed = whole.usedBytes();
    await first.close();
    for (const quotaBytes of [0, 8, 100, needed / 2, needed - 1]) {
      const opfs = new FakeOpfs();
      Object.assign(opfs, { isPrivate, quotaBytes });
      await rejects(open(opfs.process()), { code: "storage-full" });
      opfs.quotaBytes = Infinity;
      const storage = await openPrepared(opfs.process());
      write(storage, "r/a", "a");
      await storage.close();
      const again = await openPrepared(opfs.process());
      equal(read(again, "r/a"), "a");
      await again.close();
    }
  });

  Deno.test(`a pool${where} refuses names that its table has no room for, and asks for room`, async () => {
    const opfs = new FakeOpfs();
    opfs.isPrivate = isPrivate;
    const process = opfs.process();
    const storage = await openPrepared(process);
    write(storage, "r/a", "a");
    opfs.quotaBytes = opfs.usedBytes() + 10;
    const move = () => {
      storage.rename("r/a", "r/b");
      storage.rename("r/b", "r/a");
    };
    throws(() => Array.from({ length: 10_000 }, move), {
      code: "storage-full",
    });
    opfs.quotaBytes = opfs.usedBytes() + 10;
    const pool = new Pool(process.directory, 1);
    equal(await pool.hasRoom(11), false);
    equal(await pool.hasRoom(10), true);
    await storage.close();
  });

  Deno.test(`a pool${where} that was removed takes writes until it is seen, and says what happened`, async () => {
    const opfs = new FakeOpfs();
    opfs.isPrivate = isPrivate;
    const storage = await openPrepared(opfs.process());
    const codes: string[] = [];
    storage.watch(({ code }) => codes.push(code));
    const file = storage.open("r/a", { create: true })!;
    opfs.evict();
    file.writeAt(new Uint8Array(100), 0);
    await storage.close();
    deepEqual(codes, ["storage-evicted"]);
  });
}

Deno.test("a pool that failed is looked after: that it was removed is told, too", async () => {
  const opfs = new FakeOpfs();
  const process = opfs.process();
  const storage = await openPrepared(process);
  const codes: string[] = [];
  storage.watch(({ code }) => codes.push(code));
  storage.open("r/a", { create: true });
  process.failAt = process.steps + 1;
  throws(() => storage.syncFolder("r"), { code: "storage-failed" });
  opfs.evict();
  await until(() => codes.length > 1, "the removal is told, too");
  throws(() => storage.syncFolder("r"), { code: "storage-evicted" });
  await storage.close();
  deepEqual(codes, ["storage-failed", "storage-evicted"]);
});
