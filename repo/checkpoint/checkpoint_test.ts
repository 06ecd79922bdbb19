import assert from "node:assert/strict";
import fc from "fast-check";
import { DatabaseError } from "../../src/base/errors.ts";
import { limits } from "../../src/base/limits.ts";
import { system } from "../../src/base/system.ts";
import { field } from "../../src/schema/field.ts";
import { defineSchema, type Schema } from "../../src/schema/schema.ts";
import { createView } from "../../src/schema/view.ts";
import type { Storage, StorageFile } from "../../src/storage/storage.ts";
import type { Column } from "../../src/schema/source.ts";
import { Table } from "../state/table.ts";
import { sized } from "../../tests/kit/tier.ts";
import { openCheckpoint, verifyCheckpoint } from "./checkpoint.ts";
import { checkpointName, removeOldCheckpoints } from "./files.ts";
import type { Base } from "./base.ts";
import { finish } from "../../src/base/steps.ts";
import {
  createOf,
  folder,
  operationOf,
  rich,
  Subject,
  Task,
  updateOf,
  valuesOf,
} from "./kit_test.ts";
import { writeCheckpoint } from "./write.ts";

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
      assert.equal(finish(verifyCheckpoint(subject.checkpoint!)), undefined);
      subject.check();
    }),
    { seed: 5, numRuns: sized(60, 400) },
  );
});

Deno.test("rows that nobody read are carried over twice without decoding them", async () => {
  const subject = rich(sized(600, 3000));
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

/** Counts the reads of files and of the log. */
function counted(subject: Subject): { reads: number; open(): Table } {
  const inner = subject.storage;
  const counter = {
    reads: 0,
    open(): Table {
      const storage: Storage = Object.create(inner);
      storage.list = (folder) => inner.list(folder);
      storage.open = (name) => {
        const file = inner.open(name)!;
        const counting: StorageFile = Object.create(file);
        counting.size = () => file.size();
        counting.readAt = (target, offset) => {
          counter.reads++;
          return file.readAt(target, offset);
        };
        return counting;
      };
      const readLog = (target: Uint8Array, address: number) => {
        counter.reads++;
        return subject.readLog(target, address);
      };
      const { view } = subject;
      const opened = openCheckpoint(storage, folder, readLog, () => view);
      const base = opened.checkpoint!.base("task")!;
      return new Table({ name: "task", view, base });
    },
  };
  return counter;
}

Deno.test("opening and the first read by id take at most five reads, counting one", async () => {
  const subject = rich(5000);
  await subject.write();
  for (const id of ["item-0", "item-4001", "item-4999", "none"]) {
    const counter = counted(subject);
    const table = counter.open();
    assert.equal(counter.reads, 1);
    assert.equal(table.count, subject.twin.count);
    assert.equal(counter.reads, 1);
    const item = subject.twin.cellOf(id)?.item;
    assert.deepEqual(table.cellOf(id)?.item, item);
    assert.ok(counter.reads <= 5, `${id}: ${counter.reads} reads`);
  }
});

Deno.test("columns come out of the checkpoint without reading items", async () => {
  const subject = rich(5000);
  await subject.write();
  const counter = counted(subject);
  const table = counter.open();
  for (const field of ["rank", "done", "when", "author", "votes"]) {
    assert.ok(table.hasColumn(field), field);
    assert.ok(table.column(field) !== undefined, field);
  }
  assert.ok(counter.reads <= 12, `${counter.reads} reads`);
  assert.equal(table.hasColumn("tags"), false);
});

function valuesIn(column: Column, size: number): unknown[] {
  return Array.from(
    { length: size },
    (_, i) =>
      column.kind === "word"
        ? column.words[column.codes[i]!]
        : column.values[i],
  );
}

Deno.test("a column that is read in steps has what was put between two, and who asks at once finishes it", async () => {
  const subject = rich(5_000);
  await subject.write();
  subject.open();
  const { table } = subject;
  let pick = 0;
  for (const [at, { name }] of Task.plan.entries()) {
    let steps = 0;
    for (const _ of table.columnSteps(name)) {
      for (const id of ["item-1", "item-4501", `${name}-${++steps}`]) {
        subject.commit([operationOf(subject, id, "update", pick++)]);
      }
      // All of it, and not the base alone, while others take their steps.
      if (steps === 2 && at % 2 === 0) {
        const wanted = subject.twin.column(name);
        const column = table.column(name);
        if (wanted === undefined) assert.equal(column, undefined);
        else {
          const { size } = table;
          assert.deepEqual(valuesIn(column!, size), valuesIn(wanted, size));
        }
      }
    }
    if (table.column(name) !== undefined) assert.ok(steps >= 2, name);
  }
  subject.check();
});

Deno.test("a column that could not be read is read anew by the next who asks", async () => {
  const subject = rich(500);
  await subject.write();
  const storage: Storage = Object.create(subject.storage);
  storage.list = (folder) => subject.storage.list(folder);
  let isFailing = false;
  storage.open = (name) => {
    const file = subject.storage.open(name)!;
    const failing: StorageFile = Object.create(file);
    failing.size = () => file.size();
    failing.readAt = (target, offset) => {
      if (isFailing) throw new DatabaseError("storage-failed", "no disk");
      return file.readAt(target, offset);
    };
    return failing;
  };
  const { readLog, view } = subject;
  const opened = openCheckpoint(storage, folder, readLog, () => view);
  const base = opened.checkpoint!.base("task")!;
  const table = new Table({ name: "task", view, base });
  isFailing = true;
  const failed = { code: "storage-failed" };
  assert.throws(() => finish(table.columnSteps("rank")), failed);
  assert.throws(() => table.column("rank"), failed);
  isFailing = false;
  const wanted = valuesIn(subject.twin.column("rank")!, table.size);
  assert.deepEqual(valuesIn(table.column("rank")!, table.size), wanted);
});

Deno.test("columns of few words and of many come out of the checkpoint as they went in", async () => {
  const sizes = [[2, 50], [254, 300], [255, 2_600], [256, 2_600], [700, 300]];
  for (const [words, size] of sizes as [number, number][]) {
    const subject = new Subject();
    const rows = Array.from({ length: size }, (_, i) => {
      const author = i % 50 === 49 ? undefined : `author ${i % words}`;
      return createOf(`item-${i}`, { author, rank: i / 4 });
    });
    for (let i = 0; i < size; i += 100) subject.commit(rows.slice(i, i + 100));
    await subject.write();
    const table = counted(subject).open();
    for (const field of ["author", "rank", "done"]) {
      const values = valuesIn(table.column(field)!, size);
      const wanted = valuesIn(subject.twin.column(field)!, size);
      assert.deepEqual(values, wanted, `${field} of ${words}`);
    }
  }
});

Deno.test("an old checkpoint can be read on while newer ones are written and removed", async () => {
  const subject = rich(500);
  await subject.write();
  subject.open();
  for (let i = 0; i < 3; i++) {
    subject.commit([operationOf(subject, "item-5", "update", i)]);
    await subject.write();
  }
  removeOldCheckpoints(subject.storage, folder, checkpointName(4));
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

Deno.test("items() reads every item that was not read yet, though it be one", async () => {
  const one = new Subject();
  one.commit([createOf("a")]);
  const many = rich(2000);
  for (const subject of [one, many]) {
    await subject.write();
    subject.open();
    const known = subject === many ? subject.table.itemAt(701) : undefined;
    const items = subject.table.items();
    assert.deepEqual(items, subject.twin.items());
    if (known !== undefined) assert.ok(items.includes(known));
  }
});

Deno.test("items() reads rows by chunks of the log, not one by one", async () => {
  const subject = rich(2000);
  await subject.write();
  const counter = counted(subject);
  const table = counter.open();
  assert.deepEqual(table.items(), subject.twin.items());
  assert.ok(counter.reads < 30, `${counter.reads} reads for 2000 rows`);
});

Deno.test("idAt() of many in no order, as a sort asks, decodes each id a few times", async () => {
  const subject = rich(5000);
  await subject.write();
  const table = counted(subject).open();
  const { size } = table;
  const { slice } = String.prototype;
  let cut = 0;
  String.prototype.slice = function (...asked) {
    cut++;
    return slice.apply(this, asked);
  };
  try {
    for (let i = 0; i < size; i++) {
      const ordinal = i * 2_741 % size;
      assert.equal(table.idAt(ordinal), subject.twin.idAt(ordinal));
    }
  } finally {
    String.prototype.slice = slice;
  }
  assert.ok(cut <= 3 * size, `${cut} ids are cut out of pages for ${size}`);
});

Deno.test("stream() reads items by pages and keeps none, as they were when it began", async () => {
  const subject = rich(5_000);
  await subject.write();
  const counter = counted(subject);
  const table = counter.open();
  const isHeld = (ordinal: number) => table.picture().has(ordinal);
  const expected = subject.twin.items();
  const read: unknown[] = [];
  for (const item of table.stream()) {
    if (read.length === 0) {
      assert.ok(counter.reads < 20, `${counter.reads} reads for one page`);
      // None of it shows: the stream began before.
      for (const what of ["delete", "update"] as const) {
        const id = what === "delete" ? "item-4000" : "item-4001";
        subject.commit([operationOf(subject, id, what, 1)]);
        table.put(subject.twin.cellOf(id)!);
      }
    }
    read.push(item);
  }
  assert.deepEqual(read, expected);
  const held = Array.from({ length: 5_000 }, (_, ordinal) => ordinal)
    .filter(isHeld);
  assert.deepEqual(held, [4_000, 4_001]);
  assert.ok(counter.reads < 80, `${counter.reads} reads for 5000 rows`);
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

Deno.test("a checkpoint opens of more collections than a gate lets begin", async () => {
  const subject = new Subject();
  const view = createView(undefined);
  const tables = Array.from(
    { length: limits.collectionsMax + 1 },
    (_, i) => new Table({ name: `c${i}`, view }),
  );
  await subject.write(subject.storage, tables);
  const { storage, readLog } = subject;
  const { checkpoint } = openCheckpoint(storage, folder, readLog, () => view);
  const bases = tables.filter(({ name }) => checkpoint?.base(name));
  assert.equal(bases.length, tables.length);
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

/** What a reader with a schema finds in a checkpoint that was written without one. */
function seenBy(subject: Subject, schema: Schema): Base {
  const view = createView(schema);
  const { checkpoint } = openCheckpoint(
    subject.storage,
    folder,
    subject.readLog,
    () => view,
  );
  return checkpoint!.base("task")!;
}

Deno.test("columns written without a schema serve fields that every writer knew", async () => {
  const subject = new Subject(undefined, createView(undefined));
  subject.commit([createOf("a", { author: "ada" }), createOf("b")]);
  await subject.write();
  const base = seenBy(subject, Task);
  const column = finish(base.columnSteps("author", 2));
  assert.ok(column?.kind === "word");
  assert.deepEqual([...column.codes].map((code) => column.words[code]), [
    "ada",
    undefined,
  ]);
  const title = field.string().default("untitled");
  const other = defineSchema("task", { title, author: field.number() });
  // A default is for items without the field: these have it.
  assert.equal(seenBy(subject, other).hasColumn("title"), true);
  assert.equal(seenBy(subject, other).hasColumn("author"), false);
});

Deno.test("columns written without a schema lack the defaults of items that do not have the field", async () => {
  const subject = new Subject(undefined, createView(undefined));
  const level = field.number().default(3);
  const Newer = defineSchema("task", { level });
  const item = { id: "new", level: 7 };
  subject.commit([
    createOf("old"),
    { what: "create", shape: Newer.shape, id: "new", generation: 0, item },
  ]);
  await subject.write();
  const base = seenBy(subject, Newer);
  assert.equal(base.hasColumn("level"), false);
  const table = new Table({ name: "task", view: createView(Newer), base });
  const column = table.column("level");
  assert.ok(column?.kind === "number");
  assert.deepEqual([...column.values.slice(0, 2)], [3, 7]);
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
    name: checkpointName(1),
    covers: subject.log.length,
    isWhole: false,
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
