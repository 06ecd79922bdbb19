import assert from "node:assert/strict";
import fc from "fast-check";
import { DatabaseError } from "../../src/base/errors.ts";
import { system } from "../../src/base/system.ts";
import type { Operation, Value } from "../../src/schema/patch.ts";
import { createView } from "../../src/schema/view.ts";
import { memoryStorage } from "../../src/storage/memory_storage.ts";
import type { Storage, StorageFile } from "../../src/storage/storage.ts";
import { Table } from "../table.ts";
import {
  checkpointName,
  openCheckpoint,
  removeOldCheckpoints,
  verifyCheckpoint,
} from "./checkpoint.ts";
import { drain } from "./columns.ts";
import { PageFile } from "./page_file.ts";
import { createOf, folder, Subject, Task } from "./kit_test.ts";
import { writeCheckpoint } from "./write.ts";

const fieldOf = (name: string) =>
  Task.shape.fields.find((field) => field.name === name)!;

/** An update of one field; `pick` chooses which and how. */
function updateOf(id: string, generation: number, pick: number): Operation {
  const value = `v${pick}`;
  const changes = [
    { field: fieldOf("title"), change: { what: "set", value } },
    { field: fieldOf("rank"), change: { what: "set", value: pick / 2 } },
    { field: fieldOf("done"), change: { what: "set", value: pick % 2 === 0 } },
    { field: fieldOf("votes"), change: { what: "increment", amount: pick } },
    { field: fieldOf("tags"), change: { what: "add", values: [value] } },
    {
      field: fieldOf("labels"),
      change: { what: "put", entries: [["k", value]] },
    },
    {
      field: fieldOf("steps"),
      change: {
        what: "insert",
        elements: [{ element: `e${pick}`, position: "V", value }],
      },
    },
  ] as const;
  const change = changes[pick % changes.length]!;
  return {
    what: "update",
    shape: Task.shape,
    id,
    generation,
    changes: [change],
  };
}

/** One random step of a history. */
const step = fc.record({
  id: fc.constantFrom(..."abcdefghijkl", "ünïcode", "x".repeat(256)),
  what: fc.constantFrom(
    "create",
    "create",
    "update",
    "update",
    "delete",
    "write",
    "open",
  ),
  pick: fc.nat(1000),
});

function valuesOf(pick: number): Record<string, Value> {
  return {
    ...pick % 2 === 0 && { title: `title ${pick}` },
    ...pick % 3 === 0 && { rank: pick % 5 === 0 ? pick * 1e6 : pick / 8 },
    ...pick % 5 === 0 && { when: new Date(pick) },
    ...pick % 7 === 0 && { blob: new Uint8Array(pick % 6000) },
    author: ["ada", "grace", "ünes"][pick % 3],
    done: pick % 4 === 0,
    tags: pick % 2 === 0 ? ["x", "y"] : [],
  };
}

function operationOf(
  subject: Subject,
  id: string,
  what: string,
  pick: number,
): Operation {
  const cell = subject.twin.cellOf(id);
  const generation = cell?.generation ?? 0;
  if (cell?.item === undefined) {
    const next = cell === undefined ? 0 : generation + 1;
    return createOf(id, valuesOf(pick), next);
  }
  if (what === "delete") {
    return { what: "delete", shape: Task.shape, id, generation };
  }
  return updateOf(id, generation, pick);
}

Deno.test("a checkpoint gives back every history, however often it is carried over", async () => {
  const history = fc.array(step, { maxLength: 60 });
  await fc.assert(
    fc.asyncProperty(history, async (steps) => {
      const subject = new Subject();
      for (const { id, what, pick } of steps) {
        if (what === "write") await subject.write();
        else if (what === "open") {
          await subject.write();
          subject.open();
        } else subject.commit([operationOf(subject, id, what, pick)]);
      }
      await subject.write();
      subject.open();
      assert.equal(drain(verifyCheckpoint(subject.checkpoint!)), undefined);
      subject.check();
    }),
    { seed: 5, numRuns: 150 },
  );
});

/** A subject with rows in the log and in the heap, tombstones and all kinds of fields. */
function rich(size: number): Subject {
  const subject = new Subject();
  for (let from = 0; from < size; from += 50) {
    const operations: Operation[] = [];
    for (let i = from; i < Math.min(size, from + 50); i++) {
      operations.push(createOf(`item-${i}`, valuesOf(i)));
    }
    subject.commit(operations);
  }
  for (let i = 0; i < size; i += 7) {
    const id = `item-${i}`;
    const what = i % 3 === 0 ? "delete" : "update";
    subject.commit([operationOf(subject, id, what, i)]);
  }
  return subject;
}

Deno.test("rows that nobody read are carried over twice without decoding them", async () => {
  const subject = rich(3000);
  for (let round = 0; round < 3; round++) {
    await subject.write();
    subject.open();
    subject.commit([
      operationOf(subject, `item-${round * 7 + 1}`, "update", 3),
    ]);
    subject.commit([createOf(`late-${round}`, valuesOf(round))]);
  }
  await subject.write();
  subject.open();
  subject.check();
});

Deno.test("origins are numbered anew when most are in no use", async () => {
  const subject = rich(2000);
  const counts: number[] = [];
  for (let round = 0; round < 5; round++) {
    await subject.write();
    subject.open();
    counts.push(subject.checkpoint!.directory.origins.count);
    for (let i = 0; i < 2000; i += 1 + round % 2) {
      const { id, generation, item } = subject.twin.cellAt(i);
      if (item !== undefined) subject.commit([updateOf(id, generation, 7)]);
    }
  }
  await subject.write();
  subject.open();
  assert.ok(counts.some((count, i) => count < counts[i - 1]!), `${counts}`);
  subject.check();
});

Deno.test("an old checkpoint can be read on while newer ones are written and removed", async () => {
  const subject = rich(500);
  await subject.write();
  subject.open();
  for (let i = 0; i < 3; i++) {
    subject.commit([operationOf(subject, "item-5", "update", i)]);
    await subject.write();
  }
  removeOldCheckpoints(subject.storage, folder, subject.number);
  assert.deepEqual(subject.storage.list(folder), [checkpointName(4)]);
  subject.check();
});

Deno.test("load() reads scattered rows in large reads", async () => {
  const subject = rich(2000);
  await subject.write();
  subject.open();
  const ordinals = [1999, 3, 3, 700, 21, 1998, 5_000_000];
  subject.table.load(ordinals);
  for (const ordinal of ordinals.slice(0, -1)) {
    assert.deepEqual(
      subject.table.itemAt(ordinal),
      subject.twin.itemAt(ordinal),
    );
  }
  subject.check();
});

Deno.test("rows larger than a chunk are read", async () => {
  const subject = new Subject();
  const title = "long ".repeat(200_000);
  subject.commit([createOf("a"), createOf("b", { title }), createOf("c")]);
  await subject.write();
  subject.open();
  assert.equal(subject.table.cellOf("b")?.item?.["title"], title);
  subject.open();
  subject.check();
});

Deno.test("a checkpoint of nothing opens", async () => {
  const subject = new Subject();
  await subject.write();
  subject.open();
  subject.check();
  assert.deepEqual(subject.checkpoint!.meta, new Uint8Array([1, 2, 3]));
  assert.equal(subject.checkpoint!.base("other"), undefined);
});

Deno.test("a collection without a schema works too", async () => {
  const subject = rich(300);
  await subject.write();
  const view = createView(undefined);
  const { checkpoint } = openCheckpoint(
    subject.storage,
    folder,
    subject.readLog,
    () => view,
  );
  const base = checkpoint!.base("task")!;
  const table = new Table({ name: "task", view, base });
  assert.equal(table.items().length, subject.twin.count);
  assert.equal(table.cellOf("item-4")?.item?.["author"], "grace");
  // The stored columns show a schema's defaults, so a reader without one reads the rows.
  assert.equal(base.hasColumn("author"), false);
  assert.equal(table.column("author")?.kind, "word");
});

/** A subject in memory whose checkpoint file can be spoilt. */
async function image(): Promise<
  { subject: Subject; bytes: Uint8Array; name: string }
> {
  const subject = rich(30);
  await subject.write();
  const name = `${folder}/${checkpointName(1)}`;
  const file = subject.storage.open(name)!;
  const bytes = new Uint8Array(file.size());
  file.readAt(bytes, 0);
  return { subject, bytes, name };
}

function openImage(subject: Subject, bytes: Uint8Array, name: string) {
  const storage = memoryStorage([[name, bytes]]);
  return openCheckpoint(storage, folder, subject.readLog, () => subject.view);
}

/** Reads everything; says whether damage was noticed, and fails on a wrong answer. */
function notices(subject: Subject, bytes: Uint8Array, name: string): boolean {
  const { checkpoint, skipped } = openImage(subject, bytes, name);
  if (checkpoint === undefined) return skipped.length === 1;
  try {
    const base = checkpoint.base("task")!;
    const table = new Table({ name: "task", view: subject.view, base });
    for (const field of Task.plan) table.column(field.name);
    assert.deepEqual(table.ids(), subject.twin.ids());
    assert.deepEqual(table.items(), subject.twin.items());
    assert.deepEqual(table.digest(), subject.twin.digest());
  } catch (error) {
    if (!(error instanceof DatabaseError)) throw error;
    assert.match(error.code, /^(checkpoint|log)-damaged$/);
    assert.match(error.message, /at (byte|address) \d+/);
  }
  return drain(verifyCheckpoint(checkpoint)) !== undefined;
}

/** A file over bytes that are not copied. */
function fileOf(bytes: Uint8Array): StorageFile {
  const refuse = () => assert.fail("a checkpoint is only read");
  return {
    size: () => bytes.length,
    readAt(target, offset) {
      target.set(bytes.subarray(offset, offset + target.length));
      return Math.min(target.length, bytes.length - offset);
    },
    writeAt: refuse,
    truncate: refuse,
    sync: refuse,
    close: () => {},
  };
}

Deno.test("every flipped bit of a checkpoint is noticed when its page is read", async () => {
  const { bytes } = await image();
  const pages = bytes.length / 4096;
  const salt = new DataView(bytes.buffer).getUint32(
    bytes.length - 4096 + 12,
    true,
  );
  const sound = new PageFile(fileOf(bytes), "x");
  sound.salt = salt;
  const isNoticed = (page: number): boolean => {
    try {
      // The last pages are read when the file is opened, so it is opened anew.
      const isTail = page >= pages - 8;
      const file = isTail ? new PageFile(fileOf(bytes), "x") : sound;
      file.salt = salt;
      if (page === pages - 1) file.last();
      else file.read(page, 1);
      return false;
    } catch {
      return true;
    }
  };
  for (let page = 0; page < pages; page++) assert.equal(isNoticed(page), false);
  let undetected = 0;
  for (let bit = 0; bit < bytes.length * 8; bit++) {
    const at = bit >>> 3;
    bytes[at]! ^= 1 << bit % 8;
    if (!isNoticed(Math.floor(at / 4096))) undetected++;
    bytes[at]! ^= 1 << bit % 8;
  }
  assert.equal(undetected, 0);
});

Deno.test("a flipped bit of a checkpoint never gives a wrong answer", async () => {
  const { subject, bytes, name } = await image();
  assert.equal(notices(subject, bytes, name), false);
  for (let at = 0; at < bytes.length; at += 31) {
    bytes[at]! ^= 1 << at % 8;
    assert.ok(notices(subject, bytes, name), `byte ${at}`);
    bytes[at]! ^= 1 << at % 8;
  }
});

Deno.test("every flipped bit of the covered log is noticed", async () => {
  const { subject, bytes, name } = await image();
  const log = subject.log.view();
  for (let at = 0; at < log.length; at++) {
    log[at]! ^= 1 << at % 8;
    assert.ok(notices(subject, bytes, name));
    log[at]! ^= 1 << at % 8;
  }
});

Deno.test("a checkpoint cut at any byte is skipped with a reason", async () => {
  const { subject, bytes, name } = await image();
  for (
    let length = 0;
    length < bytes.length;
    length += length % 4096 < 8 ? 1 : 97
  ) {
    const { checkpoint, skipped } = openImage(
      subject,
      bytes.subarray(0, length),
      name,
    );
    assert.equal(checkpoint, undefined);
    assert.equal(skipped.length, 1);
  }
});

Deno.test("garbage in a directory with a right checksum is refused within bounds", async () => {
  const { decodeDirectory } = await import("./layout.ts");
  const { ByteReader } = await import("../../src/base/bytes.ts");
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => {
      try {
        decodeDirectory(new ByteReader(bytes), 5);
      } catch (error) {
        assert.ok(error instanceof SyntaxError);
      }
    }),
    { seed: 9, numRuns: 2000 },
  );
});

Deno.test("openCheckpoint() takes the newest sound one", async () => {
  const subject = rich(50);
  await subject.write();
  await subject.write();
  const newest = subject.storage.open(`${folder}/${checkpointName(2)}`)!;
  newest.truncate(newest.size() - 1);
  const opened = openCheckpoint(
    subject.storage,
    folder,
    subject.readLog,
    () => subject.view,
  );
  assert.equal(opened.checkpoint?.number, 1);
  assert.equal(opened.skipped[0]?.name, checkpointName(2));
});

/** A storage whose `n`-th call fails. */
function failingStorage(inner: Storage, n: number): Storage {
  let calls = 0;
  const step = () => {
    if (++calls === n) throw new DatabaseError("storage-full", "No room");
  };
  const failing = (file: StorageFile): StorageFile => ({
    size: () => file.size(),
    readAt: (target, offset) => file.readAt(target, offset),
    writeAt: (bytes, offset) => (step(), file.writeAt(bytes, offset)),
    truncate: (length) => (step(), file.truncate(length)),
    sync: () => (step(), file.sync()),
    close: () => file.close(),
  });
  return {
    open(name, options) {
      step();
      const file = inner.open(name, options);
      return file && failing(file);
    },
    list: (folder) => inner.list(folder),
    folders: (folder) => inner.folders(folder),
    makeFolder: (folder) => inner.makeFolder(folder),
    syncFolder: (folder) => (step(), inner.syncFolder(folder)),
    rename: (from, to) => (step(), inner.rename(from, to)),
    remove: (name) => (step(), inner.remove(name)),
    lock: () => inner.lock(),
    identity: () => inner.identity(),
    usage: () => inner.usage(),
  };
}

Deno.test("a storage that fails at any call leaves the older checkpoint usable", async () => {
  for (let n = 1;; n++) {
    const subject = rich(400);
    await subject.write();
    subject.open();
    subject.commit([createOf("later")]);
    const { storage } = subject;
    try {
      await subject.write(failingStorage(storage, n));
      assert.ok(n > 5);
      break;
    } catch (error) {
      assert.ok(
        error instanceof DatabaseError && error.code === "storage-full",
      );
    }
    subject.check();
    // A failure after the renaming leaves two sound ones, before it the old one.
    subject.open();
    if (subject.checkpoint!.number === 1) {
      subject.table.put(subject.twin.cellOf("later")!);
    }
    subject.check();
  }
});

Deno.test("writeCheckpoint() pictures the tables at its call and pauses between slices", async () => {
  const subject = rich(2000);
  let now = 0;
  let pauses = 0;
  const world = { ...system, monotonic: () => now += 0.5 };
  const written = writeCheckpoint({
    storage: subject.storage,
    folder,
    number: 1,
    covers: subject.log.length,
    meta: new Uint8Array(0),
    tables: [subject.table],
    readLog: subject.readLog,
    world,
    pause: async () => {
      // What happens while it is written is not in the picture.
      const { item: _, ...cell } = subject.table.cellAt(pauses++);
      subject.table.put({ ...cell, item: undefined });
      await Promise.resolve();
    },
  });
  await written;
  assert.ok(pauses > 10);
  subject.open();
  subject.check();
});
